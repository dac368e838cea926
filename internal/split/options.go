package split

import (
	"fmt"
	"net/netip"
	"strings"

	"loadtest/packet"
)

// By names the rule by which sides are told apart.
type By uint8

// Rules.
const (
	// Auto looks at each flow. Of TCP the client sent the SYN, or was sent the SYN and ACK. Else the client spoke first, unless
	// that was from a well-known port (below 1024) to another. What has no ports (ICMP, ESP, fragments) goes with the sides on
	// which its two hosts were first seen, if those tell them apart.
	Auto By = iota
	CIDR    // sources in Inside are clients
	MAC     // the source MAC address of the first packet is the clients'
	SLL     // Linux cooked captures: the first packet's direction, in or out, is the clients'
	No      // all packets are clients'
)

// Options are the rule and what it needs.
type Options struct {
	By     By
	Inside []netip.Prefix // for CIDR
}

// Parse reads a rule: auto, mac, sll, no, or where clients are, prefixes and addresses with commas between them.
func Parse(text string) (Options, error) {
	switch text {
	case "auto":
		return Options{By: Auto}, nil
	case "mac":
		return Options{By: MAC}, nil
	case "sll":
		return Options{By: SLL}, nil
	case "no":
		return Options{By: No}, nil
	}
	o := Options{By: CIDR}
	for word := range strings.SplitSeq(text, ",") {
		p, err := netip.ParsePrefix(word)
		if a, bare := netip.ParseAddr(word); bare == nil && a.Zone() == "" {
			p, err = netip.PrefixFrom(a, a.BitLen()), nil
		}
		if err != nil {
			return o, fmt.Errorf("%q: want auto, mac, sll, no, or where clients are: 10.0.0.0/8,fd00::/8", text)
		}
		o.Inside = append(o.Inside, p)
	}
	return o, nil
}

func (o Options) inside(a netip.Addr) bool {
	for _, p := range o.Inside {
		if p.Contains(a) {
			return true
		}
	}
	return false
}

// fits says whether a record has what the rule looks at.
func (o Options) fits(r *packet.Record) error {
	want := ""
	switch cooked := r.Link == packet.LinkSLL || r.Link == packet.LinkSLL2; {
	case o.By == SLL && !cooked:
		want = "sll: want a Linux cooked capture"
	case o.By == MAC && r.Link > packet.LinkEthernet:
		want = "mac: want an Ethernet capture"
	default:
		return nil
	}
	return fmt.Errorf("record %d: split by %s, not %s; auto and prefixes work with all", r.Number, want, packet.LinkName(r.Link))
}
