//go:build dpdk && cgo && linux

// Devices and their queues: how they are found, set up and asked, and bursts of frames.

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>
#include <rte_ring.h>

#include "dpdk.h"

enum {
	RX_FRAMES = 4096, // of a receive ring: how long the tester may pause
	TX_FRAMES = 1024,
	CACHE = 256,      // mbufs that a thread keeps
	SPARE = 8192,     // mbufs beside those in rings: what threads keep, what Recv has lent
	ROOM = 2048,      // bytes of an mbuf, at least
};

#define LOOK 20000000 // ns between two looks at a kernel's interface

int lt_find(const char *name, uint16_t *port) { return -rte_eth_dev_get_port_by_name(name, port); }

int lt_probe(const char *devargs) { return -rte_dev_probe(devargs); }

static int changed(uint16_t port, enum rte_eth_event_type event, void *device, void *ret);

void lt_unplug(struct lt_device *d)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(d->port, &info) != 0)
		return;
	lt_settle();
	rte_eth_dev_callback_unregister(d->port, RTE_ETH_EVENT_INTR_LSC, changed, d);
	rte_eth_promiscuous_disable(d->port); // of a kernel's interface it would stay
	rte_eth_dev_stop(d->port); // one that was not started does not mind
	rte_eth_dev_close(d->port);
	rte_dev_remove(info.device);
	lt_settle();
}

struct rte_mempool *lt_pool(uint32_t frames, uint16_t cache, uint32_t room, int numa, const char *ops)
{
	static uint32_t number;
	char name[RTE_MEMPOOL_NAMESIZE];

	room = RTE_ALIGN(room, RTE_CACHE_LINE_SIZE) + RTE_PKTMBUF_HEADROOM;
	if (room > UINT16_MAX) {
		rte_errno = EMSGSIZE;
		return NULL;
	}
	snprintf(name, sizeof name, "lt_%u", __atomic_add_fetch(&number, 1, __ATOMIC_RELAXED));
	return rte_pktmbuf_pool_create_by_ops(name, frames, cache, 0, (uint16_t)room, numa, ops);
}

bool lt_pool_free(struct rte_mempool *p, bool sure)
{
	if (!sure && !rte_mempool_full(p))
		return false;
	rte_mempool_free(p);
	return true;
}

// note counts how often the link went down, as seen by whoever looks.
static void note(struct lt_device *d, bool up)
{
	uint32_t before = __atomic_exchange_n(&d->link_up, up, __ATOMIC_ACQ_REL);

	if (before && !up)
		__atomic_add_fetch(&d->downs, 1, __ATOMIC_ACQ_REL);
}

bool lt_up(struct lt_device *d)
{
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(d->port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

static int changed(uint16_t port, enum rte_eth_event_type event, void *device, void *ret)
{
	(void)port, (void)event, (void)ret;
	note(device, lt_up(device));
	return 0;
}

static int setup(struct lt_device *d, struct rte_eth_dev_info *info, uint16_t queues, struct lt_facts *f, const char **step)
{
	struct rte_eth_conf conf = {0};
	uint16_t rx = RX_FRAMES, tx = TX_FRAMES;
	int err, socket = f->numa < 0 ? SOCKET_ID_ANY : f->numa;

	conf.rxmode.mtu = f->mtu;
	if (queues > 1 && (info->flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP))) {
		conf.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
		conf.rx_adv_conf.rss_conf.rss_hf = info->flow_type_rss_offloads & (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	}
	conf.intr_conf.lsc = (*info->dev_flags & RTE_ETH_DEV_INTR_LSC) != 0;
	*step = "configure";
	if ((err = rte_eth_dev_configure(d->port, queues, queues, &conf)) != 0)
		return err;
	*step = "size the rings";
	if ((err = rte_eth_dev_adjust_nb_rx_tx_desc(d->port, &rx, &tx)) != 0)
		return err;
	*step = "take memory for packets";
	d->tx = tx;
	d->pool = lt_pool(queues * (rx + tx) + SPARE, CACHE,
		RTE_MAX(ROOM, f->mtu + RTE_ETHER_HDR_LEN + 2 * RTE_VLAN_HLEN + RTE_ETHER_CRC_LEN), socket, NULL);
	if (!d->pool)
		return -rte_errno;
	*step = "set up the queues";
	for (uint16_t i = 0; i < queues; i++) {
		if ((err = rte_eth_rx_queue_setup(d->port, i, rx, (unsigned)socket, NULL, d->pool)) != 0)
			return err;
		if ((err = rte_eth_tx_queue_setup(d->port, i, tx, (unsigned)socket, NULL)) != 0)
			return err;
	}
	return 0;
}

int lt_start(struct lt_device *d, uint16_t queues, struct lt_facts *f, const char **step)
{
	struct rte_eth_dev_info info;
	struct rte_eth_link link = {0};
	struct rte_ether_addr mac;
	int err;

	*step = "ask the driver";
	if ((err = rte_eth_dev_info_get(d->port, &info)) != 0 || (err = rte_eth_dev_get_mtu(d->port, &f->mtu)) != 0)
		return -err;
	queues = RTE_MIN(queues, RTE_MIN(info.max_rx_queues, info.max_tx_queues));
	strncpy(f->driver, info.driver_name, sizeof f->driver - 1);
	f->numa = rte_eth_dev_socket_id(d->port);
	f->queues = queues;
	f->index = info.if_index;
	if (rte_eth_macaddr_get(d->port, &mac) == 0)
		memcpy(f->mac, mac.addr_bytes, sizeof f->mac);
	if ((err = setup(d, &info, queues, f, step)) != 0)
		return -err;
	rte_eth_dev_callback_register(d->port, RTE_ETH_EVENT_INTR_LSC, changed, d);
	*step = "start";
	if ((err = rte_eth_dev_start(d->port)) != 0)
		return -err;
	rte_eth_promiscuous_enable(d->port); // a driver that cannot has no filter
	if (rte_eth_link_get_nowait(d->port, &link) == 0 && link.link_speed != RTE_ETH_SPEED_NUM_UNKNOWN)
		f->mbps = link.link_speed;
	f->up = link.link_status == RTE_ETH_LINK_UP;
	d->link_up = f->up;
	return 0;
}

// lt_status asks the driver; lost: the kernel's interface is down, whatever the driver says.
void lt_status(struct lt_device *d, bool lost, struct lt_status *s)
{
	struct rte_eth_stats stats = {0};

	s->up = !lost && lt_up(d);
	note(d, s->up);
	s->downs = __atomic_load_n(&d->downs, __ATOMIC_ACQUIRE);
	s->tx_frames = -1;
	if (rte_eth_stats_get(d->port, &stats) != 0)
		return;
	s->missed = (int64_t)(stats.imissed + stats.rx_nombuf) + __atomic_load_n(&d->unread, __ATOMIC_RELAXED);
	for (int i = 0; i < RTE_ETHDEV_QUEUE_STAT_CNTRS; i++)
		s->missed += (int64_t)stats.q_errors[i];
	s->tx_errors = (int64_t)stats.oerrors;
	s->tx_frames = (int64_t)stats.opackets;
}

// lt_look says at times that an interface of the kernel is to be looked at.
void lt_look(struct lt_queue *q, int64_t now)
{
	if (q->device->kernel && now - q->looked >= LOOK) {
		q->looked = now;
		q->look = true;
	}
}

// refill makes room for a whole burst.
static void refill(struct lt_queue *q)
{
	uint16_t n = LT_BURST - q->fresh;

	if (n == 0 || rte_pktmbuf_alloc_bulk(q->device->pool, q->room_mbuf + q->fresh, n) != 0)
		return;
	for (uint16_t i = q->fresh; i < LT_BURST; i++)
		q->room[i].data = rte_pktmbuf_mtod(q->room_mbuf[i], uint8_t *);
	q->fresh = LT_BURST;
}

uint16_t lt_send(struct lt_queue *q, uint16_t n)
{
	uint16_t sent = 0;

	lt_register();
	for (uint16_t i = 0; i < n; i++) {
		q->room_mbuf[i]->data_len = (uint16_t)q->room[i].size;
		q->room_mbuf[i]->pkt_len = q->room[i].size;
	}
	if (n > 0)
		sent = rte_eth_tx_burst(q->device->port, q->id, q->room_mbuf, n);
	if (sent > 0) {
		q->fresh -= sent;
		memmove(q->room, q->room + sent, q->fresh * sizeof *q->room);
		memmove(q->room_mbuf, q->room_mbuf + sent, q->fresh * sizeof *q->room_mbuf);
	}
	refill(q);
	if (q->device->kernel)
		lt_look(q, lt_clock(q->device->epoch));
	return sent;
}

// takeback frees what was lent.
static void takeback(struct lt_queue *q)
{
	rte_pktmbuf_free_bulk(q->lent_mbuf, q->lent_n);
	for (uint32_t i = 0; i < q->lent_n; i++) {
		free(q->flat[i]);
		q->flat[i] = NULL;
	}
	q->lent_n = 0;
}

// fetch reads a burst. Always a whole one: some drivers give nothing to who asks for less.
static bool fetch(struct lt_queue *q)
{
	q->held_at = 0;
	q->held_n = rte_eth_rx_burst(q->device->port, q->id, q->held, LT_BURST);
	if (q->held_n == 0)
		return false;
	q->arrived = lt_clock(q->device->epoch);
	for (uint16_t i = 0; i < q->held_n; i++)
		rte_prefetch0(rte_pktmbuf_mtod(q->held[i], void *));
	return true;
}

// lend makes the frame one of those that are lent, in one piece.
static struct lt_out *lend(struct lt_queue *q, struct rte_mbuf *m)
{
	struct lt_out *o = &q->lent[q->lent_n];

	o->size = m->pkt_len;
	o->data = rte_pktmbuf_mtod(m, uint8_t *);
	if (m->nb_segs > 1) {
		q->flat[q->lent_n] = o->data = malloc(m->pkt_len);
		if (!o->data || !rte_pktmbuf_read(m, 0, m->pkt_len, o->data))
			return NULL;
	}
	return o;
}

// giveback frees mbufs, and those of one pool at once.
static void giveback(struct rte_mbuf **m, uint32_t n)
{
	struct rte_mbuf *free[LT_BURST];
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *s = m[i];

		if (s->nb_segs > 1) {
			rte_pktmbuf_free(s);
			continue;
		}
		if (!(s = rte_pktmbuf_prefree_seg(s)))
			continue;
		if (k > 0 && free[0]->pool != s->pool) {
			rte_mempool_put_bulk(free[0]->pool, (void **)free, k);
			k = 0;
		}
		free[k++] = s;
	}
	if (k > 0)
		rte_mempool_put_bulk(free[0]->pool, (void **)free, k);
}

// known says whether the frame is one of ours, which the classifier has counted.
static inline bool known(struct lt_queue *q, const struct rte_mbuf *m)
{
	return q->classifier && m->nb_segs == 1 && lt_classify(q->classifier, rte_pktmbuf_mtod(m, const uint8_t *), m->data_len, q->arrived);
}

uint32_t lt_recv(struct lt_queue *q, uint32_t want)
{
	struct rte_mbuf *own[LT_BURST];
	uint32_t owned = 0, consumed = 0;

	lt_register();
	takeback(q);
	while (q->lent_n < want && consumed < LT_CONSUMED) {
		struct rte_mbuf *m;
		struct lt_out *o;

		if (q->held_at == q->held_n && !fetch(q))
			break;
		m = q->held[q->held_at++];
		if (known(q, m)) {
			own[owned++] = m;
		} else if (!(o = lend(q, m))) {
			__atomic_add_fetch(&q->device->unread, 1, __ATOMIC_RELAXED);
			own[owned++] = m;
		} else if (m->nb_segs > 1 && q->classifier && lt_classify(q->classifier, o->data, o->size, q->arrived)) {
			own[owned++] = m;
		} else {
			q->lent_mbuf[q->lent_n] = m;
			q->lent_at[q->lent_n++] = q->arrived;
			continue;
		}
		if (q->flat[q->lent_n]) {
			free(q->flat[q->lent_n]);
			q->flat[q->lent_n] = NULL;
		}
		consumed++;
		if (owned == LT_BURST) {
			giveback(own, owned);
			owned = 0;
		}
	}
	giveback(own, owned);
	return q->lent_n;
}

void lt_release(struct lt_queue *q)
{
	takeback(q);
	rte_pktmbuf_free_bulk(q->held + q->held_at, q->held_n - q->held_at);
	rte_pktmbuf_free_bulk(q->room_mbuf, q->fresh);
	q->held_at = q->held_n = q->fresh = 0;
}

// lt_ring_pair makes two devices that are the ends of a wire of rings: for tests, on any machine.
int lt_ring_pair(const char *a, const char *b, uint32_t size)
{
	struct rte_ring *r[2];
	const char *names[] = {a, b};

	for (int i = 0; i < 2; i++)
		if (!(r[i] = rte_ring_create(names[i], size, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ)))
			return rte_errno;
	for (int i = 0; i < 2; i++)
		if (rte_eth_from_rings(names[i], &r[i], 1, &r[!i], 1, 0) < 0)
			return rte_errno;
	return 0;
}
