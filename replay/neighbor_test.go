package replay

import (
	"net/netip"
	"testing"
	"time"

	"loadtest/internal/neigh"
	"loadtest/nic"
	"loadtest/nic/mem"
	"loadtest/packet"
	"loadtest/trial"
)

// Who asks for an address before a trial, in the moment when nobody listens, is answered in it; so is who asks at a port that only
// sends.
func TestQuestionBeforeTrial(t *testing.T) {
	for _, port := range []string{"a", "b"} {
		t.Run(port, func(t *testing.T) {
			a, farA := mem.New(mem.Options{})
			b, farB := mem.New(mem.Options{})
			ask := append([]byte{255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 9, 9, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 9, 9, 10, 0, 0, 1,
				0, 0, 0, 0, 0, 0, 10, 0, 0, 2}, make([]byte, 18)...)
			far := map[string]nic.Device{"a": farA, "b": farB}[port].Queues[0]
			if n, err := far.Send([]packet.Frame{{Data: ask}}); n != 1 || err != nil {
				t.Fatal(n, err)
			}
			host := neigh.NewHost(neigh.Options{MAC: [6]byte{2, 0, 0, 0, 1, 2}, Addresses: []neigh.Address{{Prefix: netip.MustParsePrefix("10.0.0.2/24")}}})
			run(t, Options{Ports: map[string]nic.Device{"a": a, "b": b}, Hosts: map[string]*neigh.Host{port: host},
				Streams: []Stream{{Name: "s", Packets: mixed(), TX: "a", RX: "b"}}},
				trial.Spec{Unit: trial.Packets, Load: []trial.Point{{Load: 1000}}, Duration: 20 * time.Millisecond})
			heard := make([]packet.Frame, 64)
			n, err := far.Recv(heard)
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range heard[:n] {
				if f.Data[12] == 8 && f.Data[13] == 6 && f.Data[21] == 2 && [4]byte(f.Data[28:]) == [4]byte{10, 0, 0, 2} {
					return
				}
			}
			t.Errorf("no answer among %d frames", n)
		})
	}
}
