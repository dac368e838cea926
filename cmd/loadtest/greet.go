package main

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	"loadtest/internal/diagnose"
	"loadtest/internal/hello"
	"loadtest/nic"
	"loadtest/replay"
	"loadtest/report"
	"loadtest/search"
)

// up waits for the links: opening a port may drop its link for seconds.
func (s *session) up(ctx context.Context) error {
	if s.clock.Virtual() {
		return nil
	}
	s.line.Show(report.Progress(report.State{Label: "waiting for links", Done: -1}, width))
	down := nic.WaitUp(ctx, s.devices, s.linkWait)
	s.line.Clear()
	if len(down) > 0 && ctx.Err() == nil {
		seen := diagnose.Seen{}
		for _, name := range down {
			seen.Ports = append(seen.Ports, diagnose.Port{Name: name, Down: true})
		}
		for _, st := range s.streams {
			if !slices.Contains(down, st.tx) && !slices.Contains(down, st.rx) {
				continue
			}
			seen.Streams = append(seen.Streams, diagnose.Stream{Name: st.name, Source: st.from(), TX: st.tx, RX: st.rx})
		}
		return notMeasured(diagnose.Text(seen, s.linkWait))
	}
	return ctxError(ctx, nil)
}

// relink waits for links that went down in a trial.
func (s *session) relink(ctx context.Context) error {
	if down := nic.WaitUp(ctx, s.devices, s.linkWait); len(down) > 0 && ctx.Err() == nil {
		return notMeasured("link down: " + strings.Join(down, ", ") + "; waited " + s.linkWait.String() + " (--link-wait)")
	}
	return ctxError(ctx, nil)
}

// ask says hello once more, as nothing came back in a trial.
func (s *session) ask(ctx context.Context) error {
	s.tell("hello", "", "nothing came back in this trial: does the device answer at all?")
	err := s.greet(ctx)
	if err == nil {
		s.tell("hello", "", "it does; the load was too high")
	}
	return err
}

// greet says hello: a few packets of each stream must come back before there is a load. What the device does to them is told, and
// expected of packets without a tag.
func (s *session) greet(ctx context.Context) error {
	o := hello.Options{Clock: s.clock, Ports: s.devices, Hosts: s.hosts, Addrs: map[string][]netip.Prefix{}, Tag: s.tag,
		Magic: replay.Magic(s.seed), Wait: s.wait, Drain: s.drain}
	for _, a := range s.addrs {
		o.Addrs[a.port] = append(o.Addrs[a.port], a.Prefix)
	}
	for _, st := range s.streams {
		if st.rx == "" || s.devices[st.tx].Info.Backend == "pcap" || s.devices[st.rx].Info.Backend == "pcap" {
			continue
		}
		o.Streams = append(o.Streams, hello.Stream{Name: st.name, Source: st.from(), Packets: st.packets, TX: st.tx, RX: st.rx, Captured: st.captured()})
	}
	if s.wait == 0 || len(o.Streams) == 0 {
		return nil
	}
	_ = s.runner.Close() // it attends to the neighbours between trials; hello does so itself
	s.line.Show(report.Progress(report.State{Label: "hello", Done: -1}, width))
	r, err := hello.Run(ctx, o)
	s.line.Clear()
	if err != nil {
		return ctxError(ctx, err)
	}
	if !r.Complete() {
		return notMeasured(diagnose.Text(r.Seen, r.Elapsed))
	}
	for _, line := range r.Lines() {
		if !slices.Contains(s.said, line) { // once, not for each size
			s.said = append(s.said, line)
			s.tell("hello", "", line)
		}
	}
	for i := range r.Streams {
		if b := &r.Streams[i]; b.Untagged > 0 {
			if err := s.runner.Expect(b.Name, b.Change.Expect); err != nil {
				return usageError{err}
			}
		}
	}
	return nil
}

// tell writes an event of now.
func (s *session) tell(event, port, text string) {
	_ = s.write(&report.Event{AtNs: s.clock.Now() - s.zero, Event: event, Port: port, Text: text}) // the end tells it
}

// unplayed tells once of ports that could send by themselves, and why they do not.
func (s *session) unplayed() {
	if s.toldUnplayed {
		return
	}
	s.toldUnplayed = true
	why := s.runner.NotPlayed()
	for _, name := range slices.Sorted(maps.Keys(why)) {
		s.tell("port", name, fmt.Sprintf("slower than it could be: %v", why[name]))
	}
}

// watchLinks tells of links that go down and come back while a trial runs, until stop is called.
func (s *session) watchLinks() (stop func()) {
	if s.clock.Virtual() {
		return func() {}
	}
	type port struct {
		name string
		nic.Reporter
		seen nic.Status
	}
	var all []port
	for _, name := range ports(s.streams) {
		if r := nic.Of(s.devices[name].Port()).Reporter; r != nil {
			all = append(all, port{name, r, nic.Status{Downs: r.Status().Downs}}) // up: one that is down by now went down since
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			for i := range all {
				p := &all[i]
				now := p.Status()
				if news := linkNews(p.seen, now); news != "" {
					s.tell("link", p.name, news)
				}
				p.seen = now
			}
		}
	}()
	return func() { cancel(); <-done }
}

// linkNews is what became of a link between two looks; "" if nothing did.
func linkNews(was, now nic.Status) string {
	switch {
	case now.LinkDown && !was.LinkDown:
		return "down"
	case was.LinkDown && !now.LinkDown:
		return "up again"
	case now.Downs > was.Downs && !now.LinkDown:
		return "down, and up again"
	}
	return ""
}

// linkEvent tells what a search does about links.
func (w *watcher) linkEvent(e search.Event) {
	switch e.Kind {
	case search.LinkDown:
		w.tell("link", "", strings.TrimPrefix(e.Reason, "link ")+"; the trial does not count; waiting")
	case search.LinkUp:
		w.tell("link", "", "up again; the trial is repeated")
	}
}
