package netmap

import "fmt"

// plan is what to register for a request: one pair of rings for each descriptor.
func plan(r request, has facts) ([]register, error) {
	tx, rx, all, one := int(has.txRings), int(has.rxRings), uint32(modeAll), uint32(modeOne)
	if r.host {
		tx, rx, all, one = max(1, int(has.hostTx)), max(1, int(has.hostRx)), modeHost, modeOneHost // a module that tells none has one
	}
	switch {
	case tx == 0 || tx > mostRings:
		return nil, fmt.Errorf("the kernel says that it has %d rings to send", tx)
	case r.ring >= max(tx, rx):
		return nil, fmt.Errorf("no ring %d: want %s-0 to %s-%d", r.ring, r.name, r.name, max(tx, rx)-1)
	case rx > tx:
		return nil, fmt.Errorf("it has %d rings to receive and %d to send, want as many: ethtool -L %s rx %d", rx, tx, r.name, tx)
	}
	// Else poll(2) on behalf of Recv would take the tx ring, and the kernel passes over a sync of a ring that is taken.
	const flags = flagNoTxPoll
	if r.ring == every && tx == 1 {
		return []register{{mode: all, flags: flags}}, nil
	}
	var plan []register
	for i := range tx {
		if r.ring != every && r.ring != i {
			continue
		}
		g := register{mode: one, ring: uint16(i), flags: flags}
		if i >= rx { // else the kernel would give it rx ring 0 as well
			g.flags |= flagTxOnly
		}
		plan = append(plan, g)
	}
	return plan, nil
}
