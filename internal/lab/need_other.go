//go:build !linux

package lab

func xsk() error { return linux() }
func bpf() error { return linux() }
