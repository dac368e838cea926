package report

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// State is how far a run is, for a progress line. Zero fields are left out.
type State struct {
	Label         string  // the size, or the verb
	Done          float64 // 0 to 1; negative: unknown, no bar
	Trial         int
	Load          float64       // wire bits per second
	Low, High     float64       // what is known of the answer: between Low and High
	Factor        bool          // these loads are multiples of the captured pace
	Lost          int64         // in the running trial
	Elapsed, Left time.Duration // of the run
	Of            string        // what Left is left of: "this size"
}

const barWidth = 18

// Progress is one line of at most width characters; what is least needed goes first where there is no room.
func Progress(s State, width int) string {
	head := s.Label
	if s.Done >= 0 {
		head = strings.TrimSpace(head + " " + bar(s.Done, barWidth))
	}
	var parts []string
	sc := scaleFor(max(s.Load, s.High))
	if s.Factor {
		sc = factors()
	}
	if s.Trial > 0 {
		parts = append(parts, fmt.Sprintf("trial %d", s.Trial))
	}
	if s.Load > 0 {
		parts = append(parts, sc.rate(Number(s.Load)))
	}
	if s.High > 0 {
		parts = append(parts, fmt.Sprintf("between %s and %s", sc.number(Number(s.Low)), sc.number(Number(s.High))))
	}
	if s.Lost > 0 {
		parts = append(parts, fmt.Sprintf("lost %d", s.Lost))
	}
	switch {
	case s.Left > 0 && s.Of != "":
		parts = append(parts, brief(s.Left)+" left of "+s.Of)
	case s.Left > 0:
		parts = append(parts, brief(s.Left)+" left")
	case s.Elapsed > 0:
		parts = append(parts, brief(s.Elapsed))
	}
	for n := len(parts); ; n-- {
		line := head
		if n > 0 {
			line = strings.TrimSpace(head + " " + strings.Join(parts[:n], " · "))
		}
		if n == 0 || utf8.RuneCountInString(line) <= width {
			return cut(line, width)
		}
	}
}

// bar is a bar of so many characters, drawn in eighths.
func bar(done float64, width int) string {
	eighths := int(min(max(done, 0), 1) * float64(width) * 8)
	b := strings.Repeat("█", eighths/8)
	if rest := eighths % 8; rest > 0 {
		b += string([]rune("▏▎▍▌▋▊▉")[rest-1])
	}
	return pad(b, width)
}

// brief is a time to the second, as said: "14 s", "1 min 50 s", "3 h 5 min".
func brief(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	}
	return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
}

// cut is the first width characters of s.
func cut(s string, width int) string {
	if r := []rune(s); len(r) > width {
		return string(r[:max(width, 0)])
	}
	return s
}

// A Redraw keeps one line of a terminal up to date. Its methods may be called from any goroutine; nil does nothing but Over's call.
type Redraw struct {
	mu    sync.Mutex
	w     io.Writer
	shown string
}

// NewRedraw draws on w, a terminal.
func NewRedraw(w io.Writer) *Redraw { return &Redraw{w: w} }

// Show replaces the line; it must fit the terminal.
func (r *Redraw) Show(line string) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if line != r.shown {
		r.shown = line
		io.WriteString(r.w, "\r"+line+"\x1b[K")
	}
}

// Clear takes the line away.
func (r *Redraw) Clear() { r.Show("") }

// Over clears the line, calls print, which may write to the same terminal, and draws the line again.
func (r *Redraw) Over(print func() error) error {
	if r == nil {
		return print()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.shown == "" {
		return print()
	}
	io.WriteString(r.w, "\r\x1b[K")
	err := print()
	io.WriteString(r.w, "\r"+r.shown+"\x1b[K")
	return err
}
