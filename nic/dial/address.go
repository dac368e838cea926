package dial

import (
	"fmt"
	"strings"

	"loadtest/dut"
)

// An address is a name taken apart.
type address struct {
	name    string
	backend string // sim, afpacket, pcap
	network string // sim: name or path
	device  string // interface[@namespace], port or file
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

// parse reads a name. sys is where sysfs(5) is.
func parse(name, sys string) (a address, err error) {
	a.name = name
	if slot, ok := slot(name); ok {
		a.backend = "afpacket"
		a.device, err = pciInterface(name, slot, sys)
		return a, err
	}
	backend, rest, ok := strings.Cut(name, ":")
	if !ok {
		backend, rest = "afpacket", name
	}
	a.backend, a.device = backend, rest
	switch backend {
	case "afpacket", "pcap":
		if rest == "" {
			err = fmt.Errorf("port %q: want %s", name, map[string]string{
				"afpacket": "the name of an interface, as eth2 or eth2@NETNS", "pcap": "a file's name, as pcap:out.pcap"}[backend])
		}
	case "sim":
		i := strings.LastIndexByte(rest, '/')
		if i <= 0 || i == len(rest)-1 {
			return a, fmt.Errorf("port %q: want sim:NETWORK/PORT; networks: %s, or a YAML file", name, strings.Join(dut.Networks(), ", "))
		}
		a.network, a.device = rest[:i], rest[i+1:]
	default:
		err = fmt.Errorf("port %q: no backend %q; there are: afpacket, pcap, sim, and an interface's name alone", name, backend)
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
		case "afpacket":
			real = a.name
		}
	}
	if simulated != "" && real != "" {
		return fmt.Errorf("%s runs in simulated time and %s in real time: a trial has either simulated or real ports "+
			"(pcap:FILE goes with both)", simulated, real)
	}
	return nil
}
