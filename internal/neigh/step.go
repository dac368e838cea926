package neigh

import (
	"net/netip"

	"loadtest/internal/clock"
)

const (
	tryEvery = int64(1e9) // ns for a gateway to answer
	fullWait = int64(1e6) // ns until a full ring is looked at again
)

// Step queues the queries and announcements that are due at now, and says when the next ones are; Never if none are.
func (h *Host) Step(now int64) (next int64) {
	if now < h.due {
		return h.due
	}
	h.due = h.announce(now)
	for i := range h.places {
		h.due = min(h.due, h.ask(&h.places[i], now))
	}
	return h.due
}

// announce tells all who the tester is; a port without addresses, where it is. What finds the ring full goes on where it stopped.
func (h *Host) announce(now int64) (next int64) {
	if now < h.announceAt {
		return h.announceAt
	}
	if len(h.places) == 0 && !h.sendRARP(now) {
		return now + fullWait
	}
	for ; h.announced < len(h.places); h.announced++ {
		if !h.introduce(&h.places[h.announced].Address, now) {
			return now + fullWait
		}
	}
	h.announced, h.announceAt = 0, now+int64(h.o.Every)
	return h.announceAt
}

// introduce announces one address (RFC 5227 section 3, RFC 4861 section 7.2.6).
func (h *Host) introduce(a *Address, now int64) bool {
	ip := a.Prefix.Addr()
	if ip.Is4() {
		return h.sendARP(a, broadcast(), opRequest, ip, [6]byte{}, ip, now)
	}
	all := netip.IPv6LinkLocalAllNodes()
	return h.sendND(a, groupMAC(all), typeAdvertisement, flagOverride, ip, all, ip, now)
}

// ask asks for a gateway that is looked for.
func (h *Host) ask(p *place, now int64) (next int64) {
	switch {
	case now < p.askAt:
		return p.askAt
	case p.tries == 0:
		p.failed, p.askAt = true, clock.Never
		return clock.Never
	case !h.query(&p.Address, now):
		return now + fullWait
	}
	p.tries--
	p.askAt = now + tryEvery
	return p.askAt
}

func (h *Host) query(a *Address, now int64) bool {
	ip := a.Prefix.Addr()
	if ip.Is4() {
		return h.sendARP(a, broadcast(), opRequest, ip, [6]byte{}, a.Gateway, now)
	}
	to := solicited(a.Gateway)
	return h.sendND(a, groupMAC(to), typeSolicitation, 0, ip, to, a.Gateway, now)
}
