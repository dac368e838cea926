package afpacket

import (
	"fmt"

	"loadtest/internal/link"
	"loadtest/nic"
	"loadtest/trial"
	"loadtest/units"
)

// info describes a port of that name whose receive ring has so many bytes.
func info(l *link.Link, name string, f link.Facts, ring int) nic.Info {
	mode := fmt.Sprintf("sendmmsg, receive ring of %d MiB", ring>>20)
	merges := l.Merges()
	if merges {
		mode += ", GRO on: TCP segments may arrive merged"
	}
	return nic.Info{
		Name: name, Backend: "afpacket", Driver: l.Driver(), Mode: mode, MAC: f.MAC,
		LineRate: units.BitRate(l.Speed()) * units.Mbps,
		MTU:      f.MTU, MaxFrame: f.MTU + ethernet, NUMA: link.NUMA(f.Parent), Down: !f.Up, Merges: merges,
		Arrived: trial.Kernel, // as it takes the frame over from the driver, or from its receive offload: the kernel's own clock
	}
}
