package host

import (
	"io/fs"
	"strconv"
	"strings"
)

// proc reads what Linux tells in files (proc(5)); root is /.
func (f *Facts) proc(root fs.FS) {
	text := func(name string) string {
		b, _ := fs.ReadFile(root, name) // what cannot be read stays empty
		return strings.TrimSpace(strings.TrimRight(string(b), "\x00\n"))
	}
	f.Kernel = text("proc/sys/kernel/osrelease")
	f.BootID = text("proc/sys/kernel/random/boot_id")
	f.Governor = text("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	f.CPU = field(text("proc/cpuinfo"), "model name")
	if f.CPU == "" {
		f.CPU = text("proc/device-tree/model") // boards whose cpuinfo names no model
	}
	memory := text("proc/meminfo")
	for name, to := range map[string]*int64{"MemTotal": &f.Memory, "MemAvailable": &f.Free} {
		if kb, err := strconv.ParseInt(strings.TrimSuffix(field(memory, name), " kB"), 10, 64); err == nil {
			*to = kb * 1024
		}
	}
	f.Load = load(text("proc/loadavg"))
}

// field is the value of the first line "name : value".
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == name {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// load reads "0.31 0.52 0.90 1/213 4711"; nil if it is not that.
func load(text string) *[3]float64 {
	fields := strings.Fields(text)
	if len(fields) < 3 {
		return nil
	}
	var l [3]float64
	for i := range l {
		v, err := strconv.ParseFloat(fields[i], 64)
		if err != nil || !(v >= 0 && v < 1e9) {
			return nil
		}
		l[i] = v
	}
	return &l
}
