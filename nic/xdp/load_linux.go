package xdp

import (
	"fmt"

	"github.com/cilium/ebpf"

	"loadtest/internal/link"
	"loadtest/nic"
)

const (
	longestFrame = 3408      // of one page, less what the kernel keeps in it
	mostBytes    = 500 << 20 // of all packets: a program reaches no farther into one value
)

// Load makes a program for the packets. Whatever is in its way, the packet socket sends them then.
func (p *player) Load(lanes []nic.Lane) error {
	p.close()
	p.lanes = lanes
	err := p.measure()
	if err == nil {
		err = p.make()
	}
	if err != nil {
		p.close()
		return fmt.Errorf("%w: %w", err, nic.ErrNotPlayed)
	}
	p.run = newRun(p.program.FD(), make([]byte, p.generator.longest))
	return nil
}

// measure says what the packets need, or why they are too much.
func (p *player) measure() error {
	if len(p.lanes) > mostLanes {
		return fmt.Errorf("%d streams out of one queue, the kernel plays %d", len(p.lanes), mostLanes)
	}
	g := &p.generator
	*g = generator{lanes: len(p.lanes), epoch: p.epoch}
	for _, l := range p.lanes {
		for i := range l.Store.Len() {
			size := l.Store.Size(i)
			if size > longestFrame {
				return fmt.Errorf("a packet of %d bytes, the kernel plays up to %d", size, longestFrame)
			}
			g.longest = max(g.longest, size)
			g.blobSize += (size + 7) &^ 7
			g.packets++
		}
	}
	g.blobSize += longestFrame &^ 7
	if g.blobSize > mostBytes {
		return fmt.Errorf("%d MB of packets, the kernel plays up to %d", g.blobSize>>20, mostBytes>>20)
	}
	return nil
}

// make makes all that playing takes.
func (p *player) make() (err error) {
	g := &p.generator
	if err := g.memory(); err != nil {
		return err
	}
	p.stock()
	if err := p.target(); err != nil {
		return err
	}
	if p.program, err = g.program(); err != nil {
		return fmt.Errorf("load the generator: %w", err)
	}
	info, err := p.program.Info()
	if err != nil {
		return fmt.Errorf("ask for the generator's number: %w", err)
	}
	id, _ := info.ID()
	if p.watch, err = watchDriver(g.state, g.lanes, p.index, id); err != nil {
		return err
	}
	p.idle, err = newIdle(p.program)
	return err
}

// memory makes the maps.
func (g *generator) memory() (err error) {
	for _, r := range []struct {
		to   **region
		name string
		size int
	}{{&g.state, "lt_state", stateSize}, {&g.templates, "lt_templates", g.packets * templateSize}, {&g.blob, "lt_packets", g.blobSize},
		{&g.late, "lt_lateness", g.lanes * cellsSize}} {
		if *r.to, err = newRegion(r.name, r.size); err != nil {
			return err
		}
	}
	return nil
}

// stock copies the packets to where the program finds them.
func (p *player) stock() {
	g, i, end := &p.generator, 0, 0
	for _, l := range p.lanes {
		for k := range l.Store.Len() {
			b := l.Store.Frame(k).Data
			t := at[template](g.templates, i*templateSize)
			*t = template{at: uint32(end / 8), length: uint16(len(b)), tag: noTag, gap: uint64(l.Gaps[k])}
			if tag := l.Tags[k]; tag >= 0 {
				t.tag = uint16(tag)
			}
			copy(g.blob.bytes[end:], b)
			end += (len(b) + 7) &^ 7
			i++
		}
	}
}

// target makes the map that redirection goes by.
func (p *player) target() (err error) {
	g := &p.generator
	if g.devmap, err = ebpf.NewMap(&ebpf.MapSpec{Name: "lt_port", Type: ebpf.DevMap, KeySize: 4, ValueSize: 4, MaxEntries: 1}); err != nil {
		return fmt.Errorf("make a devmap: %w", err)
	}
	return link.At(p.name, func(string) error { // the index is one of this namespace
		return g.devmap.Put(uint32(0), uint32(p.index))
	})
}

// close ends all that Load made.
func (p *player) close() {
	g := &p.generator
	p.watch.close()
	p.idle.close()
	if p.program != nil {
		p.program.Close()
	}
	if g.devmap != nil {
		g.devmap.Close()
	}
	for _, r := range []*region{g.state, g.templates, g.blob, g.late} {
		r.close()
	}
	*g, p.watch, p.idle, p.program = generator{}, nil, nil, nil
}
