package pcap

import (
	"fmt"

	"loadtest/packet"
)

// Info is what a capture says about itself. Of a pcapng it is what was read so far: all of it behind the last packet.
type Info struct {
	Format      string // "pcap", "pcapng", or what a variant of pcap is called
	Version     string // as "2.4"
	Order       string // of bytes: "little endian", "big endian"; of a pcapng with sections of each, "mixed"
	Compression string // "gzip", "zstd"; empty: none
	Sections    int    // of a pcapng
	Interfaces  []Interface
}

// An Interface is where packets were captured; a pcap has one.
type Interface struct {
	Name string // empty: not said
	Link uint16 // LINKTYPE_ number
	Snap int    // longest part of a packet that was to be captured, in bytes; 0: not said. A hint: some files have longer ones
	Unit string // of times, as "1 µs", "2^-20 s"
	FCS  int    // bytes of FCS that packets had, and that the Reader takes away
}

// Info is what is known of the capture by now.
func (r *Reader) Info() Info { return r.info }

// link is the link type of a capture without packets.
func (i *Info) link() uint16 {
	if len(i.Interfaces) == 0 {
		return packet.LinkEthernet
	}
	return i.Interfaces[0].Link
}

// order notes the byte order of another section.
func (i *Info) order(o order) {
	switch name := o.String(); i.Order {
	case "", name:
		i.Order = name
	default:
		i.Order = "mixed"
	}
}

// unit is the name of a time of base^-e seconds.
func unit(base, e int) string {
	if base == 10 && e <= 9 {
		power := 1
		for range (9 - e) % 3 {
			power *= 10
		}
		return fmt.Sprintf("%d %s", power, []string{"ns", "µs", "ms", "s"}[(9-e)/3])
	}
	return fmt.Sprintf("%d^-%d s", base, e)
}
