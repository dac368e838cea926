//go:build linux || darwin || freebsd

package main

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// hold marks the file of a run as being written, until it is closed or the program ends, however that happens. Where that
// cannot be done the run counts as cut off until its end.
func hold(f *os.File) { _ = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) }

// held says whether a program still writes the file.
func held(f *os.File) bool {
	return errors.Is(unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
