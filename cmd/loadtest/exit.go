package main

import (
	"errors"
	"fmt"
	"syscall"

	"loadtest/search"
	"loadtest/trial"
)

// Exit codes, as the command line promises them.
const (
	exitPass        = 0 // goals met, or a limit found
	exitFail        = 1 // the device failed
	exitUsage       = 2 // wrong use, before any packet
	exitNotMeasured = 3 // nothing can be said about the device
)

// A usageError is a mistake that was found before any packet was sent.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usagef(format string, a ...any) error { return usageError{fmt.Errorf(format, a...)} }

// A failure is a verdict: the device did not meet the goal. The result says so; there is nothing more to print.
type failure struct{ error }

func notMeasured(reason string) error { return &search.NotMeasured{Reason: reason} }

// interrupted is a signal that asks for an orderly end.
type interrupted struct{ syscall.Signal }

func (i interrupted) Error() string { return "interrupted" }

// Is makes an interruption a trial.ErrStop: what is on its way is still counted.
func (i interrupted) Is(err error) bool { return err == trial.ErrStop }

func exitCode(err error) int {
	var stop interrupted
	var fail failure
	var not *search.NotMeasured
	switch {
	case err == nil:
		return exitPass
	case errors.As(err, &stop):
		return 128 + int(stop.Signal)
	case errors.As(err, &fail):
		return exitFail
	case errors.As(err, &not):
		return exitNotMeasured
	}
	var port portError
	if errors.As(err, &port) {
		return exitNotMeasured
	}
	return exitUsage
}

// A portError ended a run that had begun: a port's, or that of a file that results go to.
type portError struct{ error }

func (e portError) Unwrap() error { return e.error }

// told says whether the report has said all there is to say.
func told(err error) bool {
	var stop interrupted
	var fail failure
	var port portError
	return (errors.As(err, &stop) || errors.As(err, &fail)) && !errors.As(err, &port)
}
