package preflight

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"loadtest/units"
)

const (
	columns = 100 // of a terminal
	labels  = 13  // of these, what stands before the facts
)

// Text writes an inspection for people: a block of facts and findings, then one for each port.
func Text(w io.Writer, i Inspection) error {
	var b strings.Builder
	c := &i.Capture
	title(&b, c.Name, c.Format)
	if c.Packets > 0 {
		c.facts(&b)
	}
	row(&b, "memory", i.memory())
	findings(&b, i.Findings)
	for _, p := range i.Ports {
		b.WriteString("\n")
		p.text(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func title(b *strings.Builder, name string, words []string) {
	b.WriteString(strings.TrimSpace(name+"  "+strings.Join(words, ", ")) + "\n")
}

// row is a fact with its label; what is too long goes on below.
func row(b *strings.Builder, label, text string) {
	if text == "" {
		return
	}
	fmt.Fprintf(b, "  %-*s", labels-2, label)
	wrap(b, text, labels)
}

// wrap writes text from a column on, over as many lines as it takes.
func wrap(b *strings.Builder, text string, indent int) {
	at := indent
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteString(" ")
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteString("\n")
}

func findings(b *strings.Builder, all []Finding) {
	for _, f := range all {
		fmt.Fprintf(b, "  %-*s", labels-2, f.Level.String()+":")
		wrap(b, f.Text, labels)
	}
}

func (i *Inspection) memory() string {
	text := bytes(i.Memory)
	if i.Machine > 0 {
		text += " while it is sent; this machine has " + bytes(i.Machine)
	}
	return text
}

// facts are what a capture holds.
func (c *Capture) facts(b *strings.Builder) {
	text := fmt.Sprintf("%d, %s", c.Packets, bytes(c.Bytes))
	if wire := bytes(c.WireBytes); wire != bytes(c.Bytes) {
		text += fmt.Sprintf(" of the %s that they had on the wire", wire)
	}
	row(b, "packets", text)
	var links []string
	for _, l := range c.Links {
		links = append(links, fmt.Sprintf("%s (%d)%s", l.Name, l.Type, of(l.Packets, c.Packets)))
	}
	row(b, "link type", strings.Join(links, ", "))
	c.pace(b)
	c.sizes(b)
	row(b, "protocols", counts(c.Kinds, c.Packets))
	row(b, "also", counts(c.Apart, c.Packets))
	row(b, "flows", c.Flows.text())
	row(b, "sides", c.Sides.text(c.Packets))
	text = fmt.Sprintf("%d%s as they are", c.Tagged.Auto, share(c.Tagged.Auto, c.Packets))
	if c.Tagged.Always != c.Tagged.Auto {
		text += fmt.Sprintf("; with --tag always %d%s", c.Tagged.Always, share(c.Tagged.Always, c.Packets))
	}
	row(b, "taggable", text)
}

// of is a share where it is not all.
func of(n, all int64) string {
	if n == all {
		return ""
	}
	return fmt.Sprintf(" %d%s", n, share(n, all))
}

func share(n, all int64) string {
	if n == 0 || all == 0 {
		return ""
	}
	return fmt.Sprintf(" (%v)", units.Ratio(float64(n)/float64(all)))
}

func counts(kinds []Count, all int64) string {
	var words []string
	for _, k := range kinds {
		if k.Packets > 0 {
			words = append(words, fmt.Sprintf("%s %d%s", k.Kind, k.Packets, share(k.Packets, all)))
		}
	}
	return strings.Join(words, ", ")
}

// pace is when packets came.
func (c *Capture) pace(b *strings.Builder) {
	t := &c.Times
	if t.First == nil {
		row(b, "time", "none")
		return
	}
	text := time.Unix(0, *t.First).UTC().Format("2006-01-02 15:04:05.999999999 UTC")
	if c.timed() {
		text += ", for " + delay(t.Span)
	}
	row(b, "time", text)
	if !c.timed() {
		return
	}
	bps, pps := c.Mean()
	text = fmt.Sprintf("%v, %v", bps, pps)
	for i, p := range t.Peaks {
		text += map[bool]string{true: "; most ", false: ", "}[i == 0] + fmt.Sprintf("%v in %s", units.BitRate(p.Bps), delay(p.Window))
	}
	row(b, "pace", text)
	if t.Median != nil && t.P99 != nil && t.Longest != nil {
		text = fmt.Sprintf("p50 %s, p99 %s, max %s", delay(*t.Median), delay(*t.P99), delay(*t.Longest))
		if t.LongestAt != nil {
			text += fmt.Sprintf(" before record %d", t.LongestAt.Record)
			if t.LongestAt.File != c.Name {
				text += " of " + t.LongestAt.File
			}
		}
		row(b, "gaps", text)
	}
}

// sizes are the lengths as a table with bars.
func (c *Capture) sizes(b *strings.Builder) {
	s := &c.Sizes
	if s.Min == s.Max {
		row(b, "sizes", fmt.Sprintf("all %d B without FCS", s.Min))
		return
	}
	mean := ""
	if s.Mean != nil {
		mean = fmt.Sprintf(", mean %.4g B", *s.Mean)
	}
	row(b, "sizes", fmt.Sprintf("%d to %d B%s, without FCS", s.Min, s.Max, mean))
	most, number, width := int64(0), 0, 0
	for _, k := range s.Buckets {
		most = max(most, k.Packets)
		number, width = max(number, len(fmt.Sprint(k.Packets))), max(width, utf8.RuneCountInString(k.text()))
	}
	for _, k := range s.Buckets {
		if k.Packets == 0 {
			continue
		}
		part := units.Ratio(float64(k.Packets) / float64(c.Packets)).String()
		label := k.text()
		label = strings.Repeat(" ", width-utf8.RuneCountInString(label)) + label
		fmt.Fprintf(b, "%*s%s B  %*d  %8s  %s\n", labels, "", label, number, k.Packets, part, bar(k.Packets, most))
	}
}

func (k Bucket) text() string {
	if k.From == k.To {
		return fmt.Sprint(k.From)
	}
	return fmt.Sprintf("%d–%d", k.From, k.To)
}

// bar has 40 characters for the most, and never none.
func bar(n, most int64) string {
	return strings.Repeat("█", int(max(1, n*40/most)))
}

func (f *Flows) text() string {
	var words []string
	for _, k := range f.Kinds {
		if k.Packets == 0 {
			continue
		}
		text := fmt.Sprintf("%d %s", k.Packets, k.Kind)
		if k.Kind == "TCP" {
			text += fmt.Sprintf(" (%d with both sides, %d with their SYN)", f.TwoSided, f.Opened)
		}
		words = append(words, text)
	}
	if f.AtLeast && words != nil {
		return "at least " + strings.Join(words, ", ")
	}
	return strings.Join(words, ", ")
}

func (s *Sides) text(all int64) string {
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("--split=%s: clients sent %d%s, servers %d%s", s.Rule, s.Client, share(s.Client, all), s.Server, share(s.Server, all))
	n := int64(0)
	for _, k := range s.Undecided {
		n += k.Packets
	}
	if n > 0 {
		text += fmt.Sprintf("; %d of them undecided, went with their MAC address: %s", n, counts(s.Undecided, 0))
	}
	return text
}

// text is a port's block.
func (p *Plan) text(b *strings.Builder) {
	o, t := p.Port, &p.Tally
	words := []string{strings.TrimSpace(o.Backend + " " + o.Mode)}
	if o.LineRate > 0 {
		words = append([]string{strings.TrimSpace(short(o.LineRate) + " " + o.Driver)}, words...)
	} else if o.Driver != "" {
		words = append([]string{o.Driver}, words...)
	}
	if o.MTU > 0 {
		words = append(words, fmt.Sprintf("MTU %d", o.MTU))
	}
	if o.UpKnown && !o.Up {
		words = append(words, "link down")
	}
	title(b, o.Name, words)
	text := fmt.Sprintf("%d of %s", t.Sent, all(t.Packets, "packet", "packets"))
	var left []string
	for _, s := range []struct {
		what string
		Seen
	}{{"without an Ethernet header", t.NoEthernet}, {"too short", t.Short}, {"captured short", t.Snapped}, {"too long", t.Oversize}, {"to groups", t.Groups}} {
		if s.Packets > 0 {
			left = append(left, fmt.Sprintf("%d %s", s.Packets, s.what))
		}
	}
	if left != nil {
		text += "; not " + strings.Join(left, ", ")
	}
	row(b, "sends", text)
	findings(b, p.Findings)
}
