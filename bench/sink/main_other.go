//go:build !linux

package main

import "log"

func main() { log.Fatal("sink: only Linux has XDP") }
