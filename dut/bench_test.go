package dut_test

import (
	"testing"

	"loadtest/nic"
	"loadtest/packet"
)

// BenchmarkVita sends 60-byte frames at the rate of the tunnel through the pair of gateways, and takes them at the other side:
// all that the network costs per packet, in bursts of 32.
func BenchmarkVita(b *testing.B) {
	for _, tt := range []struct {
		name       string
		directions int
	}{{"one direction", 1}, {"two directions", 2}} {
		b.Run(tt.name, func(b *testing.B) { bench(b, "vita-1gbe", tt.directions, 1104) })
	}
}

func BenchmarkRouter(b *testing.B) { bench(b, "router-1mpps", 2, 2000) }

func BenchmarkWire(b *testing.B) {
	n := load(b, "wire")
	benchPorts(b, n, []nic.Port{open(b, n, "a"), open(b, n, "b")}, 2, 100)
}

func bench(b *testing.B, name string, directions int, gap int64) {
	n := load(b, name)
	benchPorts(b, n, []nic.Port{open(b, n, "node1"), open(b, n, "node2")}, directions, gap)
}

func benchPorts(b *testing.B, n stepper, ports []nic.Port, directions int, gap int64) {
	frames := [][]byte{ipv4(60, "172.16.1.1", "172.17.1.7"), ipv4(60, "172.17.1.1", "172.16.1.7")}
	const burst = 32
	var batch, got [burst]packet.Frame
	var received int64
	now := int64(0)
	round := func() {
		start := now
		now += burst * gap
		for d := range directions {
			for i := range batch {
				batch[i] = packet.Frame{Data: frames[d], Nanos: start + int64(i+1)*gap}
			}
			if sent, err := ports[d].Send(batch[:]); sent != burst || err != nil {
				b.Fatalf("sent %d: %v", sent, err)
			}
		}
		n.Step(now)
		for _, p := range ports {
			for {
				k, _ := p.Recv(got[:])
				received += int64(k)
				if k < burst {
					break
				}
			}
		}
	}
	for range 2000 {
		round()
	}
	b.ReportAllocs()
	b.ResetTimer()
	received = 0
	sent := 0
	for sent < b.N {
		round()
		sent += burst * directions
	}
	if received < int64(sent)-1000 {
		b.Fatalf("received %d of %d", received, sent)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(sent), "ns/packet")
	b.ReportMetric(float64(sent)/b.Elapsed().Seconds()/1e6, "Mpps")
}

type stepper interface{ Step(int64) int64 }
