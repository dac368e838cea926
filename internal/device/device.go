// Package device tells what ports a machine has, what they are set to, and what the machine gives them to work with.
//
//	/sys, /proc ─→ Machine, PCI devices ─┬→ Device ─Ways→ which backends open it, fastest first
//	rtnetlink, ethtool, guard, by netns ─┘
//
// It only looks. Nothing is opened for packets, and nothing is changed.
package device

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"loadtest/internal/guard"
	"loadtest/internal/link"
	"loadtest/internal/xdp"
)

// A Device is an Ethernet interface, a network device on the PCI bus, or both. What cannot be told is empty, nil or -1.
type Device struct {
	Name, Namespace string // of the interface; Name "": the kernel has none, or not where it can be seen. Namespace "": the current one
	Kind            string // rtnetlink's, as veth or bridge; "device" is hardware's

	PCI, Driver, IOMMU string // address, bound driver, number of the IOMMU group
	NUMA               int    // memory node, -1: none
	IRQs               []IRQ

	Set, Up     bool   // set up; and there is a carrier, too
	Speed       uint32 // Mbit/s, 0: not known
	MAC         [6]byte
	MTU         int
	Promiscuous bool
	Addresses   []netip.Prefix
	Settings    link.Settings
	Wire        link.Wire

	XDP         *uint32       // id of the XDP program that is attached
	XDPFeatures *xdp.Features // since Linux 6.3

	Refused []guard.Reason // why a run would not load it
}

// An IRQ is an interrupt of a device.
type IRQ struct {
	Number int
	Name   string
	CPUs   CPUs  // that get it
	Count  int64 // since the machine's start, on all of them
}

// Port is the name of the device as a port: eth2, eth2@NETNS, or its PCI address.
func (d *Device) Port() string {
	switch {
	case d.Name == "":
		return d.PCI
	case d.Namespace == "":
		return d.Name
	}
	return d.Name + "@" + d.Namespace
}

// Line is the device's speed, as rates are written: 10G; "" if it is not known.
func (d *Device) Line() string {
	switch {
	case d.Speed == 0:
		return ""
	case d.Speed < 1000:
		return fmt.Sprintf("%dM", d.Speed)
	}
	return strconv.FormatFloat(float64(d.Speed)/1000, 'f', -1, 64) + "G"
}

// In is how a command is called where the interface is.
func (d *Device) In(format string, a ...any) string {
	command := fmt.Sprintf(format, a...)
	switch {
	case d.Namespace == "":
		return command
	case strings.Contains(d.Namespace, "/"): // a path
		return "nsenter --net=" + d.Namespace + " " + command
	}
	return "ip netns exec " + d.Namespace + " " + command
}
