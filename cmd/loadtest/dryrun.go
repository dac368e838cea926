package main

import (
	"fmt"
	"strings"
	"time"

	"loadtest/replay"
	"loadtest/units"
)

// plan says what a run would be, and sends nothing: streams, sizes, loads, time, memory. least and most are the time that trials
// take, of one size; most 0: until Ctrl-C.
func (s *session) plan(loads string, least, most time.Duration) error {
	if err := s.writeTest(); err != nil {
		return err
	}
	s.warnings()
	out := s.command.OutOrStdout()
	memory := int64(0)
	for i := range s.streams {
		st := &s.streams[i]
		word := ""
		if i == 0 {
			word = "streams"
		}
		to := "sent only"
		if st.rx != "" {
			to = "expected at " + st.rx
		}
		frame, tagged := s.mean(*st)
		size := fmt.Sprintf("%.4g B with FCS", frame+units.FCS)
		if len(s.each) > 0 {
			size = "sizes " + s.sizes
		}
		fmt.Fprintf(out, "%-8s %s: %s, %d packets, %s, %.3g %% with room for a tag; out of %s, %s%s%s%s\n", word, st.name, st.from(),
			st.figures.packets, size, 100*tagged, st.tx, to, st.dryShare(), st.drySkipped(), st.dryDisk())
		if memory += st.packets.Bytes() + perPacket*int64(st.packets.Len()) + laneMemory; st.disk {
			memory += replay.ReadAhead
		}
	}
	fmt.Fprintf(out, "%-8s %s\n", "loads", loads)
	runs := time.Duration(s.sized())
	switch {
	case most == 0:
		fmt.Fprintf(out, "%-8s until Ctrl-C\n", "time")
	case least == most:
		fmt.Fprintf(out, "%-8s about %v\n", "time", said(least*runs))
	default:
		fmt.Fprintf(out, "%-8s %v to %v\n", "time", said(least*runs), said(most*runs))
	}
	fmt.Fprintf(out, "%-8s about %.3g MB\n", "memory", float64(memory)/1e6)
	_, err := fmt.Fprintln(out, "nothing was opened or sent")
	return err
}

// laneMemory is what a stream takes beside its packets: two histograms of 2560 cells, its window of sequence numbers.
const laneMemory = 2*2560*8 + 1<<17

func (st *stream) dryShare() string {
	if st.share == 0 || st.share == 1 {
		return ""
	}
	return fmt.Sprintf(", at %.4g of the load", st.share)
}

func (st *stream) drySkipped() string {
	n := st.skipped.Packets()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("; %d packets skipped", n)
}

func (st *stream) dryDisk() string {
	if !st.disk {
		return ""
	}
	return "; streams from disk"
}

// said rounds a time to what one wants to know of it.
func said(d time.Duration) string {
	switch {
	case d >= time.Minute:
		d = d.Round(time.Second)
	case d >= time.Second:
		d = d.Round(100 * time.Millisecond)
	case d >= time.Millisecond:
		d = d.Round(100 * time.Microsecond)
	}
	return strings.Replace(strings.Replace(d.String(), "m0s", "m", 1), "h0m", "h", 1)
}

// passes is "2 passes".
func passes(n int64) string {
	if n == 1 {
		return "1 pass"
	}
	return fmt.Sprintf("%d passes", n)
}

// per is a load in bits and packets of the stream with the longest packets; a multiple of the captured pace in bits of the busiest.
func (s *session) per(r units.Rate) string {
	text, frame, bits := r.String(), 0.0, 0.0
	for _, st := range s.streams {
		f, _ := s.mean(st)
		frame, bits = max(frame, f), max(bits, s.bits(st, r.Kind))
	}
	switch {
	case r.Kind == units.Factor:
		text = fmt.Sprintf("%v (%v mean)", r, units.BitRate(r.Value*bits))
	case r.Kind == units.Wire && len(s.each) == 0:
		text = fmt.Sprintf("%v (%v of %.4g B)", r, units.PacketRate(r.Value/8/(frame+units.Overhead)), frame+units.FCS)
	}
	return text + " per stream"
}
