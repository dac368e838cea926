package dial

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// slotPattern is a PCI address, its domain optional; the pattern is Snabb's.
var slotPattern = regexp.MustCompile(`^([0-9a-fA-F]{4}:)?[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7]$`)

// slot is the full PCI address that a name stands for.
func slot(name string) (string, bool) {
	m := slotPattern.FindStringSubmatch(name)
	if m == nil {
		return "", false
	}
	if m[1] == "" {
		name = "0000:" + name
	}
	return name, true
}

// pciInterface is the kernel's interface for a PCI device.
func pciInterface(name, slot, sys string) (string, error) {
	device := filepath.Join(sys, "bus/pci/devices", slot)
	if _, err := os.Stat(device); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: no such PCI device. All: lspci -D", name)
	}
	link, err := os.Readlink(filepath.Join(device, "driver"))
	driver := filepath.Base(link)
	if err != nil {
		return "", fmt.Errorf("%s has no driver, so it is no port; load one: modprobe $(cat %s/modalias)", name, device)
	}
	switch driver {
	case "vfio-pci", "uio_pci_generic", "igb_uio":
		return "", fmt.Errorf("%s is bound to %s and this build has no DPDK; give it back: driverctl unset-override %s", name, driver, slot)
	}
	interfaces, _ := os.ReadDir(filepath.Join(device, "net"))
	if len(interfaces) == 0 {
		return "", fmt.Errorf("%s is bound to %s, which has no network interface here", name, driver)
	}
	return interfaces[0].Name(), nil
}
