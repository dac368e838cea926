package genconf

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"loadtest/testbed"
)

var update = flag.Bool("update", false, "rewrite the expected outputs")

// bed reads a description that is known to be good.
func bed(t *testing.T, path string) *testbed.Testbed {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := testbed.Parse(path, text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func vita(t *testing.T, path string) string {
	t.Helper()
	var b bytes.Buffer
	if err := Vita(&b, bed(t, path)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestVita(t *testing.T) {
	inputs, err := filepath.Glob("../testdata/gentest/*.conf")
	if err != nil || len(inputs) == 0 {
		t.Fatal("no testdata/gentest/*.conf", err)
	}
	for _, in := range inputs {
		path := strings.TrimSuffix(in, ".conf") + ".vita"
		t.Run(filepath.Base(path), func(t *testing.T) {
			got := vita(t, in)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s: -want +got\n%s", path, diff)
			}
		})
	}
}

// tree is a text in YANG's syntax by lines. Entries of lists (what stands more than once side by side) are sorted, as Vita's
// generator has them in the order of a hash table; all else keeps its place.
func tree(t *testing.T, text string) []string {
	t.Helper()
	lines := strings.SplitAfter(text, "\n")
	var read func(depth int) []string
	read = func(depth int) (entries []string) {
		indent := strings.Repeat("  ", depth)
		for len(lines) > 0 && lines[0] != "" && lines[0] != strings.Repeat("  ", max(depth-1, 0))+"}\n" {
			line := lines[0]
			lines = lines[1:]
			if !strings.HasPrefix(line, indent) || strings.HasPrefix(line, indent+" ") {
				t.Fatalf("line %q: want an indent of %d", line, 2*depth)
			}
			if strings.HasSuffix(line, "{\n") {
				line += strings.Join(read(depth+1), "")
				if len(lines) == 0 {
					t.Fatal("no } at the end")
				}
				line += lines[0]
				lines = lines[1:]
			}
			entries = append(entries, line)
		}
		for i := 0; i < len(entries); {
			name, _, _ := strings.Cut(strings.TrimSpace(entries[i]), " ")
			j := i
			for j < len(entries) && strings.HasPrefix(entries[j], indent+name+" ") {
				j++
			}
			slices.Sort(entries[i:j])
			i = j
		}
		return entries
	}
	all := read(0)
	if strings.Join(lines, "") != "" {
		t.Fatalf("left over: %q", lines)
	}
	return all
}

// TestGolden compares with what Vita's own generator wrote.
func TestGolden(t *testing.T) {
	folder := os.Getenv("LOADTEST_GOLDEN")
	if folder == "" {
		t.Skip("LOADTEST_GOLDEN is not set")
	}
	inputs, err := filepath.Glob(filepath.Join(folder, "vita", "*", "gentest.conf"))
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, in := range inputs {
		name := filepath.Base(filepath.Dir(in))
		if strings.HasPrefix(name, "bad-") || strings.HasPrefix(name, "lax-") {
			continue
		}
		compared++
		t.Run(name, func(t *testing.T) {
			want, err := os.ReadFile(filepath.Join(filepath.Dir(in), "vita.conf"))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tree(t, string(want)), tree(t, vita(t, in))); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
	if compared < 33 {
		t.Errorf("%d cases compared: want 33 or more", compared)
	}
}

func TestYang(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"", `''`},
		{"23:00.0", `23:00.0`},
		{"a b", `"a b"`},
		{"a/b", `"a/b"`},
		{"it's", `"it's"`},
		{"{", `"{"`},
		{"}", `"}"`},
		{";", `";"`},
		{`say "x"`, `"say \"x\""`},
		{"a\n\tb", `"a\n\tb"`},
		{`back\slash`, `back\slash`},
		{`back\ slash`, `"back\\ slash"`},
		{"grün", "grün"},
	} {
		if got := yang(tt.in); got != tt.want {
			t.Errorf("yang(%q) = %s, want %s", tt.in, got, tt.want)
		}
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("no room") }

func TestWriteErrors(t *testing.T) {
	b := bed(t, "../testdata/gentest/node1-60.conf")
	var out bytes.Buffer
	err := Write(&out, "cisco", b)
	if want := `no configuration for "cisco": want one of vita`; err == nil || err.Error() != want {
		t.Errorf("Write(cisco) = %v, want %s", err, want)
	}
	if err := Write(&out, "../kinds/vita", b); err == nil {
		t.Error("Write(../kinds/vita): want an error")
	}
	if out.Len() > 0 {
		t.Errorf("%d bytes written beside the error", out.Len())
	}
	if err := Vita(broken{}, b); err == nil || err.Error() != "no room" {
		t.Errorf("Vita to a full disk = %v, want no room", err)
	}
}

func ExampleVita() {
	b, err := testbed.Parse("gentest.conf", []byte("nroutes 1; packet-size 60;"))
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := Vita(os.Stdout, b); err != nil {
		fmt.Println(err)
	}
	// Output:
	// negotiation-ttl 1;
	// private-interface4 {
	//   ip 172.16.0.10;
	//   mac 02:00:00:00:00:01;
	//   nexthop-ip 172.16.1.1;
	//   pci 00:00.0;
	// }
	// public-interface4 {
	//   ip 172.16.0.10;
	//   nexthop-ip 172.16.0.10;
	//   pci 00:00.0;
	// }
	// route4 {
	//   id test1;
	//   gateway {
	//     ip 172.16.0.10;
	//   }
	//   net "172.16.1.0/24";
	//   preshared-key 0000000000000000000000000000000000000000000000000000000000000001;
	//   spi 1001;
	// }
}
