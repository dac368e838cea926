package host

import (
	"encoding/json"
	"os"
	"runtime"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestProc(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  Facts
	}{
		{"nothing to read", nil, Facts{}},
		{"PC", map[string]string{
			"proc/sys/kernel/osrelease":      "6.18.1-amd64\n",
			"proc/sys/kernel/random/boot_id": "4b5c9e0e-0b1f-4f0e-9d65-0d9b1a1f7c11\n",
			"proc/cpuinfo":                   "processor\t: 0\nmodel\t\t: 85\nmodel name\t: Xeon(R) 2.20GHz\n\nprocessor\t: 1\nmodel name\t: other\n",
			"proc/meminfo":                   "MemTotal:        8140412 kB\nMemFree:  12 kB\nMemAvailable:  4711 kB\n",
			"proc/loadavg":                   "0.31 0.52 10.90 1/213 4711\n",
			"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance\n",
		}, Facts{
			Kernel: "6.18.1-amd64", BootID: "4b5c9e0e-0b1f-4f0e-9d65-0d9b1a1f7c11", CPU: "Xeon(R) 2.20GHz",
			Governor: "performance", Memory: 8140412 * 1024, Free: 4711 * 1024, Load: &[3]float64{.31, .52, 10.90},
		}},
		{"board without a model name", map[string]string{
			"proc/cpuinfo":           "processor\t: 0\nCPU part\t: 0xd08\n",
			"proc/device-tree/model": "Board 4 B\x00",
		}, Facts{CPU: "Board 4 B"}},
		{"nonsense", map[string]string{
			"proc/meminfo": "MemTotal: much\n",
			"proc/loadavg": "0.1 NaN 0.2\n",
			"proc/cpuinfo": "model name",
		}, Facts{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root := fstest.MapFS{}
			for name, text := range tt.files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			var got Facts
			got.proc(root)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("proc (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRead(t *testing.T) {
	got := Read()
	hostname, _ := os.Hostname()
	if got.Hostname != hostname || got.OS != runtime.GOOS || got.Arch != runtime.GOARCH || got.Go != runtime.Version() {
		t.Errorf("Read() = %+v: want host %s, %s/%s, %s", got, hostname, runtime.GOOS, runtime.GOARCH, runtime.Version())
	}
	if got.Cores < 1 {
		t.Errorf("Cores = %d, want at least 1", got.Cores)
	}
	if runtime.GOOS == "linux" && (got.Kernel == "" || len(got.BootID) != 36 || got.Load == nil || got.Memory < 1<<20) {
		t.Errorf("Read() = %+v: on Linux want kernel, boot id, load and memory", got)
	}
}

func TestJSON(t *testing.T) {
	for _, tt := range []struct {
		name string
		in   Facts
		want string
	}{
		{"all", Facts{"h", "linux", "amd64", "6.18", "Xeon", 2, "performance", 1024, 512, "id", "go1.26", &[3]float64{1, 2, 3}},
			`{"hostname":"h","os":"linux","arch":"amd64","kernel":"6.18","cpu":"Xeon","cores":2,"cpu_governor":"performance",` +
				`"memory_bytes":1024,"memory_available_bytes":512,"boot_id":"id","go":"go1.26","load_average":[1,2,3]}`},
		{"what is not known is left out", Facts{Hostname: "h", OS: "windows", Arch: "arm64", Cores: 8, Go: "go1.26"},
			`{"hostname":"h","os":"windows","arch":"arm64","cores":8,"go":"go1.26"}`},
	} {
		got, err := json.Marshal(tt.in)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s, %v; want %s", tt.name, got, err, tt.want)
		}
	}
}
