package layers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "loadtest"

// layers lists every package. An import goes to a lower number; tests are free. Change the drawing in ARCHITECTURE.md first,
// then this list, then the code.
func layers() [][]string {
	return [][]string{
		{"units", "internal/spell", "internal/yamlbound"},
		{"packet", "internal/clock", "internal/host", "internal/netns", "internal/testfile"},
		{"trial", "pcap", "ipsec", "testbed", "packet/rewrite", "internal/match", "internal/gen", "internal/split", "internal/timeline", "internal/dissect", "internal/guard", "internal/link"},
		{"nic", "load", "search", "report", "genconf", "genpcap", "internal/survey", "internal/pace", "internal/tally", "internal/diagnose", "internal/xdp"},
		{"dut", "nic/mem", "nic/afpacket", "nic/afxdp", "nic/xdp", "nic/dpdk", "nic/netmap", "nic/nictest", "internal/neigh", "internal/preflight", "internal/device", "internal/plan"},
		{"replay", "nic/dial", "internal/doctor", "internal/hello", "internal/lab"},
		{"cmd/loadtest", "bench/sink", "bench/search", "internal/e2e", "internal/layers"},
	}
}

// A listed is what go list says about a package.
type listed struct {
	ImportPath string
	Imports    []string
	Error      *struct{ Err string }
}

// list asks go list for the packages of the module as another system sees them.
func list(t *testing.T, goos string) (all []listed) {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports,Error", module+"/...")
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH=amd64", "CGO_ENABLED=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v: %s", cmd, err, &stderr)
	}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return all
		case err != nil:
			t.Fatalf("%v: %v", cmd, err)
		case p.Error != nil && !strings.Contains(p.Error.Err, "build constraints exclude"):
			t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
		}
		all = append(all, p)
	}
}

// wrong is what is wrong with the packages by these layers.
func wrong(layers [][]string, packages []listed) (faults []string) {
	level := make(map[string]int)
	for n, names := range layers {
		for _, name := range names {
			level[module+"/"+name] = n
		}
	}
	for _, p := range packages {
		n, ok := level[p.ImportPath]
		if !ok {
			faults = append(faults, p.ImportPath+" has no layer: draw it in ARCHITECTURE.md, then list it")
			continue
		}
		for _, imp := range p.Imports {
			m, ok := level[imp]
			switch {
			case !ok || m < n: // a package of ours without a layer is told above, once
			case m == n:
				faults = append(faults, fmt.Sprintf("%s imports %s: sideways, both are layer %d", p.ImportPath, imp, n))
			default:
				faults = append(faults, fmt.Sprintf("%s, layer %d, imports %s: up, layer %d", p.ImportPath, n, imp, m))
			}
		}
	}
	return faults
}

// watch opens what go list reads. A kept test result is good until a file that the test itself opened changes, and go list
// is another process.
func watch(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata"):
			return filepath.SkipDir
		case strings.HasSuffix(name, ".go"):
			_, err = os.ReadFile(name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestImportsPointDown(t *testing.T) {
	watch(t)
	for _, goos := range []string{"linux", "freebsd"} {
		t.Run(goos, func(t *testing.T) {
			for _, fault := range wrong(layers(), list(t, goos)) {
				t.Error(fault)
			}
		})
	}
}

func TestListedPackagesExist(t *testing.T) {
	packages := list(t, "linux")
	for n, names := range layers() {
		for _, name := range names {
			if !slices.ContainsFunc(packages, func(p listed) bool { return p.ImportPath == module+"/"+name }) {
				t.Errorf("layer %d lists %s, which does not exist: take it out of ARCHITECTURE.md and of the list", n, name)
			}
		}
	}
}

func TestWrong(t *testing.T) {
	small := [][]string{{"units", "internal/spell", "internal/yamlbound"}, {"packet", "clock"}, {"nic"}}
	for _, tt := range []struct {
		name, from string
		imports    []string
		want       []string
	}{
		{"down", "loadtest/nic", []string{"loadtest/packet", "loadtest/units", "fmt", "example.org/x"}, nil},
		{"up", "loadtest/packet", []string{"loadtest/nic"}, []string{"loadtest/packet, layer 1, imports loadtest/nic: up, layer 2"}},
		{"sideways", "loadtest/packet", []string{"loadtest/clock"}, []string{"loadtest/packet imports loadtest/clock: sideways, both are layer 1"}},
		{"not listed", "loadtest/misc", nil, []string{"loadtest/misc has no layer: draw it in ARCHITECTURE.md, then list it"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := wrong(small, []listed{{ImportPath: tt.from, Imports: tt.imports}}); !slices.Equal(got, tt.want) {
				t.Errorf("wrong = %q, want %q", got, tt.want)
			}
		})
	}
}

// block is the first fenced block of a section of ARCHITECTURE.md.
func block(t *testing.T, section string) string {
	t.Helper()
	page, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(page), "\n## "+section+"\n")
	_, rest, ok2 := strings.Cut(rest, "\n```\n")
	text, _, ok3 := strings.Cut(rest, "\n```\n")
	if !ok || !ok2 || !ok3 {
		t.Fatalf("ARCHITECTURE.md: section %q has no fenced block", section)
	}
	return text
}

func TestArchitectureLayers(t *testing.T) {
	var want strings.Builder
	for n, names := range layers() {
		fmt.Fprintf(&want, "%d  %s\n", n, strings.Join(names, "  "))
	}
	if got := block(t, "Layers") + "\n"; got != want.String() {
		t.Errorf("ARCHITECTURE.md lists\n%sthe code\n%s", got, &want)
	}
}

func TestArchitectureDrawing(t *testing.T) {
	words := strings.FieldsFunc(block(t, "The drawing"), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	for _, names := range layers() {
		for _, name := range names {
			if !slices.Contains(words, path.Base(name)) {
				t.Errorf("ARCHITECTURE.md: the drawing does not show %s", name)
			}
		}
	}
}
