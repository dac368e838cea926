package search_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"loadtest/search"
)

func TestRules(t *testing.T) {
	for _, tt := range []struct {
		rule   search.Rule
		trials string // + good, - bad, in order
		want   search.Verdict
		at     int // the trial that decides
	}{
		{search.Single{}, "+", search.Pass, 1},
		{search.Single{}, "-", search.Fail, 1},
		{search.Retry(3), "---+", search.Pass, 4},
		{search.Retry(3), "----", search.Fail, 4},
		{search.Retry(0), "-", search.Fail, 1},
		{search.Verify{Repeats: 1}, "-+", search.Pass, 2},
		{search.Verify{Repeats: 1}, "--", search.Fail, 2},
		{search.Verify{Repeats: 1, Above: 0.05}, "-", search.Fail, 1}, // it lost a tenth
		{search.Verify{Repeats: 1, Above: 0.2}, "-+", search.Pass, 2},
		{search.Lead{By: 5, Of: 21}, "+++++", search.Pass, 5},
		{search.Lead{By: 5, Of: 21}, "-----", search.Fail, 5},
		{search.Lead{By: 5, Of: 21}, "+-+-+-+++++", search.Pass, 11},
		{search.Lead{By: 5, Of: 21}, "+-+-+-+-+-+-+-+-+-+-+", search.Pass, 21},
		{search.Lead{By: 5, Of: 21}, "-+-+-+-+-+-+-+-+-+-+-", search.Fail, 21},
		{search.Lead{By: 3, Of: 4}, "+-+-", search.Pass, 4}, // a tie passes
		{search.Majority(21), "+++++++++++", search.Pass, 11},
		{search.Majority(21), "-----------", search.Fail, 11},
		{search.Quota{Of: 4, Bad: 1}, "-+++", search.Pass, 4},
		{search.Quota{Of: 4, Bad: 1}, "+-+-", search.Fail, 4},
		{search.Quota{Of: 3, Bad: 0}, "+++", search.Pass, 3},
		{search.Quota{Of: 3, Bad: 0}, "-", search.Fail, 1},
	} {
		t.Run(fmt.Sprint(tt.rule, " ", tt.trials), func(t *testing.T) {
			tally := search.Tally{Loss: 0.1}
			for i, c := range tt.trials {
				if c == '+' {
					tally.Good++
				} else {
					tally.Bad++
				}
				switch got := tt.rule.Judge(tally); {
				case i+1 < tt.at && got != search.Invalid:
					t.Errorf("decided after trial %d: %v", i+1, got)
				case i+1 == tt.at && got != tt.want:
					t.Errorf("after trial %d: %v, want %v", i+1, got, tt.want)
				}
			}
			if len(tt.trials) > tt.rule.Most() {
				t.Errorf("most %d, took %d", tt.rule.Most(), len(tt.trials))
			}
		})
	}
}

// Whatever comes, a rule has decided after its most trials, and is what its text says.
func TestRulesDecide(t *testing.T) {
	for _, r := range []search.Rule{search.Single{}, search.Retry(4), search.Verify{Repeats: 2, Above: 0.5}, search.Lead{By: 5, Of: 21}, search.Lead{By: 4, Of: 4},
		search.Majority(21), search.Quota{Of: 5, Bad: 4}, search.Sure(1), search.Sure(2), search.Sure(60)} {
		for bits := range 1 << 10 {
			tally := search.Tally{Loss: 0.1}
			for i := 0; r.Judge(tally) == search.Invalid; i++ {
				if i == r.Most() {
					t.Fatalf("%v has not decided after %+v", r, tally)
				}
				if bits>>(i%10)&1 == 1 {
					tally.Good++
				} else {
					tally.Bad++
				}
			}
		}
		again, err := search.ParseRule(r.String())
		if err != nil || again != r {
			t.Errorf("%q reads as %v, %v", r, again, err)
		}
	}
}

func TestParseRule(t *testing.T) {
	if r, err := search.ParseRule("majority of 21"); err != nil || r != (search.Quota{Of: 21, Bad: 10}) {
		t.Errorf("%v, %v", r, err)
	}
	for _, bad := range []string{"", "luck", "lead 5", "lead 22 of 21", "bad 3 of 0", "retry -1", "retry 2000000", "verify 1 up to 2", "lead -1 of 3"} {
		if r, err := search.ParseRule(bad); err == nil || !strings.Contains(err.Error(), "want single, retry 3") {
			t.Errorf("%q: %v, %v", bad, r, err)
		}
	}
}

// The chance that a load is believed, and how many trials that takes, for a chance p of a clean trial: the rule that leads by 5 decides
// as the majority of 21 does, with fewer trials.
func TestChancesOfRules(t *testing.T) {
	for _, tt := range []struct {
		rule         search.Rule
		p            float64
		pass, trials float64
	}{
		{search.Majority(21), 0.3, 0.026, 15.6}, {search.Majority(21), 0.5, 0.5, 18.3}, {search.Majority(21), 0.95, 1, 11.6},
		{search.Lead{By: 5, Of: 21}, 0.3, 0.031, 11.3}, {search.Lead{By: 5, Of: 21}, 0.4, 0.181, 14.6}, {search.Lead{By: 5, Of: 21}, 0.5, 0.5, 16.0},
		{search.Lead{By: 5, Of: 21}, 0.7, 0.970, 11.3}, {search.Lead{By: 5, Of: 21}, 1, 1, 5}, {search.Lead{By: 4, Of: 21}, 0.4, 0.196, 11.7},
	} {
		pass, trials := 0.0, 0.0
		open := map[search.Tally]float64{{}: 1}
		for len(open) > 0 {
			next := map[search.Tally]float64{}
			for tally, chance := range open {
				switch tt.rule.Judge(tally) {
				case search.Pass:
					pass += chance
				case search.Invalid:
					trials += chance
					good, bad := tally, tally
					good.Good++
					bad.Bad++
					next[good] += chance * tt.p
					next[bad] += chance * (1 - tt.p)
				}
			}
			open = next
		}
		if math.Abs(pass-tt.pass) > 0.001 || math.Abs(trials-tt.trials) > 0.06 {
			t.Errorf("%v at p = %v: passes with %.3f after %.1f trials; want %v, %v", tt.rule, tt.p, pass, trials, tt.pass, tt.trials)
		}
	}
}
