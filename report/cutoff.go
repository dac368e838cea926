package report

import (
	"fmt"
	"io"
)

// killed is the exit code of a program that was ended by SIGKILL.
const killed = 128 + 9

// CutOff takes the place of the End of a run that was killed before it could write one: it tells what was found until then.
func (t *Text) CutOff() error {
	after := "1 trial"
	if n := len(t.counted("")); n != 1 {
		after = fmt.Sprintf("%d trials", n)
	}
	if _, err := io.WriteString(t.o.Err, talk("end", "cut off after "+after)); err != nil {
		return err
	}
	return flushed(t.o.Out, []byte(t.end(&End{ExitCode: killed})))
}
