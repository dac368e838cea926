package preflight

import (
	"fmt"

	"loadtest/packet"
	"loadtest/units"
)

// at gives a finding its records.
func (f *Finding) at(s Seen) {
	f.Packets = new(s.Packets)
	if s.First.Record > 0 {
		f.Place, f.Bytes = new(s.First), new(s.Size)
	}
}

// unless is a warning, or a note where a flag takes care of it already.
func unless(handled bool) Level {
	if handled {
		return Note
	}
	return Warn
}

// whole is about the file as such.
func (j *judge) whole() {
	c := &j.c
	switch {
	case c.Cut != "" && j.o.TakeWhole:
		j.add(Note, Cut, "%s; %s taken", c.Cut, all(c.Packets, "whole packet is", "whole packets are"))
	case c.Cut != "":
		j.add(Refuse, Cut, "%s. To send the %s before it: --take-whole", c.Cut, all(c.Packets, "whole packet", "whole packets"))
	}
	if c.Packets == 0 {
		j.add(Refuse, "empty", "%s holds no packets: nothing to send", c.Name)
	}
	if c.FCS > 0 {
		j.add(Note, "fcs", "%s: frames end with their FCS (%d bytes), as the file says: it is taken off, the wire makes a new one", c.Name, c.FCS)
	}
	if r := j.c.Memory(); j.o.Room > 0 && r > j.o.Room {
		j.add(Note, "streams", "%s takes %s of memory, of which it may have %s: it streams from disk while it is sent", c.Name, bytes(r), bytes(j.o.Room))
	}
}

// all is a count with its word.
func all(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Memory is how many bytes the packets take while they are sent: their own, 16 of the store and 8 of the sender for each.
func (c *Capture) Memory() int64 { return c.Bytes + 24*c.Packets }

// traffic is about what the packets are, and what devices make of them.
func (j *judge) traffic() {
	j.offload()
	j.sums()
	c, o := &j.c, j.o
	if s := c.Groups; s.Packets > 0 {
		share := units.Ratio(float64(s.Packets) / float64(c.Packets))
		f := j.add(unless(o.Skip.Multicast), "multicast", "%s: %v of the packets are multicast or broadcast: %s", c.Name, share, grouped(o.Skip.Multicast))
		f.at(s)
	}
	if s := c.Control; s.Packets > 0 {
		j.add(unless(o.Skip.Multicast), "link_control", "%v: for the next bridge only (LLDP, STP, LACP, pause); %s: no bridge forwards them%s", s.First,
			are(s.Packets, c.Packets, "so"), map[bool]string{false: ". --skip-multicast", true: "; they are left out"}[o.Skip.Multicast]).at(s)
	}
	if s := c.Runts; s.Packets > 0 {
		j.add(Note, "padded", "%v: %d bytes; %s: the wire pads them", s.First, s.Size, are(s.Packets, c.Packets, fmt.Sprintf("shorter than %d bytes", units.MinFrame))).at(s)
	}
	j.connections()
	j.tags()
}

func grouped(skipped bool) string {
	if skipped {
		return "they are left out"
	}
	return "a router forwards none of them: they would count as lost. --skip-multicast"
}

// offload is about packets that no wire ever had.
func (j *judge) offload() {
	c, o := &j.c, j.o
	help := ". --resegment makes segments of them"
	if o.Resegment {
		help = ": made segments of what the port takes"
	}
	if s := c.Merged; s.Packets > 0 {
		j.add(unless(o.Resegment), "merged", "%v: %d bytes of TCP; %s: receive offload merged segments, or the MTU was larger%s",
			s.First, s.Size, are(s.Packets, c.Packets, "longer than an MTU of 1500 allows"), help).at(s)
	}
	if s := c.NoIPLen; s.Packets > 0 {
		j.add(unless(o.Resegment), "ip_length_zero", "%v: IP length 0; %s: captured before the card made segments of it: a device drops such packets%s",
			s.First, are(s.Packets, c.Packets, "so"), help).at(s)
	}
	if s := c.Damaged; s.Packets > 0 {
		j.add(Warn, "damaged", "%v: the headers of its IP packet are cut or contradict themselves; %s: a device drops them", s.First,
			are(s.Packets, c.Packets, "so")).at(s)
	}
}

// sums is about checksums.
func (j *judge) sums() {
	for _, w := range j.c.Wrong {
		if w.Packets == 0 {
			continue
		}
		text := fmt.Sprintf("%v: wrong %s checksum; %d of %d packets have one", w.First, w.Protocol, w.Packets, j.c.Packets)
		if j.o.FixChecksums {
			text += ": made right"
		} else {
			text += " (captured before the card filled it in?): a device may drop them. --fix-checksums"
		}
		j.add(unless(j.o.FixChecksums), "checksum_"+key(w.Protocol), "%s", text).at(w.Seen)
	}
}

// connections is about TCP, of which a device may hold a state.
func (j *judge) connections() {
	c, o := &j.c, j.o
	if n := c.Flows.TwoSided; n > 0 && !o.Split {
		j.add(Refuse, TwoSided, "%s holds both sides of %s; sent out of one port, a firewall drops one side. SOURCE A B --split, or as it is: --split=no",
			c.Name, flows(n)).Flows = new(n)
	}
	if n := c.Flows.TCP; n > 0 && !o.Vary && j.again() {
		j.add(Warn, "tcp_repeats", "%s: pass 2 repeats %s that a stateful device still holds: --loops 1, or --vary src-ip:1000", c.Name,
			all(n, "TCP connection", "TCP connections")).Flows = new(n)
	}
	if n := c.Flows.Opened; n > 0 {
		other := ""
		if len(o.Verbs) > 0 {
			other = ". Connections that answer: loadtest " + either(o.Verbs)
		}
		j.add(Note, "no_answers", "%s opens %s: a device that answers SYN itself (proxy, load balancer, SYN cookies) or rewrites sequence numbers will not "+
			"follow a replay%s", c.Name, all(n, "TCP connection", "TCP connections"), other).Flows = new(n)
	}
}

// flows is a count as the refusal has it.
func flows(n int64) string {
	if n == 1 {
		return "a TCP flow"
	}
	return fmt.Sprintf("%d TCP flows", n)
}

// tags is about packets that are matched by flow.
func (j *judge) tags() {
	c := &j.c
	have, most := c.Tagged.Auto, c.Tagged.Always
	switch j.o.Tag {
	case packet.TagNever:
		return
	case packet.TagAlways:
		have = most
	}
	if n := c.Packets - have; n > 0 {
		zeros, more := "", ""
		if most > have {
			zeros, more = " of zeros", ". --tag always overwrites payload"
			if left := c.Packets - most; left > 0 {
				more += fmt.Sprintf(" and leaves %d", left)
			}
		}
		f := j.add(Note, "untagged", "%s: %d of %d packets have no room%s for the tag: matched by flow; latency and order are not measured for them%s",
			c.Name, n, c.Packets, zeros, more)
		f.Packets = &n
	}
}
