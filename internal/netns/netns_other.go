//go:build !linux

package netns

import "fmt"

// Within runs f where it is: other systems have no network namespaces.
func Within(ns string, f func() error) error {
	if ns != "" {
		return fmt.Errorf("network namespace %q: needs Linux", ns)
	}
	return f()
}

// Names is empty here.
func Names() []string { return nil }
