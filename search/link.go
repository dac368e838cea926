package search

import (
	"context"
	"fmt"

	"loadtest/trial"
)

// mostDowns is how many trials and warm-ups in a row a search makes again because of links that went down and came back.
const mostDowns = 8

// relink waits for the links that were down in a trial or in the warm-up before it, and warms up anew: whoever lost a link has
// forgotten what it learnt on it. why is "link down: " and their names.
func (l *loop) relink(ctx context.Context, s trial.Spec, why string) error {
	if l.downs++; l.downs > mostDowns {
		return &NotMeasured{fmt.Sprintf("%s, %d times in a row", why, l.downs)}
	}
	e := Event{Kind: LinkDown, Trial: l.trials + 1, Spec: s, Reason: why}
	l.See(e)
	err := l.Relink(ctx)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return err
	}
	e.Kind, e.Reason = LinkUp, ""
	l.See(e)
	l.cold = true
	return l.warmup(ctx, s, l.Warmup)
}
