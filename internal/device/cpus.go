package device

import (
	"fmt"
	"strconv"
	"strings"
)

// CPUs are numbers of CPUs in ascending order, or of memory nodes.
type CPUs []int

// most is how high a number may be: the kernel's own limit.
const most = 8192

// parseCPUs reads the kernel's way of writing them: "0-3,8"; nil if it is not that.
func parseCPUs(text string) (cpus CPUs) {
	for part := range strings.SplitSeq(strings.TrimSpace(text), ",") {
		from, to, isRange := strings.Cut(part, "-")
		first, err := strconv.Atoi(from)
		last := first
		if isRange && err == nil {
			last, err = strconv.Atoi(to)
		}
		if err != nil || first < 0 || last < first || last >= most || len(cpus) > 0 && first <= cpus[len(cpus)-1] {
			return nil
		}
		for ; first <= last; first++ {
			cpus = append(cpus, first)
		}
	}
	return cpus
}

// String writes them the same way.
func (c CPUs) String() string {
	var b strings.Builder
	for i := 0; i < len(c); {
		j := i
		for j+1 < len(c) && c[j+1] == c[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprint(&b, c[i])
		if j > i {
			fmt.Fprintf(&b, "-%d", c[j])
		}
		i = j + 1
	}
	return b.String()
}
