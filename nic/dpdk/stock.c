//go:build dpdk && cgo && linux

// Mbufs that hold a lane's packets. A stock is a pool of them in the order of the packets, a whole number of times, deeper than the
// driver's ring. A driver gives mbufs back in the order it was sent them, threads that keep some on the way give them on in that order,
// and here they are taken from the other end: so the next mbuf holds the packet that is due, and has one owner. Each says which packet
// it holds; one that holds another, as the first ones of a trial, is written again.

#include <errno.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <rte_mempool.h>

#include "dpdk.h"
#include "stock.h"

enum {
	KEPT = 64,   // mbufs of a stock that a thread keeps on their way back
	SPARE = 512, // mbufs beside those in the driver's ring
};

int lt_held_at; // in an mbuf

int lt_stock_init(void)
{
	static const struct rte_mbuf_dynfield held = {.name = "loadtest_held", .size = sizeof(struct lt_held), .align = 8};

	lt_held_at = rte_mbuf_dynfield_register(&held);
	return lt_held_at < 0 ? rte_errno : 0;
}

// write makes the mbuf hold a packet, unless it does, as it is to be sent.
static void write(struct rte_mbuf *m, const struct lt_lane *l, uint32_t pos, bool always)
{
	const struct lt_packet *t = &l->packets[pos];

	rte_pktmbuf_reset_headroom(m);
	m->ol_flags = 0;
	m->data_len = (uint16_t)t->size;
	m->pkt_len = t->size;
	if (always || lt_held(m)->pos != pos)
		memcpy(rte_pktmbuf_mtod(m, void *), t->data, t->size);
	*lt_held(m) = (struct lt_held){.pos = pos, .size = (uint16_t)t->size, .tag = (uint16_t)t->tag};
}

// lt_stock_size is how many mbufs a stock of these packets needs.
uint32_t lt_stock_size(const struct lt_device *d, uint32_t packets)
{
	uint32_t least = d->tx + SPARE;

	return (least + packets - 1) / packets * packets;
}

// lt_stock makes the lane's stock; without memory there is none.
bool lt_stock(struct lt_lane *l, uint32_t frames, int numa)
{
	struct rte_mbuf *m[LT_BURST];
	uint32_t longest = 0;

	for (uint32_t i = 0; i < l->n; i++)
		longest = RTE_MAX(longest, l->packets[i].size);
	if (!(l->stock = lt_pool(frames, KEPT, longest, numa, "ring_mp_sc")))
		return false;
	for (uint32_t i = 0, n; i < frames; i += n) {
		n = RTE_MIN(frames - i, (uint32_t)LT_BURST);
		rte_mempool_generic_get(l->stock, (void **)m, n, NULL);
		for (uint32_t k = 0; k < n; k++)
			write(m[k], l, (i + k) % l->n, true);
		rte_mempool_generic_put(l->stock, (void **)m, n, NULL);
	}
	return true;
}

// copies makes mbufs of the device's hold the packets.
static uint32_t copies(struct lt_player *p, const struct lt_lane *l, struct rte_mbuf **m, uint32_t n)
{
	uint32_t pos = l->pos;

	for (uint32_t i = 0; i < n; i++) {
		if (p->fresh == 0) {
			if (rte_mempool_get_bulk(p->queue->device->pool, (void **)p->stash, LT_BURST) != 0)
				return i;
			p->fresh = LT_BURST;
		}
		m[i] = p->stash[--p->fresh]; // one segment, one reference: so it came back to the pool
		write(m[i], l, pos, true);
		if (++pos == l->n)
			pos = 0;
	}
	return n;
}

// lt_take gives mbufs of the lane's next packets; how many there are now.
uint32_t lt_take(struct lt_player *p, struct lt_lane *l, struct rte_mbuf **m, uint32_t n)
{
	uint32_t pos = l->pos;

	if (l->ready_at == l->ready_n) {
		if (!l->stock || rte_mempool_generic_get(l->stock, (void **)l->ready, LT_BURST, NULL) != 0)
			return copies(p, l, m, n);
		l->ready_at = 0;
		l->ready_n = LT_BURST;
	}
	n = RTE_MIN(n, l->ready_n - l->ready_at);
	for (uint32_t i = 0; i < n; i++) {
		struct rte_mbuf *b = m[i] = l->ready[l->ready_at++];
		const struct lt_held *h = lt_held(b);

		if (unlikely(h->pos != pos || b->pkt_len != h->size || b->data_off != RTE_PKTMBUF_HEADROOM || b->ol_flags != 0))
			write(b, l, pos, false);
		if (++pos == l->n)
			pos = 0;
	}
	return n;
}

void lt_stock_rest(struct lt_player *p)
{
	for (struct lt_lane *l = p->lanes; l < p->lanes + p->n; l++)
		if (l->stock)
			rte_mempool_cache_flush(rte_mempool_default_cache(l->stock, rte_lcore_id()), l->stock);
}

void lt_stock_close(struct lt_lane *l)
{
	if (l->stock)
		rte_mempool_generic_put(l->stock, (void **)l->ready + l->ready_at, l->ready_n - l->ready_at, NULL);
	l->ready_at = l->ready_n = 0;
}
