package main

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"loadtest/report"
)

const (
	runEnding = ".jsonl" // of the files of runs
	tailBytes = 16 << 10 // holds the answers of a search and the End
	wholeFile = 1 << 20  // what is read whole to count the trials of a run that was cut off
	longLine  = 1 << 20  // no first line is longer
)

// A savedRun is what the file of a run says at its beginning and at its end.
type savedRun struct {
	id, file string
	when     time.Time // of its start; of the last change of a file that does not say it
	held     bool      // it is still running

	run     *report.Run // nil: the file is damaged
	answers []*report.Verdict
	last    *report.Trial // nil: none, or too long for a glance
	trials  int           // without warm-ups; negative: not counted
	end     *report.End   // nil: it has no end
	damage  error
}

// savedRuns are all saved runs, newest first, and their folder, which need not be there.
func savedRuns() (dir string, runs []*savedRun, err error) {
	if dir, _, _, err = runsDir(); err != nil {
		return "", nil, usageError{err}
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, usagef("saved runs: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), runEnding) || !e.Type().IsRegular() {
			continue
		}
		if r := glance(filepath.Join(dir, e.Name())); !errors.Is(r.damage, fs.ErrNotExist) { // another run may have removed it
			runs = append(runs, r)
		}
	}
	slices.SortFunc(runs, func(a, b *savedRun) int { return cmp.Or(b.when.Compare(a.when), cmp.Compare(a.id, b.id)) })
	return dir, runs, nil
}

// glance reads as much of a file as a table tells.
func glance(file string) *savedRun {
	r := &savedRun{id: runID(file), file: file}
	f, err := os.Open(file)
	if err != nil {
		r.damage = err
		return r
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		r.damage = err
		return r
	}
	r.when, r.held = info.ModTime(), held(f)
	log, err := ends(f, info.Size())
	ended := err == nil && isEnd(log)
	counted := !ended && info.Size() <= wholeFile
	if counted {
		log, err = report.Read(io.NewSectionReader(f, 0, info.Size()))
	}
	if r.damage = err; err == nil {
		r.tell(log)
	}
	if ended && r.run != nil && r.run.Settings.Search != "" && info.Size() > tailBytes { // an answer stands where its search ended
		r.answers = verdicts(io.NewSectionReader(f, 0, info.Size()))
	}
	if !counted {
		r.trials = -1
	}
	return r
}

// verdicts are all answers in a file. Only their lines are looked at.
func verdicts(in io.Reader) (all []*report.Verdict) {
	lines := bufio.NewReaderSize(in, 64<<10)
	var of bytes.Buffer
	for whole := true; ; {
		part, err := lines.ReadSlice('\n')
		if whole && bytes.HasPrefix(part, []byte(`{"type":"verdict"`)) {
			of.Write(part) // none is longer than the buffer
		}
		if whole = err == nil; err != nil && err != bufio.ErrBufferFull {
			break
		}
	}
	log, err := report.Read(&of)
	if err != nil {
		return nil
	}
	for _, r := range log.Records {
		if v, ok := r.(*report.Verdict); ok {
			all = append(all, v)
		}
	}
	return all
}

// runID is the id of the run in a file.
func runID(file string) string { return strings.TrimSuffix(filepath.Base(file), runEnding) }

// isEnd says whether a run came to its end.
func isEnd(log *report.Log) bool {
	_, ok := log.Records[len(log.Records)-1].(*report.End)
	return ok
}

// tell takes from the records what a table tells.
func (r *savedRun) tell(log *report.Log) {
	run, ok := log.Records[0].(*report.Run)
	if !ok {
		r.damage = errNoRun()
		return
	}
	r.run, r.when = run, run.Time
	for _, rec := range log.Records[1:] {
		switch rec := rec.(type) {
		case *report.Trial:
			if rec.Purpose != report.Warmup {
				r.last = rec
				r.trials++
			}
		case *report.Verdict:
			r.answers = append(r.answers, rec)
		case *report.End:
			r.end = rec
		}
	}
}

func errNoRun() error { return errors.New("its first line is of no run") }

// ends are the first line of a file and the last ones.
func ends(f io.ReaderAt, size int64) (*report.Log, error) {
	first, err := firstLine(f)
	if err != nil {
		return nil, err
	}
	from := max(size-tailBytes, int64(len(first)))
	tail := bufio.NewReader(io.NewSectionReader(f, from, size-from))
	if from > int64(len(first)) {
		if _, err := tail.ReadBytes('\n'); err != nil && err != io.EOF { // a part of a line
			return nil, err
		}
	}
	log, err := report.Read(io.MultiReader(bytes.NewReader(first), tail))
	if err != nil { // its line is not the file's
		return nil, errors.New("its first or last lines are no records")
	}
	return log, nil
}

// firstLine is the line that says what was asked for.
func firstLine(f io.ReaderAt) ([]byte, error) {
	line, err := bufio.NewReader(io.NewSectionReader(f, 0, longLine)).ReadBytes('\n')
	switch {
	case err == io.EOF && len(line) == longLine:
		return nil, fmt.Errorf("its first line is longer than %d bytes", longLine)
	case err != nil && err != io.EOF:
		return nil, err
	}
	return line, nil
}

// asked is the record that says what was asked for.
func asked(file string) (*report.Run, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, usageError{err}
	}
	defer f.Close()
	line, err := firstLine(f)
	if err != nil {
		return nil, usagef("%s: %w", file, err)
	}
	log, err := report.Read(bytes.NewReader(line))
	if err != nil {
		return nil, usagef("%s: %w", file, err)
	}
	run, ok := log.Records[0].(*report.Run)
	if !ok {
		return nil, usagef("%s: %w", file, errNoRun())
	}
	return run, nil
}
