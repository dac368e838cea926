package report

import (
	"loadtest/trial"
	"loadtest/units"
)

// offer notes the load that was sent: that of the stream which, for its share, sent least. A multiple of the captured pace is less
// by what was left unsent.
func (t *Trial) offer(s trial.Spec) {
	for i := range t.Streams {
		st := &t.Streams[i]
		share, ok := s.Share[st.Name]
		if !ok {
			share = 1
		}
		if st.Intended == 0 || st.SentBps == nil || share <= 0 {
			continue // nothing was asked of it
		}
		if s.Unit == trial.Factor {
			t.LoadFactor = least(t.LoadFactor, Number(s.At(0)*(float64(st.Sent)/float64(st.Intended))))
		}
		bps, pps := t.offered(st, share)
		bits, packets := *bps/share, *pps/share
		less := t.RateWireBps == nil || bits < *t.RateWireBps
		if s.Unit == trial.Packets {
			less = t.RatePps == nil || packets < *t.RatePps
		}
		if less {
			t.RateWireBps, t.RatePps = Number(bits), Number(packets)
		}
	}
}

// offered is what a stream sent per second, in wire bits and in packets. The packet at the end of a trial is not cut in two:
// its rest does not make the load higher than the intended one.
func (t *Trial) offered(s *TrialStream, share float64) (bps, pps *float64) {
	bps, pps = s.SentBps, s.SentPps
	if bps == nil || pps == nil || t.DurationNs <= 0 {
		return bps, pps
	}
	switch {
	case t.IntendedWireBps != nil:
		if to := *t.IntendedWireBps * share; t.rest(*bps, to, onePacket(s.SentWire, s.Sent)) {
			return &to, Number(max(*pps*to / *bps, *pps-1e9/float64(t.DurationNs)))
		}
	case t.IntendedPps != nil:
		if to := *t.IntendedPps * share; t.rest(*pps, to, 1) {
			return Number(*bps * to / *pps), &to
		}
	}
	return bps, pps
}

// back is the rate of what came back of a stream, by the same rule: not above what is said to be sent.
func (t *Trial) back(s *TrialStream, share float64) *float64 {
	to, _ := t.offered(s, share)
	if s.ReceivedBps != nil && to != nil && t.DurationNs > 0 &&
		t.rest(*s.ReceivedBps, *to, onePacket(value(s.ReceivedWire), value(s.Received))) {
		return to
	}
	return s.ReceivedBps
}

// rest says whether a rate is above another by less than one packet in the whole trial.
func (t *Trial) rest(rate, to, packet float64) bool {
	return rate > to && (rate-to)*float64(t.DurationNs)/1e9 < packet
}

// onePacket is the size in wire bits of the packet at a trial's end. The books do not say it: it is the mean where all packets
// have the smallest size, else it may be a full frame.
func onePacket(wireBytes, packets int64) float64 {
	if packets <= 0 {
		return 0
	}
	mean := float64(wireBytes) * 8 / float64(packets)
	if mean <= float64(units.WireBits(units.MinFrame)) {
		return mean
	}
	return max(mean, float64(units.WireBits(1514)))
}
