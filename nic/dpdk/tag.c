//go:build dpdk && cgo && linux

// Where in a frame a tag may be, as internal/match looks for it.

#include "dpdk.h"

static uint16_t load16(const uint8_t *b) { return (uint16_t)(b[0] << 8 | b[1]); }

// ip: where the parts of an IP packet lie in a frame.
struct ip {
	uint32_t l4, end;
	uint8_t proto;
	bool fragment;
};

static bool ipv4(const uint8_t *b, uint32_t size, uint32_t l3, struct ip *p)
{
	const uint8_t *h = b + l3;
	uint32_t length, total;

	if (size - l3 < 20 || h[0] >> 4 != 4)
		return false;
	length = (h[0] & 15) * 4;
	total = load16(h + 2);
	if (length < 20 || total < length || size - l3 < length)
		return false;
	p->proto = h[9];
	p->fragment = (load16(h + 6) & 0x3fff) != 0;
	p->l4 = l3 + length;
	p->end = l3 + total;
	return true;
}

static bool ipv6(const uint8_t *b, uint32_t size, uint32_t l3, struct ip *p)
{
	const uint8_t *h = b + l3;

	if (size - l3 < 40 || h[0] >> 4 != 6)
		return false;
	p->proto = h[6];
	p->fragment = false;
	p->l4 = l3 + 40;
	p->end = p->l4 + load16(h + 4);
	for (;;) {
		uint32_t limit = p->end < size ? p->end : size, length = 8;

		switch (p->proto) {
		case 0: case 43: case 60: // hop-by-hop, routing, destination options (RFC 8200, 4)
		case 44:                  // fragment
			break;
		default:
			return true;
		}
		if (p->l4 + 8 > limit)
			return false;
		if (p->proto == 44)
			p->fragment = true;
		else
			length = (b[p->l4 + 1] + 1) * 8;
		p->proto = b[p->l4];
		if ((p->l4 += length) > p->end)
			return false;
	}
}

// payload is behind the transport header; 0: that contradicts the packet.
static uint32_t payload(const uint8_t *b, uint32_t size, const struct ip *p)
{
	uint32_t at = p->l4, length;

	switch (p->proto) {
	case 17: case 1: case 58: // UDP, ICMP, ICMPv6
		at += 8;
		break;
	case 6: // TCP
		if (p->l4 + 20 > p->end || p->l4 + 20 > size)
			return 0;
		length = (b[p->l4 + 12] >> 4) * 4;
		if (length < 20)
			return 0;
		at += length;
	}
	return at <= p->end ? at : 0;
}

// quotes: an ICMP error ends with another packet's end (RFC 792, RFC 4443).
static bool quotes(const uint8_t *b, uint32_t size, const struct ip *p)
{
	if (p->l4 >= size)
		return false;
	if (p->proto == 58)
		return b[p->l4] < 128;
	if (p->proto != 1)
		return false;
	switch (b[p->l4]) {
	case 3: case 4: case 5: case 11: case 12:
		return true;
	}
	return false;
}

// plain is lt_tag_at of what most packets are, UDP in IPv4 without options; -1: it is something else, or has no room.
static inline int plain(const uint8_t *b, uint32_t size)
{
	uint32_t end;

	if (size < 42 || load16(b + 12) != 0x0800 || b[14] != 0x45 || b[23] != 17 || (load16(b + 20) & 0x3fff) != 0)
		return -1;
	end = 14 + load16(b + 16);
	return end <= size && end >= 34 + LT_TAG ? (int)(end - LT_TAG) : -1;
}

int lt_tag_at(const uint8_t *b, uint32_t size)
{
	int common = plain(b, size);

	uint32_t at = 12;
	uint16_t type;
	struct ip p;

	if (common >= 0)
		return common;
	if (size < 14)
		return -1;
	while ((type = load16(b + at)) == 0x8100 || type == 0x88a8) {
		if ((at += 4) + 2 > size)
			return -1;
	}
	at += 2;
	if (!(type == 0x0800 && ipv4(b, size, at, &p)) && !(type == 0x86dd && ipv6(b, size, at, &p)))
		return -1;
	if (p.fragment || p.end > size || p.end < p.l4 + LT_TAG || payload(b, size, &p) == 0 || quotes(b, size, &p))
		return -1;
	return (int)(p.end - LT_TAG);
}
