package main

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
)

// allowed refuses what the flags and the ports cannot mean together, before anything is opened.
func (c *common) allowed(streams []stream) error {
	if c.drain <= 0 {
		return usagef("--drain 0: want a time above 0")
	}
	if c.credit <= 0 {
		return usagef("--credit 0: want a time above 0")
	}
	if c.loops < 0 {
		return usagef("--loops %d: want how often each capture is sent, 1 or more", c.loops)
	}
	if c.dryRun && c.check {
		return usagef("--dry-run sends nothing, --check says hello: want one of them")
	}
	if len(c.cpus) == 0 {
		return nil
	}
	if slices.ContainsFunc(ports(streams), func(p string) bool { return strings.HasPrefix(p, "sim:") }) {
		return usagef("--cpu: simulated time has no threads to place")
	}
	text, have := onlineCPUs()
	for _, cpu := range c.cpus {
		if !slices.Contains(have, cpu) {
			return usagef("--cpu %d: this machine has CPUs %s", cpu, text)
		}
	}
	return nil
}

// onlineCPUs are the machine's, also as text.
func onlineCPUs() (text string, cpus []int) {
	if b, err := os.ReadFile("/sys/devices/system/cpu/online"); err == nil { // Linux
		text = strings.TrimSpace(string(b))
	}
	cpus, err := parseCPUs(text)
	if err != nil {
		text = fmt.Sprintf("0-%d", runtime.NumCPU()-1)
		cpus, _ = parseCPUs(text)
	}
	return text, cpus
}

// files are what the common flags have written.
func (c *common) files() []output {
	files := []output{{"--json ", c.json}}
	for _, o := range c.outputs {
		files = append(files, output{"-o ", o})
	}
	return files
}

// An output is a file that will be written, and the flag that says so.
type output struct{ flag, path string }

// keepSources refuses to write over a capture that is to be sent, and two outputs into one file; in is standard input.
func keepSources(streams []stream, in io.Reader, outputs []output) error {
	for _, p := range ports(streams) {
		if path, ok := strings.CutPrefix(p, "pcap:"); ok {
			outputs = append(outputs, output{"pcap:", path})
		}
	}
	for i, o := range outputs {
		written, err := os.Stat(o.path)
		if special := err == nil && !written.Mode().IsRegular(); o.path == "" || special {
			continue
		}
		if j := slices.IndexFunc(outputs[:i], func(p output) bool { return p.path == o.path }); j >= 0 {
			return usagef("%s%s and %s%s are one file: want another", outputs[j].flag, o.path, o.flag, o.path)
		}
		if err != nil {
			continue
		}
		for _, s := range streams {
			for _, file := range sourceFiles(s.source) {
				source, err := os.Stat(file)
				if f, ok := in.(*os.File); s.source == stdin && ok {
					source, err = f.Stat()
				}
				if err == nil && os.SameFile(source, written) {
					return usagef("%s is sent by stream %s, and %s%s would write over it: want another file", s.from(), s.name, o.flag, o.path)
				}
			}
		}
	}
	return nil
}

// drawSeed draws a seed that JSON's numbers hold exactly; never 0.
func drawSeed() (uint64, error) {
	var b [8]byte
	for {
		if _, err := rand.Read(b[2:]); err != nil {
			return 0, err
		}
		if seed := binary.BigEndian.Uint64(b[:]); seed != 0 {
			return seed, nil
		}
	}
}
