//go:build !linux

package packet

func huge([]byte) {}
