package preflight

import (
	"fmt"
	"strings"

	"loadtest/packet"
	"loadtest/units"
)

// findings are what the records alone say, in the order of the checks. cut says that what receive offload merged was cut already.
func (t *Tally) findings(name string, p Port, skip Skips, cut bool) (found []Finding) {
	add := func(kind string, skipped bool, s Seen, text string) *Finding {
		level := Refuse
		if skipped {
			level = Note
		}
		found = append(found, Finding{Kind: kind, Level: level, Text: text, Packets: new(s.Packets)})
		f := &found[len(found)-1]
		if s.First.Record > 0 {
			f.Place, f.Bytes = new(s.First), new(s.Size)
		}
		return f
	}
	if s := t.NoEthernet; s.Packets > 0 {
		add("link_type", false, s, t.noEthernet(name, p)).Port = p.Name
	}
	if s := t.Short; s.Packets > 0 {
		add("too_short", false, s, fmt.Sprintf("%v: %d bytes are no Ethernet frame, want at least %d; %s", s.First, s.Size, packet.EtherLen,
			are(s.Packets, t.Packets, "too short")))
	}
	if s := t.Snapped; s.Packets > 0 {
		add("snapped", skip.Snapped, s, t.snapped(skip))
	}
	if s := t.Oversize; s.Packets > 0 {
		f := add("oversize", skip.Oversize, s, t.oversize(p, skip, cut))
		f.Port, f.Limit = p.Name, new(p.MaxFrame)
	}
	return found
}

// are says how many of how many records are so.
func are(n, of int64, so string) string { return fmt.Sprintf("%d of %d records are %s", n, of, so) }

func (t *Tally) noEthernet(name string, p Port) string {
	s, link := t.NoEthernet, t.Link
	where, how := name, ""
	if s.Packets < t.Packets {
		how = "; " + are(s.Packets, t.Packets, "without")
		if s.First.Record > 0 {
			where = s.First.String()
		}
	}
	if !carried(link) {
		return fmt.Sprintf("%s: link type %d (%s): Ethernet carries no such packets%s; want Ethernet, raw IP, loopback or Linux cooked",
			where, link, packet.LinkName(link), how)
	}
	port := p.Name
	if port == "" {
		port = "PORT"
	}
	return fmt.Sprintf("%s has no Ethernet header (%s, %d)%s: --mac-dst gw with --addr %s=IP/LEN,gw=IP, or --mac-dst MAC --mac-src MAC",
		where, packet.LinkName(link), link, how, port)
}

func (t *Tally) snapped(skip Skips) string {
	s := t.Snapped
	text := fmt.Sprintf("%v was captured short: %d of %d bytes; %d of %d records are", s.First, s.Size, s.Wire, s.Packets, t.Packets)
	if skip.Snapped {
		return text + " and are left out"
	}
	return text + ". Capture again with the full length (tcpdump -s 0), or --skip-snapped"
}

func (t *Tally) oversize(p Port, skip Skips, cut bool) string {
	s, of, mtu := t.Oversize, t.Packets, ""
	if skip.Snapped {
		of -= t.Snapped.Packets
	}
	if p.MTU > 0 {
		mtu = fmt.Sprintf(" (MTU %d)", p.MTU)
	}
	text := fmt.Sprintf("%v: %d bytes, %s takes %d%s; %s", s.First, s.Size, p.Name, p.MaxFrame, mtu, are(s.Packets, of, "too long"))
	if skip.Oversize {
		return text + " and are left out"
	}
	var ways []string
	switch {
	case t.Trailing == s.Packets:
		text += ", by what follows their IP packet (an FCS?)"
		ways = append(ways, fmt.Sprintf("--cut %d", p.MaxFrame+units.FCS))
	case t.Merged == s.Packets && !cut:
		text += ", TCP that receive offload merged"
	case t.Merged > 0 && !cut:
		text += fmt.Sprintf(", %d of them TCP that receive offload merged", t.Merged)
	}
	if t.Merged > 0 && !cut {
		ways = append(ways, "--resegment")
	}
	if w := p.widen(t.Need); w != "" {
		ways = append(ways, w)
	}
	switch {
	case skip.Made && len(ways) == 0:
		return text
	case skip.Made:
		return text + ". " + either(ways)
	case len(ways) == 0:
		return text + ". To leave them out: --skip-oversize"
	}
	return text + ". " + either(append(ways, "--skip-oversize"))
}

// either joins ways out: a, b, or c.
func either(ways []string) string {
	if n := len(ways); n > 1 {
		return strings.Join(ways[:n-1], ", ") + ", or " + ways[n-1]
	}
	return ways[0]
}
