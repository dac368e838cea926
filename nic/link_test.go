package nic_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"loadtest/nic"
)

// A mute port carries no frames and tells nothing of itself.
type mute struct{ nic.Port }

// A plug is a port whose link goes down and comes up at given times.
type plug struct {
	mute
	since   time.Time
	changes []time.Duration // down, up, down, …; before the first it is up
	counts  bool            // how often it went down
}

func (p plug) Status() (s nic.Status) {
	for i, at := range p.changes {
		if time.Since(p.since) >= at {
			if s.LinkDown = i%2 == 0; s.LinkDown && p.counts {
				s.Downs++
			}
		}
	}
	return s
}

func TestWaitUp(t *testing.T) {
	const ms, s = time.Millisecond, time.Second
	type times = []time.Duration
	for _, tt := range []struct {
		name   string
		eth2   times
		eth3   times // of the second of two queues
		counts bool
		limit  time.Duration
		ends   time.Duration // of the context; 0: never
		after  time.Duration
		down   []string
	}{
		{"up", nil, nil, true, s, 0, 200 * ms, nil},
		{"comes up", times{0, 1010 * ms}, nil, true, 30 * s, 0, 1250 * ms, nil},
		{"both come up", times{0, 400 * ms}, times{0, 3 * s}, true, 30 * s, 0, 3200 * ms, nil},
		{"goes down meanwhile", times{110 * ms, 280 * ms}, nil, true, 30 * s, 0, 500 * ms, nil},
		{"down and up between two looks", times{110 * ms, 120 * ms}, nil, true, 30 * s, 0, 350 * ms, nil},
		{"the same, not counted", times{110 * ms, 120 * ms}, nil, false, 30 * s, 0, 200 * ms, nil},
		{"up and down again", times{0, 500 * ms, 650 * ms, 900 * ms}, nil, true, 30 * s, 0, 1100 * ms, nil},
		{"stays down", times{0}, nil, true, 30 * s, 0, 30 * s, []string{"eth2"}},
		{"both stay down", times{0}, times{0}, true, s, 0, s, []string{"eth2", "eth3"}},
		{"one stays down", times{0, s}, times{0}, true, 2 * s, 0, 2 * s, []string{"eth3"}},
		{"up just before the limit", times{0, 900 * ms}, nil, true, s, 0, s, nil},
		{"no wait, down", times{0}, nil, true, 0, 0, 0, []string{"eth2"}},
		{"no wait, up", nil, nil, true, 0, 0, 0, nil},
		{"interrupted", times{0}, nil, true, 30 * s, 777 * ms, 777 * ms, []string{"eth2"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, began := t.Context(), time.Now()
				if tt.ends > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, tt.ends)
					defer cancel()
				}
				ports := map[string]nic.Device{
					"eth3": {Queues: []nic.Port{plug{since: began}, plug{since: began, changes: tt.eth3, counts: tt.counts}}},
					"eth2": {Queues: []nic.Port{plug{since: began, changes: tt.eth2, counts: tt.counts}}},
					"mute": {Queues: []nic.Port{mute{}}},
				}
				down := nic.WaitUp(ctx, ports, tt.limit)
				if after := time.Since(began); !slices.Equal(down, tt.down) || after != tt.after {
					t.Errorf("down %q after %v; want %q after %v", down, after, tt.down, tt.after)
				}
			})
		})
	}
}
