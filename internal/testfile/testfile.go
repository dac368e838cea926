// Package testfile is the file that holds all of a test: the verb, its streams, its flags.
//
//	TEST.yaml ─Read→ Test ─Write→ TEST.yaml
//
// It knows the form and no verb: whether a flag is known, and what its value means, says who reads the command line. All values
// are text, as they would be written there: 1e9 stays 1e9, on stays on.
package testfile

// Test is a command line as a file says it.
type Test struct {
	Verb    string // "": any
	Streams []Stream
	Flags   []Flag // in the order of the file, each name once
}

// A Stream is what goes out of one port and is expected at another.
type Stream struct {
	Name   string // "": to be made of the ports
	Source string // a capture or a generator, as on the command line; never "none"
	TX     string
	RX     string  // "": sent only
	Rate   string  // of its own; "": that of --rate
	Share  float64 // factor on --rate; 0 is 1. Only one of Rate and Share is given
	Line   int     // in the file, from 1
}

// A Flag is a flag under its long name, without dashes before it and with "-" for "_".
type Flag struct {
	Name   string
	Values []string // one or, of a flag that may be repeated, several
	Line   int      // in the file, from 1
}
