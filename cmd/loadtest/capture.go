package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"loadtest/internal/split"
	"loadtest/internal/survey"
	"loadtest/internal/timeline"
	"loadtest/packet"
	"loadtest/pcap"
)

// A capture is what a SOURCE of files is: read once to look at it, and again for each stream that is made of it.
type capture struct {
	name   string // as messages call it
	files  []string
	line   *timeline.Line // all its packets, with the times at which they are replayed
	told   timeline.Told
	survey *survey.Survey
	each   []*captureFile
	stored bool         // it could be read only once, and is in memory
	v4     bool         // its first IP packet is of IPv4
	epoch  int64        // time of its first packet
	sides  *split.Sides // as --split says; nil: nobody has asked
}

// sourceFiles are the files of a SOURCE: one, or several with + between them.
func sourceFiles(source string) []string {
	if _, err := os.Stat(source); err == nil || !strings.Contains(source, "+") {
		return []string{source}
	}
	return strings.Split(source, "+")
}

// readCaptures looks at the captures, each source once; in is standard input.
func (a *sources) readCaptures(streams []stream, in io.Reader) error {
	known := map[string]*capture{}
	for i := range streams {
		s := &streams[i]
		if s.made != nil || s.packets != nil { // generated
			continue
		}
		if known[s.source] == nil {
			c, err := a.openCapture(s.source, in)
			if err != nil {
				return usageError{err}
			}
			if c.survey.Packets == 0 {
				return usagef("%s holds no packets: nothing to send for stream %s", c.name, s.name)
			}
			known[s.source] = c
		}
		s.capture = known[s.source]
	}
	return nil
}

// openCapture looks at all of a source.
func (a *sources) openCapture(source string, in io.Reader) (*capture, error) {
	c := &capture{name: source, files: sourceFiles(source)}
	if source == stdin {
		c.name = "standard input"
		if terminal(in) {
			return nil, errors.New("standard input is a terminal; want a capture, as < FILE")
		}
	}
	var files []packet.Source
	for _, name := range c.files {
		f, err := a.openFile(c, name, in)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	c.line = timeline.New(files, timeline.Options{Merge: a.merge, MaxGap: a.maxGap})
	return c, c.look()
}

// openFile is one file as a source; what can be read only once is kept.
func (a *sources) openFile(c *capture, name string, in io.Reader) (packet.Source, error) {
	o := pcap.ReadOptions{TakeWhole: a.takeWhole}
	f := &captureFile{path: name, options: o}
	c.each = append(c.each, f)
	if name != stdin {
		info, err := os.Stat(name)
		if err != nil {
			return nil, &pcap.Error{File: name, Err: fmt.Errorf("open: %w", errors.Unwrap(err))}
		}
		if info.Mode().IsRegular() {
			return f, nil
		}
		pipe, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer pipe.Close()
		in = pipe
	} else {
		name = c.name
	}
	c.stored = true
	r, err := pcap.NewReader(name, in, o)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	s, err := r.Store()
	if err != nil {
		return nil, c.fault(err)
	}
	f.read(r)
	return s, nil
}

// A captureFile is a file as a source, which knows what it is once it was read.
type captureFile struct {
	path    string
	options pcap.ReadOptions
	info    pcap.Info
	cut     error
}

func (f *captureFile) read(r *pcap.Reader) { f.info, f.cut = r.Info(), r.Cut() }

func (f *captureFile) Open() (packet.Reader, error) {
	r, err := pcap.Open(f.path, f.options)
	if err != nil {
		return nil, err
	}
	return &captureReader{Reader: r, of: f, tell: f.info.Format == ""}, nil
}

type captureReader struct {
	*pcap.Reader
	of   *captureFile
	tell bool // in the first pass, the only one that is alone
}

func (r *captureReader) Next(to *packet.Record) error {
	err := r.Reader.Next(to)
	if err == io.EOF && r.tell {
		r.of.read(r.Reader)
	}
	return err
}

// look reads all of it once.
func (c *capture) look() error {
	r, err := c.line.Open()
	if err != nil {
		return c.fault(err)
	}
	defer r.Close()
	c.survey = survey.New()
	var rec packet.Record
	var buf []byte
	for ip := false; ; {
		if err := r.Next(&rec); err == io.EOF {
			break
		} else if err != nil {
			return c.fault(err)
		}
		if c.survey.Packets == 0 {
			c.epoch = rec.Nanos
		}
		c.survey.Add(&rec)
		if ip {
			continue
		}
		if buf, err = rec.Ethernet(buf); err == nil {
			h, _ := packet.Parse(buf)
			c.v4 = h.Type == packet.TypeIPv4
			ip = c.v4 || h.Type == packet.TypeIPv6
		}
	}
	c.survey.Done()
	c.told = c.line.Told()
	return nil
}

// fault is an error of reading, with what helps.
func (c *capture) fault(err error) error {
	var e *pcap.Error
	if errors.As(err, &e) && errors.Is(err, io.ErrUnexpectedEOF) && e.Packet > 1 {
		return fmt.Errorf("%w. To send the %d whole packets before it: --take-whole", err, e.Packet-1)
	}
	return err
}

// file is the name of one of its files, for messages about a record.
func (c *capture) file(i uint16) string {
	if int(i) < len(c.files) && c.files[i] != stdin {
		return c.files[i]
	}
	return c.name
}
