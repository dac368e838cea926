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

	ns = sum / s->den;
	s->rem = sum - ns * s->den;
	s->due = ns < (uint64_t)(LT_NEVER - s->due) ? s->due + (int64_t)ns : LT_NEVER;
}

static uint64_t cost(const struct lt_lane *l, const struct lt_packet *p)
{
	switch (l->unit) {
	case LT_PACKETS:
		return 1;
	case LT_FACTOR:
		return (uint64_t)p->gap;
	}
	return (uint64_t)lt_wire_bits(p->size);
}

static inline void advance(struct lt_lane *l)
{
	if (l->schedule.num != 0)
		lt_next(&l->schedule, cost(l, &l->packets[l->pos]));
	l->left--;
	if (++l->pos == l->n)
		l->pos = 0;
}

static inline bool paced(const struct lt_lane *l) { return l->schedule.num != 0; }

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
		if (rte_mempool_get_bulk(p->queue->device->pool, (void **)p->stash, LT_BURST) != 0)
			return NULL;
		p->fresh = LT_BURST;
	}
	m = p->stash[--p->fresh]; // one segment, one reference: so it came back to the pool
	rte_pktmbuf_reset_headroom(m);
	m->ol_flags = 0;
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

// run adds packets of one lane to the burst, as long as they are due by now and before until, and says what the next one waits for:
// 0: for nothing, another lane may be due; a time else.
static int64_t run(struct lt_player *p, struct lt_lane *l, int64_t now, int64_t until, uint32_t *late)
{
	int64_t due;

	while (l->left > 0 && (due = l->schedule.due) < p->end) {
		const struct lt_packet *t = &l->packets[l->pos];
		bool counted = due >= p->count;
		struct rte_mbuf *m;

		if (due > now)
			return due;
		if (paced(l) && now - due > p->credit) {
			l->intended += counted;
			advance(l);
			if (++*late == PATIENCE)
				return now;
			if (l->schedule.due >= until)
				break;
			continue;
		}
		if (p->pending == LT_BURST || (p->pending > 0 && p->entry[0].counted != counted))
			return now;
		if (paced(l)) {
			// A burst and one packet more take half their time at least, so catching up goes at twice the load.
			int64_t gate = l->recent[l->slot].at + (due - l->recent[l->slot].due) / 2;

			if (gate > now)
				return gate;
		}
		if (!(m = take(p, t)))
			return now;
		p->mbuf[p->pending] = m;
		p->entry[p->pending++] = (struct lt_entry){l, due, t->size, l->slot, t->tag, paced(l), counted};
		l->slot = (l->slot + 1) % LT_BURST;
		advance(l);
		if (l->schedule.due >= until)
			break;
	}
	return 0;
}

// fill adds due packets to the burst and says when the next one is due; LT_NEVER: there is none any more.
static int64_t fill(struct lt_player *p, int64_t now)
{
	uint32_t late = 0;
	int64_t until, next;

	for (;;) {
		struct lt_lane *l = first(p, now, &until);

		if (!l)
			return LT_NEVER;
		if ((next = run(p, l, now, until, &late)) != 0)
			return next;
	}
}

// book books what the driver took, run by run: packets of one lane.
static void book(struct lt_player *p, uint32_t n, int64_t now)
{
	for (uint32_t i = 0; i < n;) {
		struct lt_lane *l = p->entry[i].lane;
		bool tracked = paced(l), counted = p->entry[i].counted;
		int64_t bytes = 0, wire = 0, tagged = 0, sent = 0, least = LT_NEVER, most = 0, late = 0;

		for (; i < n && p->entry[i].lane == l; i++, sent++) {
			const struct lt_entry *e = &p->entry[i];
			int64_t after = now - e->due;

			if (tracked) {
				l->recent[e->slot].at = now;
				l->recent[e->slot].due = e->due;
			}
			if (counted)
				l->late.cell[lt_cell(after)]++;
			least = RTE_MIN(least, after);
			most = RTE_MAX(most, after);
			late += after;
			bytes += e->size;
			wire += lt_wire_bits(e->size);
			tagged += e->tag >= 0;
		}
		if (!counted)
			continue;
		l->late.least = l->late.count ? RTE_MIN(l->late.least, least) : least;
		l->late.most = RTE_MAX(l->late.most, most);
		l->late.count += (uint64_t)sent;
		l->late.sum += (double)late;
		l->intended += sent;
		l->sent += sent;
		l->bytes += bytes;
		l->wire += wire;
		l->tagged += tagged;
		l->issued += tagged;
	}
}

// tag numbers and tags what is to leave now.
static void tag(struct lt_player *p, int64_t now)
{
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
}

// offer hands the burst to the driver. What that does not take gives its sequence numbers back.
static void offer(struct lt_player *p, int64_t now)
{
	uint32_t n;

	tag(p, now);
	n = rte_eth_tx_burst(p->queue->device->port, p->queue->id, p->mbuf, (uint16_t)p->pending);
	book(p, n, now);
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

// lt_play steps until a time, until nothing is due within nearby ns, or until the driver takes nothing: who empties its ring may be the
// same thread.
int64_t lt_play(struct lt_player *p, int64_t until, int64_t nearby)
{
	int64_t epoch = p->queue->device->epoch;

	lt_register();
	for (;;) {
		int64_t taken = p->taken;
		int64_t now = lt_clock(epoch), next = lt_step(p, now);

		if (next == LT_NEVER || now >= until || next > now + nearby || (p->pending > 0 && p->taken == taken)) {
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
	if (p->fresh > 0)
		rte_mempool_put_bulk(p->queue->device->pool, (void **)p->stash, p->fresh);
	p->pending = p->fresh = 0;
	for (uint64_t i = 0; i < n; i++)
		rte_pktmbuf_free(packets[i].shared);
	free(packets);
	free(p->lanes);
	p->lanes = NULL;
	p->n = 0;
}
