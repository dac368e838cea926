// Package timeline makes of several captures one, with the times at which its packets are replayed: they never go back, and gaps
// beyond a limit are cut. In sequence a file begins where the one before ended, a mean gap of that one later (none if it has a
// single packet, or no times), whatever its own dates are; merged, packets are in the order of their absolute times.
//
//	capture… ─Open→ clock of each ─sequence, merge→ gaps ─limit→ records, Told
package timeline

import (
	"fmt"
	"math"
	"sync"
	"time"

	"loadtest/packet"
)

// Options say how several captures become one.
type Options struct {
	Merge  bool          // by absolute time, in the order of the files where times are equal; else one file after the other
	MaxGap time.Duration // longer gaps are cut to it; 0: no limit
}

// A Line is a Source of several. A record's File is the index of its file.
type Line struct {
	files   []packet.Source
	options Options

	mu   sync.Mutex // protects told
	told Told
}

// New makes a Source of files.
func New(files []packet.Source, o Options) *Line { return &Line{files: files, options: o} }

// Told is what the latest pass that came to its end has seen; each pass sees the same.
func (l *Line) Told() Told {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told
}

// Open begins a pass. Records come with times that never go back: from the first packet's own on, or from 0 if that has none. A
// record without a time has that of the one before; a time of 0 is none, if it is not where a file begins (see FromZero). So the
// times of a single file that is in order and has no gap too long are its own. No line is longer than 292 years, whatever the times are, so differences of times fit into an int64.
//
// Merged, all files are opened at once; else the next when it is reached. Errors are those of the files.
func (l *Line) Open() (packet.Reader, error) {
	if most := math.MaxUint16 + 1; len(l.files) > most {
		return nil, fmt.Errorf("%d captures: want at most %d", len(l.files), most)
	}
	r := &reader{line: l}
	for l.options.Merge && r.next < len(l.files) {
		if err := r.open(); err != nil {
			r.Close()
			return nil, err
		}
	}
	return r, nil
}
