package pace

import "loadtest/trial"

// Fraction is a constant load for who divides whole numbers of 64 bits: a packet of cost c — wire bits, 1 packet, or ns of the
// captured pace, by the unit — takes c·num/den ns of it. c·num + den is below 2^62 for each c up to most. num is 0 where the load is
// unlimited, den where nothing is sent. ok is false where no such fraction is within 1e-8 of the load.
func Fraction(unit trial.Unit, load float64, most int64) (num, den uint64, ok bool) {
	switch l := loadOf(load); l.m {
	case 0:
		return 1, 0, true
	case unlimited:
		return 0, 1, true
	}
	num = uint64(1e9)
	if unit == trial.Factor {
		num = 1
	}
	const room = 1 << 61
	if most > 0 && num > room/uint64(most) || load >= room {
		return 0, 0, false
	}
	for num*uint64(max(most, 1)) < room/2 && load*2 < room/2 && float64(uint64(load)) != load {
		num, load = num*2, load*2
	}
	den = uint64(load + 0.5)
	return num, den, load >= 5e7 || float64(den) == load
}
