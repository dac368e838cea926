package afpacket_test

import (
	"testing"

	"loadtest/internal/lab"
	"loadtest/nic/afpacket"
	"loadtest/packet"
)

// BenchmarkSend sends into a veth pair that nobody listens to: the far end's kernel drops in the sender's time.
func BenchmarkSend(b *testing.B) {
	lab.Need(b, "netns", "afpacket")
	wire := lab.Veth(b)
	p := open(b, wire.A, afpacket.Options{}).Queues[0]
	batch := make([]packet.Frame, 64)
	for i := range batch {
		batch[i] = frame(60)
	}
	b.ReportAllocs()
	sent := 0
	for b.Loop() {
		n, err := p.Send(batch)
		if err != nil {
			b.Fatal(err)
		}
		sent += n
	}
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds()/1e6, "Mpps")
}

// BenchmarkSendRecv has both ends in one goroutine.
func BenchmarkSendRecv(b *testing.B) {
	lab.Need(b, "netns", "afpacket")
	wire := lab.Veth(b)
	p, q := open(b, wire.A, afpacket.Options{}).Queues[0], open(b, wire.B, afpacket.Options{}).Queues[0]
	batch, f := make([]packet.Frame, 64), make([]packet.Frame, 256)
	for i := range batch {
		batch[i] = frame(60)
	}
	b.ReportAllocs()
	got := 0
	for b.Loop() {
		if _, err := p.Send(batch); err != nil {
			b.Fatal(err)
		}
		n, _ := q.Recv(f)
		got += n
	}
	b.ReportMetric(float64(got)/b.Elapsed().Seconds()/1e6, "Mpps")
}
