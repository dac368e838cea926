package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// columns is how wide a list of flags is.
const columns = 120

// A flagGroup is a part of that list.
type flagGroup struct{ title, flags string }

// flagGroups are the flags of verbs that send, where a user looks for them; what is in none comes last.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"Load:", "rate duration loops program step search loss goal precision width retry-count exec per-stream latency slow-start warmup credit drain max-unsent"},
		{"Tests:", "tests latency-time soak burst bursts rest resume"},
		{"Sources and ports:", "both split sizes stream file addr cpu eal seed"},
		{"Captures:", "merge max-gap take-whole skip-oversize skip-snapped skip-multicast memory"},
		{"What leaves:", "tag mac-dst mac-src resolve vlan map vary ttl resegment pad cut fix-checksums"},
		{"Checks:", "dry-run check wait link-wait force-port"},
		{"Output:", "output json bench-file hydra name quiet verbose interval no-color no-save"},
	}
}

// usage is what a help text has behind its first sentence.
func usage(c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s VERB\n", c.CommandPath())
	}
	if c.Runnable() && c.HasParent() {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.Flags().Lookup("stream") != nil {
		b.WriteString("\n  SOURCE  a capture (pcap, pcapng, also gz or zst), several as A+B, - for standard input, none in groups that only receive,\n" +
			"          or packets made here:\n" +
			"          gen[:SIZE][,flows=256][,proto=udp|tcp|icmp][,src=NET][,dst=NET][,vlan=N][,ip6], SIZE as 64 or imix\n" +
			"  A B TX  ports: eth2, eth2@NETNS, 22:00.0, sim:NETWORK/PORT, pcap:FILE; in groups TX and RX are names of your own;\n" +
			"          sim:RUN.jsonl alone: the streams of a saved run, through a model fitted to it\n")
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	verbs(&b, c)
	options(&b, c.LocalFlags())
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nMore about a verb: %s VERB --help\n", c.CommandPath())
	}
	_, err := fmt.Fprint(c.OutOrStderr(), b.String())
	return err
}

// verbs lists what stands below a command.
func verbs(b *strings.Builder, c *cobra.Command) {
	groups := c.Groups()
	if len(groups) == 0 {
		groups = []*cobra.Group{{Title: "Verbs:"}}
	}
	for _, g := range groups {
		title := "\n" + g.Title + "\n"
		for _, v := range c.Commands() {
			if v.GroupID == g.ID && v.IsAvailableCommand() {
				fmt.Fprintf(b, "%s  %-*s %s\n", title, v.NamePadding(), v.Name(), v.Short)
				title = ""
			}
		}
	}
}

// options lists flags, all in the same two columns. Of a verb that sends nothing they are few, and need no groups.
func options(b *strings.Builder, all *pflag.FlagSet) {
	var rest []string
	width := 0
	all.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden && f.Name != "help" {
			rest, width = append(rest, f.Name), max(width, len(written(f)))
		}
	})
	var groups []flagGroup
	if all.Lookup("rate") != nil {
		groups = flagGroups()
	}
	for _, g := range append(groups, flagGroup{"Flags:", strings.Join(rest, " ")}) {
		title := "\n" + g.title + "\n"
		for _, name := range strings.Fields(g.flags) {
			i := slices.Index(rest, name)
			if i < 0 {
				continue
			}
			rest = slices.Delete(rest, i, i+1)
			f := all.Lookup(name)
			fmt.Fprintf(b, "%s%-*s  %s\n", title, width, written(f), wrapped(meaning(f), width+2))
			title = ""
		}
	}
}

// written is a flag as it is given: "  -b, --rate rate".
func written(f *pflag.Flag) string {
	text := "      --" + f.Name
	if f.Shorthand != "" {
		text = "  -" + f.Shorthand + ", --" + f.Name
	}
	switch value, _ := pflag.UnquoteUsage(f); {
	case value == "":
		return text
	case f.NoOptDefVal != "":
		return text + "[=" + value + "]"
	default:
		return text + " " + value
	}
}

// meaning is what a flag does, and its default.
func meaning(f *pflag.Flag) string {
	text := f.Usage
	if rest, named := strings.CutPrefix(text, "`"); named { // after the value's name
		_, text, _ = strings.Cut(rest, "` ")
	}
	if slices.Contains([]string{"", "0", "false", "[]"}, f.DefValue) {
		return text
	}
	return text + " (default " + f.DefValue + ")"
}

// wrapped has line breaks where a text behind an indent would leave the columns.
func wrapped(text string, indent int) string {
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		switch n := len([]rune(word)); {
		case i > 0 && at+1+n > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent + n
		case i > 0:
			b.WriteString(" ")
			at += 1 + n
		default:
			at += n
		}
		b.WriteString(word)
	}
	return b.String()
}
