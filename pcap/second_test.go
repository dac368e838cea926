package pcap_test

import (
	"bufio"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"

	"loadtest/packet"
)

// readGopacket is the second opinion: gopacket's readers into a store.
func readGopacket(t testing.TB, path string) *packet.Store {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	s, err := gopacketStore(f)
	must(t, err)
	return s
}

// gopacketStore reads a capture with gopacket.
func gopacketStore(r io.Reader) (*packet.Store, error) {
	from, link, err := openGopacket(r)
	if err != nil {
		return nil, err
	}
	s := &packet.Store{Link: link}
	for {
		data, info, err := from.ReadPacketData()
		if errors.Is(err, io.EOF) {
			return s, nil
		}
		if err != nil {
			return nil, err
		}
		s.Append(data, info.Timestamp.UnixNano(), info.Length)
	}
}

// openGopacket gives gopacket the buffer it advises, and tells it the format, which it wants to be told.
func openGopacket(r io.Reader) (from gopacket.PacketDataSource, link uint16, err error) {
	in := bufio.NewReaderSize(r, 256<<10)
	if magic, _ := in.Peek(4); string(magic) == "\x0a\x0d\x0d\x0a" {
		ng, err := pcapgo.NewNgReader(in, pcapgo.DefaultNgReaderOptions)
		if err != nil {
			return nil, 0, err
		}
		return ng, uint16(ng.LinkType()), nil
	}
	classic, err := pcapgo.NewReader(in)
	if err != nil {
		return nil, 0, err
	}
	return classic, uint16(classic.LinkType()), nil
}
