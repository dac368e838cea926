//go:build !linux

package device

import "errors"

// Local knows nothing: /sys is Linux'.
func Local() Machine { return Machine{} }

// All lists nothing: only Linux' interfaces are ports.
func All(func(string) string) ([]Device, error) {
	return nil, errors.New("ports of hardware need Linux")
}

// Find finds nothing.
func Find(string, string, func(string) string) (Device, error) {
	return Device{}, errors.New("ports of hardware need Linux")
}
