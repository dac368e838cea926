// Command sink takes what arrives at an interface and counts it, as cheaply as it can be done: an XDP program adds one per CPU and drops
// the frame. It is the receiver for comparisons of senders: the same for all, and no part of any.
//
//	frames ─XDP program→ counters ─→ a line with their sum for each line on standard input
//
// It ends, and gives the interface back, when its input does.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strings"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"loadtest/internal/netns"
	"loadtest/internal/xdp"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: sink IF[@NETNS]; each line on standard input is answered with the frames so far")
		os.Exit(2)
	}
	if err := sink(os.Args[1]); err != nil {
		fmt.Fprintf(os.Stderr, "sink: %s: %v\n", os.Args[1], err)
		os.Exit(1)
	}
}

// sink counts at a port until the input ends.
func sink(port string) error {
	counters, err := ebpf.NewMap(&ebpf.MapSpec{Name: "sink", Type: ebpf.PerCPUArray, KeySize: 4, ValueSize: 8, MaxEntries: 1})
	if err != nil {
		return err
	}
	const drop = 1
	p, err := ebpf.NewProgram(&ebpf.ProgramSpec{Name: "sink", Type: ebpf.XDP, License: "GPL", Instructions: asm.Instructions{
		asm.Mov.Imm(asm.R1, 0),
		asm.StoreMem(asm.RFP, -4, asm.R1, asm.Word),
		asm.Mov.Reg(asm.R2, asm.RFP),
		asm.Add.Imm(asm.R2, -4),
		asm.LoadMapPtr(asm.R1, counters.FD()),
		asm.FnMapLookupElem.Call(),
		asm.JEq.Imm(asm.R0, 0, "out"),
		asm.LoadMem(asm.R1, asm.R0, 0, asm.DWord),
		asm.Add.Imm(asm.R1, 1),
		asm.StoreMem(asm.R0, 0, asm.R1, asm.DWord),
		asm.Mov.Imm(asm.R0, drop).WithSymbol("out"),
		asm.Return(),
	}})
	if err != nil {
		return err
	}
	iface, ns, _ := strings.Cut(port, "@")
	var at *xdp.Attachment
	err = netns.Within(ns, func() error {
		i, err := net.InterfaceByName(iface)
		if err == nil {
			at, err = xdp.Attach(p, i.Index, xdp.Native)
		}
		return err
	})
	if err != nil {
		return err
	}
	defer at.Close()
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		var each []uint64
		if err := counters.Lookup(uint32(0), &each); err != nil {
			return err
		}
		sum := uint64(0)
		for _, n := range each {
			sum += n
		}
		fmt.Println(sum)
	}
	return nil
}
