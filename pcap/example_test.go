package pcap_test

import (
	"bytes"
	"fmt"

	"loadtest/packet"
	"loadtest/pcap"
)

func Example() {
	var made packet.Store
	made.Append(make([]byte, 60), 1_709_208_000_000_001_000, 0)
	made.Append(make([]byte, 42), 1_709_208_000_000_002_000, 1514) // captured short

	var file bytes.Buffer
	if err := pcap.Write(&file, &made); err != nil {
		fmt.Println(err)
	}
	cut := bytes.NewReader(file.Bytes()[:130])

	s, err := pcap.Read("made.pcap", &file)
	fmt.Println(s.Len(), s.Size(1), s.Wire(1), s.Frame(1).Nanos, err)
	_, err = pcap.Read("cut.pcap", cut)
	fmt.Println(err)
	// Output:
	// 2 42 1514 1709208000000002000 <nil>
	// cut.pcap: packet 2 at byte 100: 42 bytes promised, 14 there: unexpected EOF
}
