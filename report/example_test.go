package report_test

import (
	"fmt"
	"os"
	"strings"
	"time"

	"loadtest/report"
	"loadtest/trial"
	"loadtest/units"
)

// A trial becomes a record, the record a line and a text.
func Example() {
	result := trial.Result{Elapsed: time.Second, Streams: []trial.Stream{{
		Name: "a→b", Intended: 1000, Sent: 1000, Received: 991, SentWireBits: 1000 * units.WireBits(60),
	}}}
	record := report.TrialOf(trial.Flat(672e3, time.Second), &result, report.About{Number: 1, Purpose: report.Search, Verdict: report.Fail})

	line, err := report.Line(record)
	fmt.Println(strings.HasPrefix(string(line), `{"type":"trial","v":1,"trial":1,`), err)
	report.NewText(report.TextOptions{Out: os.Stdout}).Write(record)
	// Output:
	// true <nil>
	//   1  0.672 Mbps  1.00 s  fail  lost 9 (0.9 %) a→b
}
