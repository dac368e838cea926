package nic

import (
	"context"
	"maps"
	"slices"
	"time"
)

// How often links are looked at, and how long all have to be up before that is believed: one that comes up may go down again
// while its two ends agree on a speed.
const (
	linkPoll   = 50 * time.Millisecond
	linkSteady = 200 * time.Millisecond
)

// WaitUp waits until the links of all ports are up and stay so for a moment, at most for the limit or until ctx ends. It gives the
// names, sorted, of those that are down then; none of a port that tells no Status.
func WaitUp(ctx context.Context, ports map[string]Device, limit time.Duration) (down []string) {
	began := time.Now()
	steady, seen := began, int64(-1) // since when all are up, and how often links had gone down by then; -1: some are down
	tick := time.NewTicker(linkPoll)
	defer tick.Stop()
	for {
		var downs int64
		down, downs = links(ports)
		now := time.Now()
		if len(down) > 0 {
			downs = -1
		}
		if downs < 0 || downs != seen {
			steady, seen = now, downs
		}
		if now.Sub(steady) >= linkSteady || now.Sub(began) >= limit {
			return down
		}
		select {
		case <-ctx.Done():
			return down
		case <-tick.C:
		}
	}
}

// links are the ports with a queue whose link is down, and how often links went down in all.
func links(ports map[string]Device) (down []string, downs int64) {
	for _, name := range slices.Sorted(maps.Keys(ports)) {
		isDown := false
		for _, q := range ports[name].Queues {
			if r := Of(q).Reporter; r != nil {
				s := r.Status()
				isDown = isDown || s.LinkDown
				downs += s.Downs
			}
		}
		if isDown {
			down = append(down, name)
		}
	}
	return down, downs
}
