package survey

import "loadtest/units"

// Sizes are lengths on the wire, without FCS. Those of frames differ where there was no Ethernet header.
type Sizes struct {
	Min     int      `json:"min_bytes"`  // of frames
	Max     int      `json:"max_bytes"`  // of frames
	Mean    float64  `json:"mean_bytes"` // of packets
	Buckets []Bucket `json:"buckets"`
}

// A Bucket counts frames of a range of sizes, with FCS (RFC 2819, etherStatsPkts). The wire pads what is below 64 bytes.
type Bucket struct {
	From    int   `json:"from_fcs_bytes"`
	To      int   `json:"to_fcs_bytes"` // 0: any
	Packets int64 `json:"packets"`
}

// buckets are those of RMON.
func buckets() []Bucket {
	return []Bucket{{From: 0, To: 64}, {From: 65, To: 127}, {From: 128, To: 255}, {From: 256, To: 511}, {From: 512, To: 1023},
		{From: 1024, To: 1518}, {From: 1519}}
}

func (s *Sizes) add(frame int, first bool) {
	if first || frame < s.Min {
		s.Min = frame
	}
	s.Max = max(s.Max, frame)
	last := len(s.Buckets) - 1
	for i := range s.Buckets[:last] {
		if frame+units.FCS <= s.Buckets[i].To {
			s.Buckets[i].Packets++
			return
		}
	}
	s.Buckets[last].Packets++
}
