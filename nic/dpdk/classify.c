//go:build dpdk && cgo && linux

// Which of the frames that arrive are the tester's own packets of this trial, and the books of those: as internal/match and the
// receiver of package replay keep them.

#include <stdlib.h>
#include <string.h>

#include "dpdk.h"
#include "tag.h"

static uint64_t *word(struct lt_window *w, int64_t seq) { return &w->bits[(uint64_t)seq % LT_WINDOW / 64]; }

// forward moves the top and clears what will be used again.
static void forward(struct lt_window *w, int64_t top)
{
	if (top - w->top >= LT_WINDOW) {
		memset(w->bits, 0, LT_WINDOW / 8);
	} else {
		for (int64_t first = (w->top + 63) / 64 * 64; first < top; first += 64)
			*word(w, first) = 0;
	}
	w->top = top;
}

// lt_see takes note of a packet with the lower 32 bits of its sequence: the nearest one to the newest is meant.
int lt_see(struct lt_window *w, uint32_t low)
{
	int64_t seq = w->top + (int32_t)(low - (uint32_t)w->top);
	uint64_t bit = 1ull << (seq & 63);

	if (seq == w->top && (seq & 63) != 0) { // most do: within a word that is clear behind the top
		w->top++;
	} else if (seq >= w->top) {
		forward(w, seq + 1);
	} else if (seq < 0 || seq < w->top - (LT_WINDOW - 64)) { // the newest word's room was cleared whole
		w->too_old++;
		return LT_OLD;
	} else if (*word(w, seq) & bit) {
		w->duplicated++;
		return LT_AGAIN;
	} else {
		w->reordered++;
	}
	*word(w, seq) |= bit;
	w->received++;
	return LT_NEW;
}

// lt_forget clears only what was used: a long window costs.
void lt_forget(struct lt_window *w)
{
	int64_t used = (w->top + 63) / 64 * 8;

	memset(w->bits, 0, (size_t)(used < LT_WINDOW / 8 ? used : LT_WINDOW / 8));
	*w = (struct lt_window){.bits = w->bits};
}

struct lt_arrivals *lt_arrivals_new(void)
{
	struct lt_arrivals *a = calloc(1, sizeof *a);

	if (a && !(a->window.bits = calloc(LT_WINDOW / 64, 8))) {
		free(a);
		return NULL;
	}
	return a;
}

void lt_arrivals_reset(struct lt_arrivals *a)
{
	struct lt_window w = a->window;

	lt_forget(&w);
	memset(a, 0, sizeof *a);
	a->window = w;
}

void lt_arrivals_free(struct lt_arrivals *a)
{
	if (a)
		free(a->window.bits);
	free(a);
}

// lt_classify counts the frame if it is one of ours that is awaited. What it does not know for certain is Go's to judge.
bool lt_classify(struct lt_classifier *c, const uint8_t *b, uint32_t size, int64_t now)
{
	int at = lt_tag_at(b, size);
	uint64_t head, nanos;
	struct lt_arrivals *a;
	uint8_t trial;

	if (at < 0 || (b[at + 2] << 8 | b[at + 3]) != c->magic || !lt_tag_whole(b + at, &head, &nanos))
		return false;
	trial = (uint8_t)(head >> 32);
	a = c->lane[(uint8_t)(head >> 40)];
	if (!a || (trial != c->trial && (trial != c->preroll || c->preroll == 0)))
		return false;
	a->last = now;
	if (trial != c->trial || lt_see(&a->window, (uint32_t)head) != LT_NEW)
		return true;
	a->bytes += size;
	a->wire += lt_wire_bits(size);
	if (now >= c->half && now < c->half_end) {
		a->half_packets++;
		a->half_bytes += size;
		a->half_wire += lt_wire_bits(size);
	}
	lt_record(&a->latency, now - (int64_t)nanos, 1);
	return true;
}
