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

// pciDevice is what a PCI device stands for: under a driver of the kernel's its interface, under one for programs, which it names, itself.
func pciDevice(name, slot, sys string) (driver, device string, err error) {
	switch driver, err = driverOf(name, slot, sys); {
	case err != nil:
		return "", "", err
	case forPrograms(driver):
		return driver, slot, nil
	}
	device, err = pciInterface(name, slot, sys)
	return "", device, err
}

// forPrograms says whether a driver hands a device over to programs, as DPDK wants it.
func forPrograms(driver string) bool {
	switch driver {
	case "vfio-pci", "uio_pci_generic", "igb_uio":
		return true
	}
	return false
}

// bifurcated drivers let DPDK in while the kernel has its interface, too (Mellanox).
func bifurcated(driver string) bool { return driver == "mlx5_core" || driver == "mlx4_core" }

// driverOf is the driver that a PCI device is bound to.
func driverOf(name, slot, sys string) (string, error) {
	device := filepath.Join(sys, "bus/pci/devices", slot)
	if _, err := os.Stat(device); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: no such PCI device. All: loadtest ports", name)
	}
	link, err := os.Readlink(filepath.Join(device, "driver"))
	if err != nil {
		return "", fmt.Errorf("%s has no driver, so it is no port; load one: modprobe $(cat %s/modalias)", name, device)
	}
	return filepath.Base(link), nil
}

// bound says whether DPDK may have a PCI device; the tool never binds one itself.
func bound(name, slot, sys string) error {
	driver, err := driverOf(name, slot, sys)
	if err != nil || forPrograms(driver) || bifurcated(driver) {
		return err
	}
	return fmt.Errorf("%s is bound to %s, which keeps DPDK out; either hand it over: driverctl set-override %s vfio-pci; or use its interface: %s",
		name, driver, slot, slot)
}

// pciInterface is the kernel's interface for a PCI device.
func pciInterface(name, slot, sys string) (string, error) {
	driver, err := driverOf(name, slot, sys)
	if err != nil {
		return "", err
	}
	if forPrograms(driver) {
		return "", fmt.Errorf("%s is bound to %s and has no interface; with DPDK: dpdk:%s; or give it back: driverctl unset-override %s", name, driver, slot, slot)
	}
	interfaces, _ := os.ReadDir(filepath.Join(sys, "bus/pci/devices", slot, "net"))
	if len(interfaces) == 0 {
		return "", fmt.Errorf("%s is bound to %s, which has no network interface here", name, driver)
	}
	return interfaces[0].Name(), nil
}
