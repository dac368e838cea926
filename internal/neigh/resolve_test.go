package neigh_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"loadtest/internal/clock"
	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
)

// A gateway at the far end of a wire answers from the nth question for it on; before that it may want an answer itself.
type gateway struct {
	t      *testing.T
	port   nic.Port
	nth    int    // 0: never
	answer []byte // to the tester's questions
	ask    []byte // its own, sent each time it is asked; its answer comes once it was answered
	said   []string
	frames [8]packet.Frame
}

func (g *gateway) Step(now int64) (next int64) {
	n, err := g.port.Recv(g.frames[:])
	if err != nil {
		g.t.Error(err)
	}
	for _, f := range g.frames[:n] {
		text := show(g.t, f.Data)
		question := strings.Contains(text, "ARP 1") || strings.Contains(text, "NS")
		switch {
		case question && g.ask != nil:
			g.say(g.ask, now)
		case question && g.nth == 1, !question && g.ask != nil:
			g.say(g.answer, now)
		case question:
			g.nth--
		}
	}
	return now + ms
}

func (g *gateway) say(b []byte, now int64) {
	now++ // 0 would be unstamped
	g.said = append(g.said, fmt.Sprintf("%d: %x", now, b))
	if n, err := g.port.Send([]packet.Frame{{Data: b, Nanos: now}}); n != 1 || err != nil {
		g.t.Errorf("Send: %d, %v", n, err)
	}
}

func TestResolve(t *testing.T) {
	reply := frame(t, port, device, nil, arp(2, device, addr("198.18.0.1"), port, addr("198.18.0.2")))
	na := frame(t, port, stray, nil, join(v6("fe80::1", "2001:db8::2", 255), advertise("fe80::1", 0x60, stray))...)
	const v4, v6 = "198.18.0.2/16,gw=198.18.0.1", "2001:db8::2/64,gw=fe80::1"
	type end struct {
		address string
		gateway gateway
	}
	for _, tt := range []struct {
		name  string
		ports []end
		err   string
		known []string
		ended int64 // ms; a port that others wait for ends first
	}{
		{"answer", []end{{v4, gateway{nth: 1, answer: reply}}}, "", []string{"198.18.0.1 is :09"}, 1},
		{"answer at the third try", []end{{v4, gateway{nth: 3, answer: reply}}}, "", []string{"198.18.0.1 is :09"}, 2001},
		{"no answer", []end{{v4, gateway{}}}, "eth1: gateway 198.18.0.1 answers no ARP (3 tries, 1 s each)", []string{"198.18.0.1 failed"}, 3000},
		{"no answer in a VLAN", []end{{v4 + ",vlan=7", gateway{nth: 1, answer: reply}}},
			"eth1: gateway 198.18.0.1 answers no ARP in VLAN 7 (3 tries, 1 s each)", []string{"198.18.0.1 failed"}, 3000},
		{"IPv6", []end{{v6, gateway{nth: 2, answer: na}}}, "", []string{"fe80::1 is :77"}, 1001},
		{"no answer of IPv6", []end{{v6, gateway{}}}, "eth1: gateway fe80::1 answers no neighbour solicitation (3 tries, 1 s each)", []string{"fe80::1 failed"}, 3000},
		{"the gateway asks first", []end{{v4, gateway{answer: reply, ask: frame(t, all, device, nil, arp(1, device, addr("198.18.0.9"), nobody, addr("198.18.0.2")))}}},
			"", []string{"198.18.0.1 is :09"}, 2},
		{"two ports", []end{{v4, gateway{nth: 1, answer: reply}}, {v6, gateway{nth: 1, answer: na}}}, "", []string{"198.18.0.1 is :09", "fe80::1 is :77"}, 2},
		{"two ports, one answer", []end{{v4, gateway{}}, {v6, gateway{nth: 1, answer: na}}},
			"eth1: gateway 198.18.0.1 answers no ARP (3 tries, 1 s each)", []string{"198.18.0.1 failed", "fe80::1 is :77"}, 3000},
		{"two ports, no answer", []end{{v4, gateway{}}, {v6, gateway{}}}, "eth1: gateway 198.18.0.1 answers no ARP (3 tries, 1 s each)\n" +
			"eth2: gateway fe80::1 answers no neighbour solicitation (3 tries, 1 s each)", []string{"198.18.0.1 failed", "fe80::1 failed"}, 3001},
		{"no gateway", []end{{"198.18.0.2/16", gateway{}}}, "", nil, 0},
		{"nothing", nil, "", nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var ports []neigh.Attended
			var devices []clock.Stepper
			var got []string
			seen := make(map[string][]string)
			for i := range tt.ports {
				e := &tt.ports[i]
				here, there := mem.Pair(64)
				e.gateway.t, e.gateway.port = t, there.Queues[0]
				devices = append(devices, &e.gateway)
				ports = append(ports, neigh.Attended{Name: fmt.Sprintf("eth%d", i+1), Port: here.Queues[0], Host: neigh.NewHost(tester(t, e.address))})
			}
			c := clock.NewVirtual(devices...)
			err := neigh.Resolve(t.Context(), c, ports, func(name string, b []byte, at int64) {
				seen[name] = append(seen[name], fmt.Sprintf("%d: %x", at, b))
			})
			if text := fmt.Sprint(err); (tt.err != "" || err != nil) && text != tt.err {
				t.Errorf("error %q, want %q", text, tt.err)
			}
			if u := (*neigh.Unresolved)(nil); errors.As(err, &u) != (tt.err != "") || u != nil && !strings.HasPrefix(tt.err, u.Error()) {
				t.Errorf("error %#v", err)
			}
			for i, p := range ports {
				got = append(got, known(p.Host)...)
				if said := tt.ports[i].gateway.said; !slices.Equal(seen[p.Name], said) {
					t.Errorf("saw %q at %s, want %q", seen[p.Name], p.Name, said)
				}
			}
			if !slices.Equal(got, tt.known) {
				t.Errorf("gateways %q, want %q", got, tt.known)
			}
			if c.Now()/ms != tt.ended {
				t.Errorf("ended at %d, want %d ms", c.Now(), tt.ended)
			}
		})
	}
}

// TestResolveAnswersMeanwhile: a port whose gateway is known at once goes on answering while another one still asks.
func TestResolveAnswersMeanwhile(t *testing.T) {
	here, there := mem.Pair(64)
	mute, _ := mem.Pair(64)
	late := &latecomer{port: there.Queues[0], ask: frame(t, all, device, nil, arp(1, device, addr("198.18.0.9"), nobody, addr("198.18.0.2")))}
	err := neigh.Resolve(t.Context(), clock.NewVirtual(late), []neigh.Attended{
		{Name: "eth1", Port: here.Queues[0], Host: neigh.NewHost(tester(t, "198.18.0.2/16"))},
		{Name: "eth2", Port: mute.Queues[0], Host: neigh.NewHost(tester(t, "198.19.0.2/16,gw=198.19.0.1"))},
	}, nil)
	if u := (*neigh.Unresolved)(nil); !errors.As(err, &u) || *u != (neigh.Unresolved{Port: "eth2", Gateway: addr("198.19.0.1")}) {
		t.Errorf("error %v", err)
	}
	if late.answers != 1 {
		t.Errorf("%d answers to who asked after 2 s, want 1", late.answers)
	}
}

// A latecomer asks after 2 s and counts what it hears.
type latecomer struct {
	port    nic.Port
	ask     []byte
	answers int
}

func (l *latecomer) Step(now int64) (next int64) {
	if l.ask != nil && now >= 2000*ms {
		l.port.Send([]packet.Frame{{Data: l.ask, Nanos: now}})
		l.ask = nil
	}
	n, _ := l.port.Recv(make([]packet.Frame, 8))
	l.answers += n
	return now + ms
}

func TestResolveErrors(t *testing.T) {
	attended := func(name string, p nic.Port) neigh.Attended {
		return neigh.Attended{Name: name, Port: p, Host: neigh.NewHost(tester(t, "198.18.0.2/16,gw=198.18.0.1"))}
	}
	gone, _ := mem.Pair(64)
	gone.Queues[0].Close()
	mute, _ := mem.Pair(64)
	c := clock.NewVirtual()
	err := neigh.Resolve(t.Context(), c, []neigh.Attended{attended("eth1", gone.Queues[0]), attended("eth2", mute.Queues[0])}, nil)
	if want := "eth1: port is closed\neth2: gateway 198.18.0.1 answers no ARP (3 tries, 1 s each)"; fmt.Sprint(err) != want || !errors.Is(err, nic.ErrClosed) {
		t.Errorf("error %q, want %q", err, want)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	if err := neigh.Resolve(ctx, clock.NewVirtual(), []neigh.Attended{attended("eth2", mute.Queues[0])}, nil); err != cause {
		t.Errorf("error %v, want %v", err, cause)
	}
}
