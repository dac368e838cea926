package dial

import (
	"errors"
	"fmt"
	"strings"

	"loadtest/dut"
)

// An address is a name taken apart.
type address struct {
	name    string
	backend string // one of backends, or fastest
	network string // sim: name or path
	device  string // interface[@namespace], port, file, or what DPDK or netmap call it
	driver  string // for programs, that the device is bound to
}

// fastest stands for the fastest way to an interface that works.
const fastest = ""

// kernel says whether the device is an interface of the kernel.
func (a address) kernel() bool {
	switch a.backend {
	case fastest, "afpacket", "afxdp", "xdp":
		return true
	}
	return false
}

// parseAll reads names of ports that a trial can have together.
func parseAll(names []string) (addresses []address, err error) {
	for _, name := range names {
		a, err := parse(name, "/sys")
		if err != nil {
			return nil, err
		}
		addresses = append(addresses, a)
	}
	return addresses, oneClock(addresses)
}

// wants says what stands behind a backend's name and a colon.
func wants(backend string) string {
	switch backend {
	case "afpacket", "afxdp", "xdp":
		return "the name or PCI address of an interface, as " + backend + ":eth2 or " + backend + ":eth2@NETNS"
	case "pcap":
		return "a file's name, as pcap:out.pcap"
	case "dpdk":
		return "a PCI address or a virtual device, as dpdk:22:00.0 or dpdk:net_af_packet0,iface=eth2"
	case "netmap":
		return "an interface, as netmap:eth2, netmap:eth2-0 (one ring) or netmap:eth2^ (host rings)"
	case "sim":
		return "sim:NETWORK/PORT; networks: " + strings.Join(dut.Networks(), ", ") + ", or a YAML file, or RUN.jsonl: a model of that run"
	}
	return ""
}

// parse reads a name. sys is where sysfs(5) is.
func parse(name, sys string) (a address, err error) {
	a.name = name
	if slot, ok := slot(name); ok {
		a.driver, a.device, err = pciDevice(name, slot, sys)
		if a.backend = fastest; a.driver != "" {
			a.backend = "dpdk"
		}
		return a, err
	}
	if strings.HasPrefix(name, "vale") && strings.Contains(name, ":") { // netmap's own words
		a.backend, a.device = "netmap", name
		return a, nil
	}
	backend, rest, ok := strings.Cut(name, ":")
	if !ok {
		a.backend, a.device = fastest, name
		if name == "" {
			err = errors.New(`port "": want the name of an interface, as eth2 or eth2@NETNS`)
		}
		return a, err
	}
	if wants(backend) == "" {
		return a, fmt.Errorf("port %q: no backend %q; there are: afpacket, afxdp, xdp, dpdk, netmap, pcap, sim, and an interface's name alone", name, backend)
	}
	a.backend, a.device = backend, rest
	slot, isSlot := slot(rest)
	switch {
	case rest == "":
		return a, fmt.Errorf("port %q: want %s", name, wants(backend))
	case backend == "sim":
		i := strings.LastIndexByte(rest, '/')
		if end := strings.Index(rest, runEnding+"/"); end >= 0 {
			i = end + len(runEnding)
		}
		if i <= 0 || i == len(rest)-1 {
			return a, fmt.Errorf("port %q: want %s", name, wants(backend))
		}
		a.network, a.device = rest[:i], rest[i+1:]
	case isSlot && backend == "dpdk":
		a.device = slot
		err = bound(name, slot, sys)
	case isSlot && a.kernel():
		a.device, err = pciInterface(name, slot, sys)
	case backend == "dpdk" && !strings.ContainsAny(rest, "_,"):
		err = fmt.Errorf("port %q: want %s. An interface of the kernel: dpdk:net_af_packet0,iface=%s, or without DPDK: %s", name, wants(backend), rest, rest)
	}
	return a, err
}

// oneClock refuses ports that no trial can have together.
func oneClock(addresses []address) error {
	var simulated, real string
	for _, a := range addresses {
		switch a.backend {
		case "sim":
			simulated = a.name
		case "pcap":
		default:
			real = a.name
		}
	}
	if simulated != "" && real != "" {
		return fmt.Errorf("%s runs in simulated time and %s in real time: a trial has either simulated or real ports "+
			"(pcap:FILE goes with both)", simulated, real)
	}
	return nil
}
