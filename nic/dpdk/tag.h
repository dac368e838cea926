// Tags as package packet writes and reads them: check, then head, which is magic, lane, trial, sequence, then ns.

#ifndef LT_TAG_H
#define LT_TAG_H

#include <rte_byteorder.h>
#include <stdbool.h>
#include <stdint.h>

static inline uint32_t lt_fold(uint32_t s) { return (s >> 16) + (s & 0xffff); }

// lt_tag_sum: of both in one's complement, in 16 bits.
static inline uint32_t lt_tag_sum(uint64_t a, uint64_t b)
{
	uint64_t s = a + b;

	s += s < a; // cannot carry again: the sum that overflowed is below 2^64 - 1
	s = (s >> 32) + (s & 0xffffffff);
	s = (s >> 32) + (s & 0xffffffff);
	return lt_fold(lt_fold((uint32_t)s));
}

// lt_tag_put writes a tag whose head is front | seq. sum: of front and nanos; the check makes all of it fold to zero.
static inline void lt_tag_put(uint8_t *b, uint32_t sum, uint64_t front, uint32_t seq, uint64_t nanos)
{
	uint32_t s = lt_fold(lt_fold(sum + (seq >> 16) + (seq & 0xffff)));

	*(unaligned_uint16_t *)b = rte_cpu_to_be_16((uint16_t)~s);
	*(unaligned_uint64_t *)(b + 2) = rte_cpu_to_be_64(front | seq);
	*(unaligned_uint64_t *)(b + 10) = rte_cpu_to_be_64(nanos);
}

static inline bool lt_tag_whole(const uint8_t *b, uint64_t *head, uint64_t *nanos)
{
	*head = rte_be_to_cpu_64(*(const unaligned_uint64_t *)(b + 2));
	*nanos = rte_be_to_cpu_64(*(const unaligned_uint64_t *)(b + 10));
	return rte_be_to_cpu_16(*(const unaligned_uint16_t *)b) == (uint16_t)~lt_tag_sum(*head, *nanos);
}

#endif
