package clock

import "context"

// NewVirtual is a clock of one goroutine: time moves to the least next of its steppers, then every one is stepped once, in
// the given order, devices last. devices stay from Run to Run and never end one.
func NewVirtual(devices ...Stepper) Clock { return &virtual{devices: devices} }

type virtual struct {
	now     int64
	devices []Stepper
}

func (v *virtual) Now() int64    { return v.now }
func (v *virtual) Virtual() bool { return true }

func (v *virtual) Run(ctx context.Context, s ...Stepper) error {
	all := append(append(make([]Stepper, 0, len(v.devices)+len(s)), s...), v.devices...)
	done := make([]bool, len(all))
	running := len(s)
	for running > 0 {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		default:
		}
		least := int64(Never)
		for i, st := range all {
			if done[i] {
				continue
			}
			next := st.Step(v.now)
			if next == Never && i < len(s) {
				done[i] = true
				running--
			}
			least = min(least, next)
		}
		if running > 0 && least > v.now { // the last step was at now: a device's plans do not move the end
			v.now = least
		}
	}
	return nil
}
