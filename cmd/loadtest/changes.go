package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"loadtest/internal/preflight"
	"loadtest/packet/rewrite"
	"loadtest/units"
)

// changes are the flags that say how captures are read, what is made of their packets on the way out, and what is left out.
type changes struct {
	merge     bool
	maxGap    time.Duration
	takeWhole bool
	loops     int64

	macDst, macSrc []macRule
	resolve        bool
	vlan           []vlanRule
	maps           []rewrite.Mapping
	vary           []rewrite.Vary
	ttl            rewrite.TTLOp
	checksums      bool
	pad, cut       units.Size
	resegment      string // "": no; "port": what the port takes; else a size

	skipOversize, skipSnapped, skipMulticast bool
	memory                                   int64
}

func (a *changes) flags(f *pflag.FlagSet) {
	f.BoolVar(&a.merge, "merge", false, "A.pcap+B.pcap: by their times, instead of one behind the other")
	durationVar(f, &a.maxGap, "max-gap", "", 0, "captured gaps that are longer become so long (default as captured)")
	f.BoolVar(&a.takeWhole, "take-whole", false, "of a capture that is cut off take the whole packets (default refuse it)")
	f.Int64Var(&a.loops, "loops", 0, "`number` passes through the capture, then the trial ends")
	f.Var(&values[macRule]{to: &a.macDst, parse: parseDst, kind: "mac"}, "mac-dst", "[PORT=]MAC or gw: destination; repeat (default as captured; gen: gw, else the other port)")
	f.Var(&values[macRule]{to: &a.macSrc, parse: parseMACRule, kind: "mac"}, "mac-src", "[PORT=]MAC: source; repeat (default as captured; gen: the port's own)")
	f.BoolVar(&a.resolve, "resolve", false, "the same as --mac-dst gw: to the gateways of --addr")
	f.Var(&values[vlanRule]{to: &a.vlan, parse: parseVLANRule, kind: "rule"}, "vlan", "[PORT=]ID, push:ID, set:ID, pop or none, with commas between; repeat (default as captured)")
	f.Var(&values[rewrite.Mapping]{to: &a.maps, parse: rewrite.ParseMap, kind: "rule"}, "map", "NET=NET or :PORT=:PORT, as 10.0.0.0/8=172.16.0.0/16, in both directions; repeat")
	f.Var(&values[rewrite.Vary]{to: &a.vary, parse: rewrite.ParseVary, kind: "rule"}, "vary", "FIELD:N: each pass has the next of N values: src-ip, dst-ip, src-port, dst-port; repeat")
	f.Var(&value[rewrite.TTLOp]{to: &a.ttl, parse: rewrite.ParseTTL, kind: "rule"}, "ttl", "N, dec:N, inc:N or min:N: TTL or hop limit")
	f.BoolVar(&a.checksums, "fix-checksums", false, "make checksums of IPv4, TCP, UDP and ICMP right (default as captured)")
	f.Var(&value[units.Size]{to: &a.pad, parse: units.ParseSize, kind: "size"}, "pad", "frames that are shorter get this size, with FCS")
	f.Var(&value[units.Size]{to: &a.cut, parse: units.ParseSize, kind: "size"}, "cut", "frames that are longer get this size, with FCS")
	f.StringVar(&a.resegment, "resegment", "", "`size` TCP that receive offload merged is cut into frames of this size (default what the port takes)")
	f.Lookup("resegment").NoOptDefVal = "port"
	f.BoolVar(&a.skipOversize, "skip-oversize", false, "leave out and count what is too long for the port (default refuse the capture)")
	f.BoolVar(&a.skipSnapped, "skip-snapped", false, "leave out and count what was captured short (default refuse the capture)")
	f.BoolVar(&a.skipMulticast, "skip-multicast", false, "leave out and count what goes to a group or to all")
	f.Var(&value[int64]{to: &a.memory, parse: units.ParseMemory, kind: "size"}, "memory", "captures that take more stream from disk (default half of what is free)")
}

// settle makes of --resolve what it stands for, and refuses what has nothing to do with these sources.
func (a *changes) settle(sources []string) error {
	if a.resolve {
		a.macDst = append([]macRule{{gw: true}}, a.macDst...)
	}
	several := func(s string) bool { return len(sourceFiles(s)) > 1 }
	if a.merge && !slices.ContainsFunc(sources, several) {
		return usagef("--merge: no source has several files; want them as A.pcap+B.pcap")
	}
	_, err := a.rules("", units.MaxSize.Frame()) // sizes that exclude each other
	if err != nil {
		return usageError{err}
	}
	return nil
}

// skips are what is left out.
func (a *changes) skips() preflight.Skips {
	return preflight.Skips{Oversize: a.skipOversize, Snapped: a.skipSnapped, Multicast: a.skipMulticast}
}

// collided refuses mappings that make one flow of two.
func collided(t rewrite.Touched, from string) error {
	if t.Collisions == 0 {
		return nil
	}
	return fmt.Errorf("--map makes one flow of two, which nobody could tell apart: %s, %d packets of %s; want a prefix as large as the one that it replaces",
		t.Collision, t.Collisions, from)
}

// A vlanRule is what becomes of the VLAN tags of what leaves through a port.
type vlanRule struct {
	port string // "": any
	ops  []rewrite.VLANOp
}

func parseVLANRule(s string) (r vlanRule, err error) {
	text := s
	if i := strings.LastIndexByte(s, '='); i >= 0 {
		r.port, text = s[:i], s[i+1:]
	}
	r.ops, err = rewrite.ParseVLAN(text)
	return r, err
}

// segment is the longest frame without FCS that --resegment leaves of a port's; 0: none is cut.
func (a *changes) segment(port int) (int, error) {
	switch a.resegment {
	case "":
		return 0, nil
	case "port":
		return port, nil
	}
	size, err := units.ParseSize(a.resegment)
	if err != nil {
		return 0, fmt.Errorf("--resegment %w", err)
	}
	return size.Frame(), nil
}

// rules are those for the packets of a stream, but for the MAC addresses.
func (a *changes) rules(port string, longest int) (r rewrite.Rules, err error) {
	for _, v := range a.vlan {
		if v.port == "" || v.port == port {
			r.VLAN = append(r.VLAN, v.ops...)
		}
	}
	r.Map, r.TTL, r.Checksums = slices.Clone(a.maps), a.ttl, a.checksums
	if a.pad > 0 {
		r.Pad = a.pad.Frame()
	}
	if a.cut > 0 {
		r.Cut = a.cut.Frame()
	}
	if r.Resegment, err = a.segment(longest); err != nil {
		return r, err
	}
	return r, r.Check()
}
