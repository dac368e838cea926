package doctor

import (
	"fmt"
	"slices"
	"strings"

	"loadtest/internal/device"
)

// interrupts judges where those of the port that are in use come to.
func (p *port) interrupts() {
	var far, disturbing, all device.CPUs // CPUs
	var farIRQs, disturbingIRQs []int
	used := 0
	for _, irq := range p.IRQs {
		if irq.Count == 0 || len(irq.CPUs) == 0 {
			continue
		}
		used++
		for _, cpu := range irq.CPUs {
			all = with(all, cpu)
		}
		if i := slices.IndexFunc(irq.CPUs, func(cpu int) bool { return slices.Contains(p.cpus, cpu) }); i >= 0 {
			disturbing, disturbingIRQs = with(disturbing, irq.CPUs[i]), append(disturbingIRQs, irq.Number)
		} else if i := slices.IndexFunc(irq.CPUs, p.away); i >= 0 {
			far, farIRQs = with(far, irq.CPUs[i]), append(farIRQs, irq.Number)
		}
	}
	if disturbing != nil {
		p.add(Warning, fmt.Sprintf("has %s on %s of --cpu", irqs(disturbingIRQs), cpus(disturbing)), "each one stops the thread that sends or receives there",
			p.move(disturbingIRQs))
	}
	if far != nil {
		p.add(Warning, fmt.Sprintf("is on memory node %d, and has %s on %s of another", p.NUMA, irqs(farIRQs), cpus(far)),
			"each packet crosses from one processor to the other", p.move(farIRQs))
	}
	if q := p.Settings.Queues; used > 2 && len(all) == 1 && q != nil && q.Combined+q.Rx > 1 && len(p.build.Machine.CPUs) > 1 {
		p.add(Note, fmt.Sprintf("has all its %d interrupts on %s", used, cpus(all)), "one core receives all of it, whatever the number of queues", "")
	}
}

// away says whether a CPU is on another memory node than the port.
func (p *port) away(cpu int) bool {
	node := p.build.Machine.Node(cpu)
	return p.NUMA >= 0 && node >= 0 && node != p.NUMA
}

// move is how interrupts are moved to CPUs that are near and have nothing to do; "" if there are none.
func (p *port) move(irqs []int) string {
	var free device.CPUs
	for _, c := range p.build.Machine.CPUs {
		if !slices.Contains(p.cpus, c.ID) && !slices.Contains(p.build.Machine.Isolated, c.ID) && !p.away(c.ID) {
			free = with(free, c.ID)
		}
	}
	if free == nil {
		return ""
	}
	return fmt.Sprintf("for i in %s; do echo %v > /proc/irq/$i/smp_affinity_list; done", strings.Trim(fmt.Sprint(irqs), "[]"), free)
}

// threads judges whether the CPUs that are given to the port's threads are near it.
func (p *port) threads() {
	var far, near device.CPUs
	for _, cpu := range p.cpus {
		if p.away(cpu) {
			far = with(far, cpu)
		}
	}
	for _, c := range p.build.Machine.CPUs {
		if !p.away(c.ID) {
			near = with(near, c.ID)
		}
	}
	if far != nil && near != nil {
		p.add(Warning, fmt.Sprintf("is on memory node %d, %s of --cpu on another", p.NUMA, cpus(far)),
			fmt.Sprintf("each packet crosses from one processor to the other; near are %v", near), "")
	}
}

// with adds a CPU to some, in order and once.
func with(c device.CPUs, cpu int) device.CPUs {
	i, found := slices.BinarySearch(c, cpu)
	if found {
		return c
	}
	return slices.Insert(c, i, cpu)
}

func cpus(c device.CPUs) string {
	if len(c) == 1 {
		return "CPU " + c.String()
	}
	return "CPUs " + c.String()
}

func irqs(numbers []int) string {
	if len(numbers) == 1 {
		return fmt.Sprintf("interrupt %d", numbers[0])
	}
	return "interrupts " + strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ", ")
}
