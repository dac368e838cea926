package link

import (
	"fmt"
	"strings"
	"testing"
)

// TestPlanFor: the statistics of a driver count 1, 2, 4, 8 … in their order, so a sum says of which it is made.
func TestPlanFor(t *testing.T) {
	for _, tt := range []struct {
		driver, names string
		want          Wire
	}{
		{"i40e", "rx_crc_errors port.rx_crc_errors port.rx_length_errors port.link_xon_rx port.link_xoff_rx port.link_xon_tx port.link_xoff_tx " +
			"port.rx_priority_0_xon_rx port.rx_priority_0_xoff_rx port.rx_priority_7_xoff_rx port.rx_priority_0_xon_2_xoff port.tx_priority_3_xon_tx",
			Wire{PauseRx: 8 + 16 + 128 + 256 + 512, PauseTx: 32 + 64 + 2048, CRC: 2, Symbol: -1, Length: 4, FECCorrected: -1, FECUncorrected: -1}},
		{"i40e before 5.3", "port.link_xon_rx port.rx_priority_0_xon port.rx_priority_1_xoff port.rx_priority_1_xon_2_xoff port.tx_priority_0_xoff",
			Wire{PauseRx: 1 + 2 + 4, PauseTx: 16, CRC: -1, Symbol: -1, Length: -1, FECCorrected: -1, FECUncorrected: -1}},
		{"ice", "rx_bytes.nic link_xon_rx.nic link_xon_tx.nic link_xoff_rx.nic link_xoff_tx.nic rx_length_errors.nic rx_crc_errors.nic " +
			"rx_priority_0_xoff.nic tx_priority_5_xon.nic illegal_bytes.nic",
			Wire{PauseRx: 2 + 8 + 128, PauseTx: 4 + 16 + 256, CRC: 64, Symbol: -1, Length: 32, FECCorrected: -1, FECUncorrected: -1}},
		{"ixgbe", "rx_crc_errors rx_frame_errors rx_long_length_errors tx_flow_control_xon rx_flow_control_xon tx_flow_control_xoff rx_flow_control_xoff " +
			"rx_csum_offload_errors rx_pb_0_pxon rx_pb_1_pxoff tx_pb_7_pxon",
			Wire{PauseRx: 16 + 64 + 256 + 512, PauseTx: 8 + 32 + 1024, CRC: 1, Symbol: -1, Length: 2, FECCorrected: -1, FECUncorrected: -1}},
		{"igb, igc and e1000e", "rx_crc_errors rx_long_length_errors rx_short_length_errors rx_align_errors rx_flow_control_xon rx_flow_control_xoff " +
			"tx_flow_control_xon tx_flow_control_xoff corr_ecc_errors",
			Wire{PauseRx: 16 + 32, PauseTx: 64 + 128, CRC: 1, Symbol: -1, Length: 8, FECCorrected: -1, FECUncorrected: -1}},
		{"mlx5_core", "rx_crc_errors_phy rx_in_range_len_errors_phy rx_out_of_range_len_phy rx_symbol_err_phy rx_pause_ctrl_phy tx_pause_ctrl_phy " +
			"rx_global_pause rx_prio0_pause rx_prio0_pause_duration tx_prio7_pause rx_prio7_pause rx_prio7_pause_transition rx_corrected_bits_phy",
			Wire{PauseRx: 16 + 128 + 1024, PauseTx: 32 + 512, CRC: 1, Symbol: 8, Length: 2, FECCorrected: -1, FECUncorrected: -1}},
		{"bnxt_en", "[0]: rx_ucast_packets rx_fcs_err_frames rx_pause_frames rx_pfc_frames rx_align_err_frames rx_pfc_ena_frames_pri0 tx_pause_frames " +
			"tx_pfc_frames rx_pcs_symbol_err rx_corrected_bits rx_fec_corrected_blocks rx_fec_uncorrectable_blocks continuous_pause_events",
			Wire{PauseRx: 8 + 16, PauseTx: 128 + 256, CRC: 4, Symbol: 512, Length: 32, FECCorrected: 2048, FECUncorrected: 4096}},
		{"sfc", "port_rx_bad port_rx_pause port_tx_pause port_rx_align_error port_rx_length_error fec_uncorrected_errors fec_corrected_errors " +
			"port_rx_bad_bytes",
			Wire{PauseRx: 2, PauseTx: 4, CRC: 1, Symbol: -1, Length: 8 + 16, FECCorrected: 64, FECUncorrected: 32}},
		{"tg3", "rx_fcs_errors rx_align_errors rx_xon_pause_rcvd rx_xoff_pause_rcvd rx_xoff_entered rx_in_length_errors rx_out_length_errors tx_xon_sent " +
			"tx_xoff_sent tx_flow_control",
			Wire{PauseRx: 4 + 8, PauseTx: 128 + 256, CRC: 1, Symbol: -1, Length: 2 + 32, FECCorrected: -1, FECUncorrected: -1}},
		{"ena", "tx_timeout io_suspend bw_in_allowance_exceeded queue_0_rx_cnt queue_0_rx_bad_csum ena_admin_q_completed_cmd", untold().wire()},
		{"virtio_net", "rx_drops rx_xdp_packets tx_tx_timeouts rx0_drops rx0_kicks tx0_kicks", untold().wire()},
		{"veth", "peer_ifindex rx_queue_0_xdp_packets tx_queue_0_xdp_xmit_errors", untold().wire()},
		{"none", "", untold().wire()},
	} {
		t.Run(tt.driver, func(t *testing.T) {
			names := strings.Fields(tt.names)
			values := make([]uint64, len(names))
			for i := range values {
				values[i] = 1 << i
			}
			p := planFor(names)
			if got := p.read(values).wire(); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
			if empty := tt.want == untold().wire(); p.empty() != empty {
				t.Errorf("empty() = %v", p.empty())
			}
			if got := p.read(nil); got != untold() {
				t.Errorf("of no statistics it reads %v", got)
			}
		})
	}
}

func TestOr(t *testing.T) {
	first, second := untold(), untold()
	first[crc], first[pauseRx] = 0, 5
	second[crc], second[priorityRx], second[length] = 7, 3, 9
	got := first.or(second).wire()
	want := Wire{PauseRx: 8, PauseTx: -1, CRC: 0, Symbol: -1, Length: 9, FECCorrected: -1, FECUncorrected: -1}
	if got != want {
		t.Errorf("\n got %+v\nwant %+v: the first that tells counts, and frames of priorities are added", got, want)
	}
}

func TestAnyNumber(t *testing.T) {
	for in, want := range map[string]string{"rx_prio12_pause": "rx_prio#_pause", "12": "#", "a1b2": "a#b#", "plain": "plain", "": ""} {
		if got := anyNumber(in); got != want {
			t.Errorf("anyNumber(%q) = %q, want %q", in, got, want)
		}
	}
}

// FuzzPlan: whatever a driver calls its statistics, a count is at most the sum of all, and -1 or not negative.
func FuzzPlan(f *testing.F) {
	f.Add("rx_crc_errors rx_prio0_pause", uint8(3))
	f.Add("port.link_xon_rx port.link_xoff_rx port.rx_priority_0_xon", uint8(2))
	f.Fuzz(func(t *testing.T, text string, told uint8) {
		names := strings.Fields(text)
		p := planFor(names)
		values := make([]uint64, min(int(told), len(names)))
		for i := range values {
			values[i] = 1
		}
		for c, n := range p.read(values) {
			if n < -1 || n > int64(len(values)) {
				t.Fatalf("count %d is %d of %d statistics %q", c, n, len(values), names)
			}
		}
		if w := fmt.Sprint(p.read(values).wire()); len(names) == 0 && w != fmt.Sprint(untold().wire()) {
			t.Fatalf("of nothing: %s", w)
		}
	})
}
