package rewrite

import (
	"fmt"
	"maps"
	"strings"
)

// Touched counts what rules did, in packets; a packet may count in several.
type Touched struct {
	Packets     int64  `json:"packets"`             // given on
	Ethernet    int64  `json:"ethernet"`            // got an Ethernet header
	Swapped     int64  `json:"swapped"`             // turned round
	Groups      int64  `json:"groups"`              // left out: a group has no other direction
	VLAN        int64  `json:"vlan"`                // other tags
	Mapped      int64  `json:"mapped"`              // other addresses or ports
	Fragments   int64  `json:"fragments"`           // a mapping of ports fitted, but a later fragment has none
	TTL         int64  `json:"ttl"`                 // another TTL or hop limit
	MAC         int64  `json:"mac"`                 // got MAC addresses
	Resegmented int64  `json:"resegmented"`         // became several
	Segments    int64  `json:"segments"`            // what they became
	Long        int64  `json:"long"`                // longer than Resegment, but not to be divided
	Cut         int64  `json:"cut"`                 // made shorter
	Padded      int64  `json:"padded"`              // made longer
	Checksums   int64  `json:"checksums"`           // had a wrong one, which was made right
	Collisions  int64  `json:"collisions"`          // of a flow that became the same as another
	Collision   string `json:"collision,omitempty"` // the first of them
	Unchecked   int64  `json:"unchecked"`           // of flows beyond what is looked at for collisions
}

// String is what was touched in a sentence; "" if nothing was.
func (t Touched) String() string {
	var parts []string
	say := func(n int64, form string, more ...any) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf(form, append([]any{n}, more...)...))
		}
	}
	say(t.Ethernet, "an Ethernet header for %d")
	say(t.Swapped, "%d turned round")
	say(t.Groups, "%d to groups left out")
	say(t.VLAN, "VLAN tags of %d")
	say(t.Mapped, "addresses or ports of %d mapped")
	say(t.Fragments, "%d fragments without ports not mapped")
	say(t.TTL, "TTL of %d")
	say(t.MAC, "MAC addresses of %d")
	say(t.Resegmented, "%d divided into %d", t.Segments)
	say(t.Long, "%d too long but not divided")
	say(t.Cut, "%d cut")
	say(t.Padded, "%d padded")
	say(t.Checksums, "wrong checksums of %d made right")
	say(t.Collisions, "%d collide (%s)", t.Collision)
	say(t.Unchecked, "%d not checked for collisions")
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("%d packets: %s", t.Packets, strings.Join(parts, ", "))
}

// Counts are those above 0 but Packets, by their names in JSON.
func (t Touched) Counts() map[string]int64 {
	all := map[string]int64{"ethernet": t.Ethernet, "swapped": t.Swapped, "vlan": t.VLAN, "mapped": t.Mapped, "fragments": t.Fragments, "ttl": t.TTL,
		"mac": t.MAC, "resegmented": t.Resegmented, "segments": t.Segments, "long": t.Long, "cut": t.Cut, "padded": t.Padded, "checksums": t.Checksums,
		"unchecked": t.Unchecked}
	maps.DeleteFunc(all, func(_ string, n int64) bool { return n == 0 })
	return all
}
