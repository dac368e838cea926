//go:build dpdk && cgo && linux

// When each packet of a plan leaves, and that it does: the rules of nic.Plan, as the engine in package replay carries them out for
// ports that only send. lt_step decides at a time that is given; only lt_play looks at the clock.

#include <rte_ethdev.h>
#include <rte_mbuf.h>
#include <rte_pause.h>
#include <stdlib.h>
#include <string.h>

#include "dpdk.h"
#include "stock.h"
#include "tag.h"

enum { PATIENCE = 4096 }; // packets that are too late, between two looks at the clock

void lt_next(struct lt_schedule *s, uint64_t cost)
{
	uint64_t ns;

	if (cost != s->cost) { // below 2^63 with the rest, as nic.Load says
		s->cost = cost;
		s->ns = cost * s->num / s->den;
		s->more = cost * s->num - s->ns * s->den;
	}
	ns = s->ns;
	if ((s->rem += s->more) >= s->den) {
		s->rem -= s->den;
		ns++;
	}
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

static inline bool paced(const struct lt_lane *l) { return l->schedule.num != 0; }

// advance goes on by n packets; of a lane that is paced, by one.
static inline void advance(struct lt_lane *l, uint32_t n)
{
	if (paced(l))
		lt_next(&l->schedule, cost(l, &l->packets[l->pos]));
	l->left -= n;
	l->pos += n;
	while (l->pos >= l->n)
		l->pos -= l->n;
}

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

// expire gives up what the driver did not take in time: unsent, or, where nothing says when a packet is due, not intended.
static void expire(struct lt_player *p, int64_t now)
{
	uint32_t entries = 0, kept = 0, at = 0;

	for (uint32_t i = 0; i < p->entries; i++) {
		struct lt_entry e = p->entry[i];

		if (e.paced ? now - e.due > p->credit : now >= p->end) {
			e.lane->intended += e.paced && e.counted;
			rte_pktmbuf_free_bulk(p->mbuf + at, e.n);
		} else {
			p->entry[entries++] = e;
			memmove(p->mbuf + kept, p->mbuf + at, e.n * sizeof *p->mbuf);
			kept += e.n;
		}
		at += e.n;
	}
	p->entries = entries;
	p->pending = kept;
}

// run adds packets of one lane to the burst, as long as they are due by now and before until, and says what the next one waits for:
// 0: for nothing, another lane may be due; a time else.
static int64_t run(struct lt_player *p, struct lt_lane *l, int64_t now, int64_t until, uint32_t *late)
{
	int64_t due;

	while (l->left > 0 && (due = l->schedule.due) < p->end) {
		bool counted = due >= p->count;
		uint32_t n = 1;

		if (due > now)
			return due;
		if (paced(l) && now - due > p->credit) {
			l->intended += counted;
			advance(l, 1);
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
		if (!paced(l) && until == LT_NEVER) // no other lane's turn
			n = (uint32_t)RTE_MIN(l->left, (int64_t)(LT_BURST - p->pending));
		if ((n = lt_take(p, l, p->mbuf + p->pending, n)) == 0)
			return now;
		p->pending += n;
		p->entry[p->entries++] = (struct lt_entry){l, due, n, l->pos, l->slot, paced(l), counted};
		l->slot = (l->slot + 1) % LT_BURST;
		advance(l, n);
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

// sums are of packets of a lane: the first n from pos on.
struct sums { int64_t bytes, wire, tagged; };

static struct sums sum(const struct lt_lane *l, uint32_t pos, uint32_t n)
{
	struct sums s = {0};

	for (uint32_t k; n > 0; n -= k, pos = 0) {
		const struct lt_packet *from = &l->packets[pos];

		k = RTE_MIN(n, l->n - pos);
		s.bytes += from[k].bytes - from->bytes;
		s.wire += from[k].wire - from->wire;
		s.tagged += from[k].tagged - from->tagged;
	}
	return s;
}

// book books what the driver took of an entry.
static void book(const struct lt_entry *e, uint32_t n, int64_t now)
{
	struct lt_lane *l = e->lane;
	struct sums s;

	if (e->paced) {
		l->recent[e->slot].at = now;
		l->recent[e->slot].due = e->due;
	}
	if (!e->counted)
		return;
	s = sum(l, e->pos, n);
	lt_record(&l->late, now - e->due, n);
	l->intended += n;
	l->sent += n;
	l->bytes += s.bytes;
	l->wire += s.wire;
	l->tagged += s.tagged;
	l->issued += s.tagged;
}

// tag numbers and tags what is to leave now.
static void tag(struct lt_player *p, int64_t now)
{
	struct rte_mbuf **m = p->mbuf;

	for (struct lt_entry *e = p->entry; e < p->entry + p->entries; e++) {
		struct lt_lane *l = e->lane;
		uint64_t front = l->head[!e->counted];
		uint32_t check = lt_tag_sum(front, (uint64_t)now);

		if (e->counted && !l->counting) {
			l->counting = true;
			l->next = 0;
		}
		if (l->packets[l->n].tagged == 0) { // and so no mbuf needs a look
			m += e->n;
			continue;
		}
		for (uint32_t i = 0; i < e->n; i++, m++) {
			uint16_t at = lt_held(*m)->tag;

			if (at != LT_BARE)
				lt_tag_put(rte_pktmbuf_mtod_offset(*m, uint8_t *, at), check, front, l->next++, (uint64_t)now);
		}
	}
}

// taken books what the driver took, and keeps the rest, which gives its sequence numbers back.
static void taken(struct lt_player *p, uint32_t n, int64_t now)
{
	uint32_t entries = 0;

	p->taken += n;
	p->pending -= n;
	memmove(p->mbuf, p->mbuf + n, p->pending * sizeof *p->mbuf);
	for (uint32_t i = 0; i < p->entries; i++) {
		struct lt_entry *e = &p->entry[i];
		uint32_t k = RTE_MIN(n, e->n);

		if (k > 0)
			book(e, k, now);
		n -= k;
		if ((e->n -= k) == 0)
			continue;
		e->pos = (e->pos + k) % e->lane->n;
		e->lane->next -= (uint32_t)sum(e->lane, e->pos, e->n).tagged;
		p->entry[entries++] = *e;
	}
	p->entries = entries;
}

// offer hands the burst to the driver.
static void offer(struct lt_player *p, int64_t now)
{
	tag(p, now);
	taken(p, rte_eth_tx_burst(p->queue->device->port, p->queue->id, p->mbuf, (uint16_t)p->pending), now);
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
			if (next == LT_NEVER)
				lt_stock_rest(p);
			return next;
		}
		if (p->pending > 0 || next > now)
			rte_pause();
	}
}

// lt_due is when the lane's next packet is due that is not booked.
int64_t lt_due(const struct lt_player *p, uint32_t lane)
{
	for (uint32_t i = 0; i < p->entries; i++)
		if (p->entry[i].lane == &p->lanes[lane])
			return p->entry[i].due;
	return p->lanes[lane].schedule.due;
}

// restart forgets all that a lane is but its packets.
static void restart(struct lt_lane *l)
{
	struct lt_lane was = *l;

	memset(l, 0, sizeof *l);
	l->packets = was.packets;
	l->n = was.n;
	l->stock = was.stock;
	l->ready_at = was.ready_at;
	l->ready_n = was.ready_n;
	memcpy(l->ready, was.ready, sizeof l->ready);
	for (uint32_t k = 0; k < LT_BURST; k++)
		l->recent[k].at = INT64_MIN / 2;
}

void lt_begin(struct lt_player *p)
{
	rte_pktmbuf_free_bulk(p->mbuf, p->pending);
	p->pending = p->entries = 0;
	for (struct lt_lane *l = p->lanes; l < p->lanes + p->n; l++)
		restart(l);
}

// lt_player_free gives back what the player holds; what is on its way comes back to the pools by itself.
void lt_player_free(struct lt_player *p, struct lt_packet *packets)
{
	rte_pktmbuf_free_bulk(p->mbuf, p->pending);
	if (p->fresh > 0)
		rte_mempool_put_bulk(p->queue->device->pool, (void **)p->stash, p->fresh);
	for (struct lt_lane *l = p->lanes; l < p->lanes + p->n; l++)
		lt_stock_close(l);
	free(packets);
	free(p->lanes);
	free(p);
}
