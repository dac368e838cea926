package link

import "strings"

// Wire is what held frames up on the line or spoilt them. -1: the driver does not tell. Most drivers count from when they were
// loaded, so what matters is the difference between two Wires; a count that some drivers only tell once it is above 0 goes from -1.
type Wire struct {
	PauseRx, PauseTx             int64 // PAUSE frames (IEEE 802.3 annex 31B) and those of priorities (802.1Qbb): what came made this port wait
	CRC                          int64 // frames with a wrong FCS
	Symbol                       int64 // invalid symbols while a frame came
	Length                       int64 // frames that were not whole bytes, or not as long as they said
	FECCorrected, FECUncorrected int64 // blocks of forward error correction
}

// A count is a number of a Wire.
type count int

const (
	pauseRx count = iota
	pauseTx
	crc
	symbol
	length
	fecCorrected
	fecUncorrected
	priorityRx // part of PauseRx: drivers count it beside the PAUSE frames
	priorityTx
	counts
)

// A tally has all counts; -1: not told.
type tally [counts]int64

func untold() (t tally) {
	for i := range t {
		t[i] = -1
	}
	return t
}

// or is t, and u where t does not tell.
func (t tally) or(u tally) tally {
	for i := range t {
		if t[i] < 0 {
			t[i] = u[i]
		}
	}
	return t
}

func (t tally) wire() Wire {
	sum := func(a, b count) int64 {
		if t[a] < 0 || t[b] < 0 {
			return max(t[a], t[b])
		}
		return t[a] + t[b]
	}
	return Wire{sum(pauseRx, priorityRx), sum(pauseTx, priorityTx), t[crc], t[symbol], t[length], t[fecCorrected], t[fecUncorrected]}
}

// A source is how some drivers name a count in ethtool -S: it is the sum of these statistics. # stands for any number.
type source struct {
	count count
	names string
}

// sources lists them. A driver may tell one count under two names, and also tell a part of the port's as its own: so of the sources
// of a count, the first that a driver has is taken.
func sources() []source {
	return []source{
		{pauseRx, "rx_pause_ctrl_phy"},                        // mlx5
		{pauseRx, "port.link_xon_rx port.link_xoff_rx"},       // i40e
		{pauseRx, "link_xon_rx.nic link_xoff_rx.nic"},         // ice
		{pauseRx, "rx_flow_control_xon rx_flow_control_xoff"}, // ixgbe, igb, igc, e1000e
		{pauseRx, "rx_pause_frames"},                          // bnxt
		{pauseRx, "port_rx_pause"},                            // sfc
		{pauseRx, "rx_xon_pause_rcvd rx_xoff_pause_rcvd"},     // tg3
		{pauseRx, "rx_pause"},

		{pauseTx, "tx_pause_ctrl_phy"},
		{pauseTx, "port.link_xon_tx port.link_xoff_tx"},
		{pauseTx, "link_xon_tx.nic link_xoff_tx.nic"},
		{pauseTx, "tx_flow_control_xon tx_flow_control_xoff"},
		{pauseTx, "tx_pause_frames"},
		{pauseTx, "port_tx_pause"},
		{pauseTx, "tx_xon_sent tx_xoff_sent"},
		{pauseTx, "tx_pause"},

		{priorityRx, "rx_prio#_pause"},                                       // mlx5
		{priorityRx, "port.rx_priority_#_xon port.rx_priority_#_xoff"},       // i40e
		{priorityRx, "port.rx_priority_#_xon_rx port.rx_priority_#_xoff_rx"}, // i40e since 5.3
		{priorityRx, "rx_priority_#_xon.nic rx_priority_#_xoff.nic"},         // ice
		{priorityRx, "rx_pb_#_pxon rx_pb_#_pxoff"},                           // ixgbe
		{priorityRx, "rx_pfc_frames"},                                        // bnxt

		{priorityTx, "tx_prio#_pause"},
		{priorityTx, "port.tx_priority_#_xon port.tx_priority_#_xoff"},
		{priorityTx, "port.tx_priority_#_xon_tx port.tx_priority_#_xoff_tx"},
		{priorityTx, "tx_priority_#_xon.nic tx_priority_#_xoff.nic"},
		{priorityTx, "tx_pb_#_pxon tx_pb_#_pxoff"},
		{priorityTx, "tx_pfc_frames"},

		{crc, "rx_crc_errors_phy"},
		{crc, "port.rx_crc_errors"},
		{crc, "rx_crc_errors.nic"},
		{crc, "rx_fcs_err_frames"},
		{crc, "port_rx_bad"},
		{crc, "rx_fcs_errors"},
		{crc, "rx_crc_errors"},

		{symbol, "rx_symbol_err_phy"},
		{symbol, "rx_pcs_symbol_err"},    // bnxt
		{symbol, "port_rx_symbol_error"}, // sfc
		{symbol, "rx_symbol_errors"},

		{length, "rx_in_range_len_errors_phy"},
		{length, "port.rx_length_errors"},
		{length, "rx_length_errors.nic"},
		{length, "rx_align_err_frames"},
		{length, "port_rx_align_error port_rx_length_error"},
		{length, "rx_align_errors rx_in_length_errors"}, // tg3; igb, igc and e1000e have the first alone
		{length, "rx_frame_errors"},                     // ixgbe

		{fecCorrected, "rx_fec_corrected_blocks"}, // bnxt
		{fecCorrected, "fec_corrected_errors"},    // sfc
		{fecUncorrected, "rx_fec_uncorrectable_blocks"},
		{fecUncorrected, "fec_uncorrected_errors"},
	}
}

// A plan says which of a driver's statistics make each count, by their index.
type plan [counts][]int

// planFor reads what a driver calls its statistics.
func planFor(names []string) (p plan) {
	at := make(map[string][]int)
	for i, name := range names {
		at[anyNumber(name)] = append(at[anyNumber(name)], i)
	}
	for _, s := range sources() {
		if p[s.count] != nil {
			continue
		}
		for _, name := range strings.Fields(s.names) {
			p[s.count] = append(p[s.count], at[name]...)
		}
	}
	return p
}

// empty says whether there is nothing to read.
func (p *plan) empty() bool {
	for _, at := range p {
		if at != nil {
			return false
		}
	}
	return true
}

// read makes the counts of the statistics; a driver whose number of them has changed since tells nothing.
func (p *plan) read(statistics []uint64) tally {
	t := untold()
	for c, at := range p {
		for _, i := range at {
			if i < len(statistics) {
				t[c] = max(t[c], 0) + int64(statistics[i])
			}
		}
	}
	return t
}

// anyNumber puts # for a number that stands between or behind letters.
func anyNumber(name string) string {
	var b strings.Builder
	digits := false
	for _, r := range name {
		digit := r >= '0' && r <= '9'
		switch {
		case digit && !digits:
			b.WriteByte('#')
		case !digit:
			b.WriteRune(r)
		}
		digits = digit
	}
	return b.String()
}
