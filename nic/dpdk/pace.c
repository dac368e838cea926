//go:build dpdk && cgo && linux

// When each packet of a plan leaves, and that it does: the rules of nic.Plan, as the engine in package replay carries them out for
// ports that only send. lt_step decides at a time that is given; only lt_play looks at the clock.

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <stdlib.h>
#include <string.h>

#include "dpdk.h"

enum {
	MOST_SHARED = 60000, // packets of one mbuf on their way: it counts them in 16 bits
	PATIENCE = 4096,     // packets that are too late, between two looks at the clock
};

void lt_next(struct lt_schedule *s, uint64_t cost)
{
	uint64_t sum = cost * s->num + s->rem, ns; // below 2^63, as nic.Load says

	if (s->num == 0)
		return;
	ns = sum / s->den;
	s->rem = sum - ns * s->den;
	s->due = ns < (uint64_t)(LT_NEVER - s->due) ? s->due + (int64_t)ns : LT_NEVER;
}

static uint64_t cost(const struct lt_lane *l)
{
	const struct lt_packet *p = &l->packets[l->pos];

	switch (l->unit) {
	case LT_PACKETS:
		return 1;
	case LT_FACTOR:
		return (uint64_t)p->gap;
	}
	return (uint64_t)lt_wire_bits(p->size);
}

static void advance(struct lt_lane *l)
{
	lt_next(&l->schedule, cost(l));
	l->left--;
	if (++l->pos == l->n)
		l->pos = 0;
}

static bool paced(const struct lt_lane *l) { return l->schedule.num != 0; }

// first is the lane whose packet is due first, and until when it stays that. Those that have no schedule take turns.
static struct lt_lane *first(struct lt_player *p, int64_t now, int64_t *until)
{
	struct lt_lane *first = NULL;

	*until = LT_NEVER;
	for (struct lt_lane *l = p->lanes; l < p->lanes + p->n; l++) {
		int64_t due;

		if (l->left <= 0)
			continue;
		if (!paced(l) && l->schedule.due < now)
			l->schedule.due = now;
		if ((due = l->schedule.due) >= p->end)
			continue;
		if (first && (due > first->schedule.due || (due == first->schedule.due && l->left <= first->left))) {
			*until = RTE_MIN(*until, due);
			continue;
		}
		if (first)
			*until = RTE_MIN(*until, first->schedule.due);
		first = l;
	}
	return first;
}

// take makes an mbuf of the packet; NULL: there is none now.
static struct rte_mbuf *take(struct lt_player *p, const struct lt_packet *t)
{
	struct rte_mbuf *m = t->shared;

	if (m) {
		if (rte_mbuf_refcnt_read(m) > MOST_SHARED)
			return NULL;
		rte_mbuf_refcnt_update(m, 1);
		return m;
	}
	if (p->fresh == 0) {
		if (rte_pktmbuf_alloc_bulk(p->queue->device->pool, p->stash, LT_BURST) != 0)
			return NULL;
		p->fresh = LT_BURST;
	}
	m = p->stash[--p->fresh];
	memcpy(rte_pktmbuf_mtod(m, void *), t->data, t->size);
	m->data_len = (uint16_t)t->size;
	m->pkt_len = t->size;
	return m;
}

// expire gives up what the driver did not take in time: unsent, or, where nothing says when a packet is due, not intended.
static void expire(struct lt_player *p, int64_t now)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < p->pending; i++) {
		struct lt_entry *e = &p->entry[i];

		if (e->paced ? now - e->due > p->credit : now >= p->end) {
			e->lane->intended += e->paced && e->counted;
			rte_pktmbuf_free(p->mbuf[i]);
			continue;
		}
		p->entry[kept] = *e;
		p->mbuf[kept++] = p->mbuf[i];
	}
	p->pending = kept;
}

// fill adds due packets to the burst and says when the next one is due; LT_NEVER: there is none any more.
static int64_t fill(struct lt_player *p, int64_t now)
{
	struct lt_lane *l = NULL;
	int64_t until = 0;
	uint32_t late = 0;

	for (;;) {
		int64_t due, gate;
		bool counted;

		if (!l || l->left <= 0 || l->schedule.due >= until || l->schedule.due >= p->end)
			l = first(p, now, &until);
		if (!l)
			return LT_NEVER;
		if ((due = l->schedule.due) > now)
			return due;
		counted = due >= p->count;
		if (paced(l) && now - due > p->credit) {
			l->intended += counted;
			advance(l);
			if (++late == PATIENCE)
				return now;
			continue;
		}
		if (p->pending == LT_BURST || (p->pending > 0 && p->entry[0].counted != counted))
			return now;
		// A burst and one packet more take half their time at least, so catching up goes at twice the load.
		gate = l->recent[l->slot].at + (due - l->recent[l->slot].due) / 2;
		if (gate > now)
			return gate;
		struct rte_mbuf *m = take(p, &l->packets[l->pos]);
		if (!m)
			return now;
		p->mbuf[p->pending] = m;
		p->entry[p->pending++] = (struct lt_entry){l, due, l->packets[l->pos].size, l->slot, l->packets[l->pos].tag, paced(l), counted};
		if (++l->slot == LT_BURST)
			l->slot = 0;
		advance(l);
	}
}

static void book(struct lt_entry *e, int64_t now)
{
	struct lt_lane *l = e->lane;

	if (e->paced) {
		l->recent[e->slot].at = now;
		l->recent[e->slot].due = e->due;
	}
	if (!e->counted)
		return;
	l->intended++;
	l->sent++;
	l->bytes += e->size;
	l->wire += lt_wire_bits(e->size);
	l->tagged += e->tag >= 0;
	lt_record(&l->late, now - e->due);
}

// offer tags the burst and hands it to the driver. What that does not take gives its sequence numbers back.
static void offer(struct lt_player *p, int64_t now)
{
	uint32_t n;

	for (uint32_t i = 0; i < p->pending; i++) {
		struct lt_entry *e = &p->entry[i];
		struct lt_lane *l = e->lane;

		if (e->tag < 0)
			continue;
		if (e->counted && !l->counting) {
			l->counting = true;
			l->next = 0;
		}
		lt_tag_put(rte_pktmbuf_mtod_offset(p->mbuf[i], uint8_t *, e->tag), l->head[!e->counted] | l->next++, (uint64_t)now);
	}
	n = rte_eth_tx_burst(p->queue->device->port, p->queue->id, p->mbuf, (uint16_t)p->pending);
	for (uint32_t i = 0; i < n; i++) {
		p->entry[i].lane->issued += p->entry[i].counted && p->entry[i].tag >= 0;
		book(&p->entry[i], now);
	}
	for (uint32_t i = n; i < p->pending; i++)
		p->entry[i].lane->next -= p->entry[i].tag >= 0;
	p->taken += n;
	p->pending -= n;
	if (n > 0 && p->pending > 0) {
		memmove(p->entry, p->entry + n, p->pending * sizeof *p->entry);
		memmove(p->mbuf, p->mbuf + n, p->pending * sizeof *p->mbuf);
	}
}

// lt_step sends what is due and says when there is more to do; LT_NEVER: the plan is over and nothing is held back.
int64_t lt_step(struct lt_player *p, int64_t now)
{
	int64_t next;

	if (p->pending > 0)
		expire(p, now);
	next = fill(p, now);
	if (p->pending == 0)
		return next;
	offer(p, now);
	return p->pending > 0 ? now : next;
}

// lt_play steps until a time, or until nothing is due within nearby ns.
int64_t lt_play(struct lt_player *p, int64_t until, int64_t nearby)
{
	int64_t epoch = p->queue->device->epoch;

	lt_register();
	for (;;) {
		int64_t now = lt_clock(epoch), next = lt_step(p, now);

		if (next == LT_NEVER || now >= until || next > now + nearby) {
			lt_look(p->queue, now);
			return next;
		}
		if (p->pending > 0 || next > now)
			rte_pause();
	}
}

// lt_due is when the lane's next packet is due that is not booked.
int64_t lt_due(const struct lt_player *p, uint32_t lane)
{
	for (uint32_t i = 0; i < p->pending; i++)
		if (p->entry[i].lane == &p->lanes[lane])
			return p->entry[i].due;
	return p->lanes[lane].schedule.due;
}

// lt_share makes the packet an mbuf that is sent again and again, and so never written.
bool lt_share(struct lt_packet *p, struct rte_mempool *pool)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

	if (!m)
		return false;
	memcpy(rte_pktmbuf_append(m, (uint16_t)p->size), p->data, p->size);
	p->shared = m;
	return true;
}

void lt_begin(struct lt_player *p)
{
	rte_pktmbuf_free_bulk(p->mbuf, p->pending);
	p->pending = 0;
	for (struct lt_lane *l = p->lanes; l < p->lanes + p->n; l++) {
		const struct lt_packet *packets = l->packets;
		uint32_t n = l->n;

		memset(l, 0, sizeof *l);
		l->packets = packets;
		l->n = n;
		for (uint32_t k = 0; k < LT_BURST; k++)
			l->recent[k].at = INT64_MIN / 2;
	}
}

// lt_player_free gives back what the player holds; packets that are on their way have references of their own.
void lt_player_free(struct lt_player *p, struct lt_packet *packets, uint64_t n)
{
	rte_pktmbuf_free_bulk(p->mbuf, p->pending);
	rte_pktmbuf_free_bulk(p->stash, p->fresh);
	p->pending = p->fresh = 0;
	for (uint64_t i = 0; i < n; i++)
		rte_pktmbuf_free(packets[i].shared);
	free(packets);
	free(p->lanes);
	p->lanes = NULL;
	p->n = 0;
}
