package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"loadtest/report"
	"loadtest/search"
)

// judge asks a shell command for the verdict on a trial, which it gets as JSON on its input. Exit 0 passes, any other code
// fails; a command that cannot run (126, 127) or is killed says nothing, and ends the run.
func (s *session) judge(ctx context.Context, command string, t *report.Trial, talk io.Writer) (pass bool, reason string, err error) {
	line, err := report.Line(t)
	if err != nil {
		return false, "", err
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", command)
	cmd.Stdin = bytes.NewReader(line)
	cmd.Stdout, cmd.Stderr = talk, talk
	cmd.WaitDelay = time.Second // for what still holds the pipes
	ownGroup(cmd)
	err = cmd.Run()
	var exit *exec.ExitError
	if err == nil {
		return true, "", nil
	}
	if !errors.As(err, &exit) {
		return false, "", &search.NotMeasured{Reason: fmt.Sprintf("--exec %q: %v", command, err)}
	}
	switch code := exit.ExitCode(); {
	case code < 0 || code > 128 && code <= 128+64:
		return false, "", &search.NotMeasured{Reason: fmt.Sprintf("--exec %q was ended by a signal (%v)", command, exit)}
	case code == 126 || code == 127:
		return false, "", &search.NotMeasured{Reason: fmt.Sprintf("--exec %q: the shell cannot run it (exit %d)", command, code)}
	default:
		return false, fmt.Sprintf("exit %d of --exec", code), nil
	}
}
