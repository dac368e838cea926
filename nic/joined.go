package nic

import (
	"errors"
	"time"

	"loadtest/packet"
	"loadtest/trial"
)

// Port is all queues of the device as one port: Recv hears each of them, Send goes out of the first. The Send halves of the others
// stay free for owners of their own.
func (d Device) Port() Port {
	if len(d.Queues) == 1 {
		return d.Queues[0]
	}
	return &joined{queues: d.Queues}
}

// A joined is several queues as one port. next is the one to be heard first, so that no busy one silences the others.
type joined struct {
	queues []Port
	next   int
}

func (j *joined) Send(frames []packet.Frame) (int, error) { return j.queues[0].Send(frames) }

func (j *joined) Recv(frames []packet.Frame) (n int, err error) {
	first := j.next
	j.next = (first + 1) % len(j.queues)
	for i := range j.queues { // with no room left, too: each gets back what it lent
		k, err := j.queues[(first+i)%len(j.queues)].Recv(frames[n:])
		if n += k; err != nil {
			return n, err
		}
	}
	return n, nil
}

func (j *joined) Close() error {
	var all []error
	for _, q := range j.queues {
		all = append(all, q.Close())
	}
	return errors.Join(all...)
}

// of is what all queues together can do: what each of them can.
func (j *joined) of() (o Optional) {
	var (
		reporters   reporters
		waiters     []Waiter
		classifiers classifiers
	)
	for _, q := range j.queues {
		part := Of(q)
		if o.Wired == nil { // all queues are of one line
			o.Wired = part.Wired
		}
		if part.Reporter != nil {
			reporters = append(reporters, part.Reporter)
		}
		if part.Waiter != nil {
			waiters = append(waiters, part.Waiter)
		}
		if part.Classifier != nil {
			classifiers = append(classifiers, part.Classifier)
		}
	}
	if len(reporters) == len(j.queues) {
		o.Reporter = reporters
	}
	if len(waiters) == len(j.queues) {
		o.Waiter = &rota{waiters: waiters}
	}
	if len(classifiers) == len(j.queues) {
		o.Classifier = classifiers
	}
	return o
}

type reporters []Reporter

// Status adds up; what concerns the whole interface is told by one queue alone, but for the link.
func (all reporters) Status() (s Status) {
	for _, r := range all {
		q := r.Status()
		s.LinkDown = s.LinkDown || q.LinkDown
		s.Downs = max(s.Downs, q.Downs)
		s.Missed += q.Missed
		s.TxErrors += q.TxErrors
		if q.TxFrames < 0 || s.TxFrames < 0 {
			s.TxFrames = -1
		} else {
			s.TxFrames += q.TxFrames
		}
	}
	return s
}

// A rota waits for one queue after the other, each for a short while: no frame of another one lies long.
type rota struct {
	waiters []Waiter
	next    int
}

const shortly = 50 * time.Microsecond

// Wait waits for the queue whose turn it is.
func (r *rota) Wait(d time.Duration) {
	r.next = (r.next + 1) % len(r.waiters)
	r.waiters[r.next].Wait(min(d, shortly))
}

// classifiers count for themselves what came at their queue: a packet and its copy come at the same one, as they are of one flow.
type classifiers []Classifier

func (all classifiers) Classify(a Await) error {
	for _, c := range all {
		if err := c.Classify(a); err != nil {
			return err
		}
	}
	return nil
}

func (all classifiers) Classified(lane uint8) (sum Arrivals) {
	for _, c := range all {
		a := c.Classified(lane)
		sum.Received += a.Received
		sum.Bytes += a.Bytes
		sum.WireBits += a.WireBits
		sum.Duplicated += a.Duplicated
		sum.Reordered += a.Reordered
		sum.TooOld += a.TooOld
		sum.Top, sum.Last = max(sum.Top, a.Top), max(sum.Last, a.Last)
		sum.Half.Packets += a.Half.Packets
		sum.Half.Bytes += a.Half.Bytes
		sum.Half.WireBits += a.Half.WireBits
	}
	return sum
}

func (all classifiers) Latency(lane uint8, into *trial.Histogram) {
	for _, c := range all {
		c.Latency(lane, into)
	}
}
