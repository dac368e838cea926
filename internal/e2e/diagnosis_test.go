package e2e

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"loadtest/internal/lab"
	"loadtest/nic/dial"
	"loadtest/packet"
)

// A scene is a device with ports between which something goes wrong. Arguments, commands and messages have short names here: a0, b0
// for ports, a, b, r for namespaces.
type scene struct {
	*lab.Device
	ports map[string]string // nil: a0 and b0 are those of the device
}

func (s scene) names() map[string]string {
	if s.ports != nil {
		return s.ports
	}
	return map[string]string{"a0": s.A, "b0": s.B}
}

// short is a text with short names.
func (s scene) short(text string) string {
	for short, long := range s.names() {
		text = strings.ReplaceAll(text, long, short)
	}
	return strings.ReplaceAll(text, s.Prefix+"-", "")
}

var word = regexp.MustCompile(`[a-z0-9]+`)

// args are the words of a line, with the names of ports in full.
func (s scene) args(line string) []string {
	return strings.Fields(word.ReplaceAllStringFunc(line, func(w string) string {
		if long, ok := s.names()[w]; ok {
			return long
		}
		return w
	}))
}

// sh runs commands in a namespace: "r: ip route …; nft …".
func (s scene) sh(t *testing.T, line string) {
	t.Helper()
	if line == "" {
		return
	}
	namespace, script, _ := strings.Cut(line, ": ")
	if out, err := exec.Command("ip", "netns", "exec", s.Prefix+"-"+namespace, "sh", "-ec", script).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", line, err, out)
	}
}

// say sends a frame out of ra again and again until stop is called.
func (s scene) say(t *testing.T, frame []byte) (stop func()) {
	t.Helper()
	if frame == nil {
		return func() {}
	}
	port := socket("ra@" + s.Prefix + "-r")
	ports, _, err := dial.Open(t.Context(), port)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
			_, _ = ports[port].Queues[0].Send([]packet.Frame{{Data: frame}})
		}
		_ = dial.Close(ports)
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// A cause keeps packets from coming back.
type cause struct {
	name   string
	made   string // by these commands
	says   []byte // a frame that comes out of ra again and again meanwhile
	args   string // of a run that it meets; N is the number of the cause
	file   string // stands for FILE in them
	likely string // what the diagnosis says first: the evidence, and what mends it. #: a number
	also   string // what it says besides
	mend   string // the commands that do what it says; flags in it are given as they are
	again  string // arguments of the run that passes then; "": the same ones
}

// likely is what a diagnosis says first.
func likely(text string) string {
	_, line, _ := strings.Cut(text, "\n     likely: ")
	line, _, _ = strings.Cut(line, "\n")
	return line
}

// numbered is the text that is wanted, with any number for each #.
func numbered(want string) *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(regexp.QuoteMeta(want), "#", `\d+`))
}

// given are the flags in a message that can be given as they are.
func given(message string) (all []string) {
	for _, m := range regexp.MustCompile(`(--[a-z-]+) ([^\s;)]+)`).FindAllStringSubmatch(message, -1) {
		if value := strings.TrimRight(m[2], ".,"); !strings.Contains(value, "IP") && !strings.HasSuffix(value, "=MAC") {
			all = append(all, m[1], value)
		}
	}
	return all
}

// run runs a verb with the words of a line behind its own.
func (s scene) run(t *testing.T, c cause, verb, line, more string) run {
	t.Helper()
	args := s.args(verb + " " + line + " " + more)
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "FILE", c.file)
	}
	return loadtest(t, args...)
}

// told runs a verb that must end with a diagnosis before any load.
func (s scene) told(t *testing.T, c cause, verb string) (likeliest string) {
	t.Helper()
	r := s.run(t, c, verb, c.args, "")
	text := s.short(r.talk)
	if c.file != "" {
		text = strings.ReplaceAll(text, c.file, "FILE")
	}
	likeliest = likely(text)
	if r.code != 3 || len(r.trials()) != 0 || numbered(c.likely).FindString(likeliest) != likeliest || likeliest == "" || !numbered(c.also).MatchString(text) {
		t.Errorf("exit %d after %d trials, want 3 and none; likely\n%s\nwant\n%s\n%s\nin\n%s", r.code, len(r.trials()), likeliest, c.likely, c.also, text)
	}
	return likeliest
}

// passing is a load that a device has no trouble with, whatever else the machine does meanwhile.
const passing = "replay -b 1kpps -D 300ms --max-unsent 90% --drain 500ms --wait 5s"

// all makes one cause after the other, looks whether it is told first, does what the diagnosis says, and looks whether that was right.
func (s scene) all(t *testing.T, causes []cause) {
	for i, c := range causes {
		t.Run(c.name, func(t *testing.T) {
			own := strings.NewReplacer(".N.", fmt.Sprintf(".%d.", i+1)) // of ICMP, Linux sends each sender only a few at once
			c.args, c.again = own.Replace(c.args), own.Replace(c.again)
			s.sh(t, c.made)
			stop := s.say(t, c.says)
			flags := given(s.told(t, c, "find-limit -b 1Mbps --wait 700ms"))
			stop()
			s.sh(t, c.mend)
			if c.again == "" {
				c.again = c.args
			}
			r := s.run(t, c, passing, c.again, strings.Join(flags, " "))
			if r.code != 0 {
				t.Errorf("when it was mended by %q and %q: exit %d\n%s%s", c.mend, flags, r.code, s.short(r.talk), s.short(r.out))
			}
		})
	}
}
