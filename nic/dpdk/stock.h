// What an mbuf says of the packet that it holds: in the mbuf itself, where drivers look anyway.

#ifndef LT_STOCK_H
#define LT_STOCK_H

#include <rte_mbuf.h>
#include <rte_mbuf_dyn.h>
#include <stdint.h>

struct lt_held {
	uint32_t pos; // in its lane
	uint16_t size;
	uint16_t tag; // where it is; LT_BARE: there is none
};

enum { LT_BARE = UINT16_MAX };

extern int lt_held_at;

static inline struct lt_held *lt_held(struct rte_mbuf *m) { return RTE_MBUF_DYNFIELD(m, lt_held_at, struct lt_held *); }

#endif
