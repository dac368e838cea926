package main

import (
	"encoding/hex"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"loadtest/internal/neigh"
)

// values is a flag that may be given several times.
type values[T any] struct {
	to    *[]T
	parse func(string) (T, error)
	kind  string
	texts []string
}

// Texts are the values as they were given.
func (v *values[T]) Texts() []string { return v.texts }

func (v *values[T]) String() string { return "" }
func (v *values[T]) Type() string   { return v.kind }
func (v *values[T]) Set(s string) error {
	t, err := v.parse(s)
	if err == nil {
		*v.to, v.texts = append(*v.to, t), append(v.texts, s)
	}
	return err
}

// sources are the flags of verbs whose arguments are sources and ports.
type sources struct {
	streams []stream // of --stream, or of the file
	given   []stream // as said, before --both and --split make two of one
	file    string
	both    bool
	split   string
	sizes   string
	addrs   []portAddress
	changes
	force    []string
	wait     time.Duration
	linkWait time.Duration
	check    bool
	dryRun   bool
	outputs  []string
}

func (a *sources) flags(f *pflag.FlagSet) {
	f.Var(&values[stream]{to: &a.streams, parse: parseStream, kind: "stream"}, "stream", "src=SOURCE,tx=PORT[,rx=PORT][,name=N][,rate=R or share=2]; repeat")
	f.StringVarP(&a.file, "file", "f", "", "`file` a test as --dry-run -o TEST.yaml writes it; flags override it")
	f.BoolVar(&a.both, "both", false, "SOURCE A B: send also from B to A, addresses swapped")
	f.StringVar(&a.split, "split", "", "`rule` SOURCE A B: clients out of A, servers out of B: auto, mac, sll, clients' NETs; or no")
	f.Lookup("split").NoOptDefVal = "auto"
	f.StringVar(&a.sizes, "sizes", "", "`list` the whole run once for each, as 64,512,imix (gen sources)")
	f.Var(&values[portAddress]{to: &a.addrs, parse: parseAddress, kind: "address"}, "addr", "PORT=IP/LEN[,gw=IP][,mac=MAC][,vlan=N]: answer ARP, ND, ping; find gw; repeat")
	a.changes.flags(f)
	f.VarP(&values[string]{to: &a.force, parse: func(s string) (string, error) { return s, nil }, kind: "port"}, "force-port", "", "send there despite a default route, your SSH session, another program; repeat")
	a.shared(f)
	f.BoolVar(&a.check, "check", false, "open the ports, find the gateways, say hello; send no load")
	f.BoolVar(&a.dryRun, "dry-run", false, "open no port, send nothing: show streams, loads, time, memory")
	f.VarP(&values[string]{to: &a.outputs, parse: parseOutput, kind: "file"}, "output", "o", "by its ending: .jsonl as --json, .csv a row per stream and trial, .yaml for -f; repeat")
}

// shared are those that need no arguments.
func (a *sources) shared(f *pflag.FlagSet) {
	durationVar(f, &a.wait, "wait", "", 10*time.Second, "how long first packets may take to come back; 0: no hello")
	durationVar(f, &a.linkWait, "link-wait", "", 30*time.Second, "how long a link may be down")
}

// parseOutput takes the endings that can be written.
func parseOutput(s string) (string, error) {
	for _, e := range []string{".jsonl", ".csv", ".yaml"} {
		if strings.HasSuffix(s, e) {
			return s, nil
		}
	}
	return "", fmt.Errorf("%q: want a name that ends in .jsonl, .csv or .yaml", s)
}

// written are the outputs with an ending.
func (a *sources) written(ending string) (files []string) {
	for _, o := range a.outputs {
		if strings.HasSuffix(o, ending) {
			files = append(files, o)
		}
	}
	return files
}

// A portAddress is one --addr.
type portAddress struct {
	port string
	neigh.Address
}

func parseAddress(s string) (portAddress, error) {
	port, a, err := neigh.ParseAddress(s)
	return portAddress{port, a}, err
}

// A macRule is a MAC address for what leaves through a port.
type macRule struct {
	port string // "": any
	gw   bool   // that of the gateway
	mac  [6]byte
}

func parseDst(s string) (macRule, error) {
	if s == "gw" || strings.HasSuffix(s, "=gw") {
		return macRule{port: strings.TrimSuffix(strings.TrimSuffix(s, "gw"), "="), gw: true}, nil
	}
	r, err := parseMACRule(s)
	if err != nil {
		err = fmt.Errorf("%w, or gw", err)
	}
	return r, err
}

func parseMACRule(s string) (r macRule, err error) {
	text := s
	if i := strings.LastIndexByte(s, '='); i >= 0 {
		r.port, text = s[:i], s[i+1:]
	}
	m, err := net.ParseMAC(text)
	if err != nil && len(text) == 12 {
		m, err = hex.DecodeString(text)
	}
	if err != nil || len(m) != 6 {
		return r, fmt.Errorf("%q: want a MAC address, as 02:00:00:00:00:01", s)
	}
	r.mac = [6]byte(m)
	return r, nil
}

// rule is the last rule for a port, of those that name it, else of those that name none; nil: as captured.
func rule(rules []macRule, port string) (found *macRule) {
	for i := range rules {
		if r := &rules[i]; r.port == port || r.port == "" && (found == nil || found.port == "") {
			found = r
		}
	}
	return found
}
