package plan

import (
	"context"
	"fmt"

	"loadtest/trial"
)

// Done is a trial that was made before.
type Done struct {
	Spec   trial.Spec
	Result trial.Result
}

// A Book is a trial.Runner that gives out the trials that were made before, in their order, and only then makes new ones. The
// same plan asks for the same trials again, so that it goes on where it was.
type Book struct {
	Live trial.Runner
	Done []Done
	Rest func(context.Context) error // before each new trial
	made int
}

// OtherPlan says that the trials made before are not those of the plan.
type OtherPlan struct{ text string }

func (e *OtherPlan) Error() string { return e.text }

// Run is the next trial.
func (b *Book) Run(ctx context.Context, s trial.Spec, see func(trial.Sample)) (trial.Result, error) {
	if b.made < len(b.Done) {
		d := &b.Done[b.made]
		if d.Spec.Unit != s.Unit || d.Spec.At(0) != s.At(0) || d.Spec.Duration != s.Duration {
			return trial.Result{}, &OtherPlan{fmt.Sprintf("saved trial %d is of %g for %v, the plan wants %g for %v: other flags or another line", b.made+1, d.Spec.At(0), d.Spec.Duration, s.At(0), s.Duration)}
		}
		b.made++
		return d.Result, nil
	}
	b.made++
	if err := b.Rest(ctx); err != nil {
		return trial.Result{}, err
	}
	return b.Live.Run(ctx, s, see)
}

// Taken is the index of the latest trial among those that were made before; false if it is a new one.
func (b *Book) Taken() (int, bool) { return b.made - 1, b.made >= 1 && b.made <= len(b.Done) }
