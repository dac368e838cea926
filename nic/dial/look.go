package dial

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"loadtest/dut"
	"loadtest/nic"
	"loadtest/nic/afpacket"
	"loadtest/nic/afxdp"
	"loadtest/nic/mem"
)

// Look tells what Open would say about each named port, and refuses names as Open does. Nothing is opened, made or changed;
// whether the user may open the ports is not asked.
func Look(names ...string) (map[string]nic.Info, error) {
	addresses, err := parseAll(names)
	if err != nil {
		return nil, err
	}
	networks, _, err := world(addresses)
	if err != nil {
		return nil, err
	}
	infos := make(map[string]nic.Info)
	for _, a := range addresses {
		info, err := look(a, networks)
		if err != nil {
			return nil, err
		}
		info.Name = a.name
		infos[a.name] = info
	}
	return infos, nil
}

func look(a address, networks map[string]*dut.Network) (nic.Info, error) {
	switch a.backend {
	case "sim": // the network is Look's own, and nobody lets its time pass
		d, err := simulated(a, networks)
		return d.Info, err
	case "pcap":
		if err := creatable(a.device); err != nil {
			return nic.Info{}, fmt.Errorf("port %q: %w", a.name, err)
		}
		d, err := mem.Capture(a.name, nowhere{io.Discard}, 0)
		return d.Info, err
	case "afxdp":
		return afxdp.Look(a.device)
	case "dpdk":
		return nic.Info{Backend: "dpdk", NUMA: -1}, nil
	case "netmap": // what its memory is like shows when it is opened
		return nic.Info{Backend: "netmap", NUMA: -1}, nil
	}
	i, err := afpacket.Look(a.device)
	switch { // which way works shows when it is opened
	case err != nil:
	case a.backend == "xdp":
		i.Backend, i.Mode = "xdp", "live frames"
	case a.backend == fastest:
		i.Backend, i.Mode = "fastest of xdp, afxdp, afpacket", ""
	}
	return i, err
}

// creatable says what os.Create would say about a path, permissions aside.
func creatable(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if _, err := os.Stat(filepath.Dir(path) + "/."); err != nil {
		return &fs.PathError{Op: "open", Path: path, Err: errors.Unwrap(err)}
	}
	return nil
}

// nowhere is a file that keeps nothing.
type nowhere struct{ io.Writer }

func (nowhere) Close() error { return nil }

// Interface tells which interface of the kernel a name of a port stands for, by name or PCI address, and in which network
// namespace, "" is the current one. It need not exist. ok is false for other ports.
func Interface(name string) (iface, netns string, ok bool) {
	a, err := parse(name, "/sys")
	if err != nil {
		return "", "", false
	}
	switch {
	case a.kernel():
		iface, netns, _ = strings.Cut(a.device, "@")
		return iface, netns, true
	case a.backend == "netmap" && !strings.HasPrefix(a.device, "vale"): // it takes the interface from the kernel
		iface, _, _ = strings.Cut(a.device, "-")
		return strings.TrimRight(iface, "^*"), "", true
	case a.backend == "dpdk": // net_af_packet and net_af_xdp are loaded as the interface that they name
		for _, argument := range strings.Split(a.device, ",") {
			if name, ok := strings.CutPrefix(argument, "iface="); ok {
				iface, netns, _ = strings.Cut(name, "@")
				return iface, netns, true
			}
		}
	}
	return "", "", false
}

// Kit says whether a name of a port is opened by DPDK.
func Kit(name string) bool {
	a, err := parse(name, "/sys")
	return err == nil && a.backend == "dpdk"
}
