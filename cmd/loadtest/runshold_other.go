//go:build !linux && !darwin && !freebsd

package main

import "os"

// hold does nothing here: a run without an end counts as cut off.
func hold(*os.File) {}

// held says whether a program still writes the file: not known here.
func held(*os.File) bool { return false }
