//go:build !linux

package guard

// Check refuses nothing: only Linux' interfaces are ports.
func Check(Port, func(string) string) error { return nil }

// Hold notes nothing.
func Hold([]Port, string) (release func(), err error) { return func() {}, nil }
