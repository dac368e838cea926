package main

import (
	"loadtest/nic"
)

// node is the memory node that all devices are at; -1: they are at several, or at none that is known.
func node(devices map[string]nic.Device) int {
	at := -1
	for _, d := range devices {
		switch {
		case d.Info.NUMA < 0 || at >= 0 && d.Info.NUMA != at:
			return -1
		}
		at = d.Info.NUMA
	}
	return at
}
