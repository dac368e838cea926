package replay

import (
	"loadtest/internal/link"
	"loadtest/nic"
	"loadtest/trial"
)

// A fare is how a port's line had fared when a trial began.
type fare struct {
	wired  nic.Wired // nil: the port does not tell
	before link.Wire
}

func (l *fare) begin() {
	if l.wired != nil {
		l.before = l.wired.Wire()
	}
}

// since is how it fared since then.
func (l *fare) since() (t trial.Line) {
	if l.wired == nil {
		return t
	}
	more := func(before, after int64) int64 {
		if after < 0 {
			return 0
		}
		t.Told = true
		return max(0, after-max(before, 0))
	}
	now := l.wired.Wire()
	t.Pauses = more(l.before.PauseRx, now.PauseRx)
	t.Broken = more(l.before.CRC, now.CRC) + more(l.before.Symbol, now.Symbol) + more(l.before.FECUncorrected, now.FECUncorrected)
	return t
}
