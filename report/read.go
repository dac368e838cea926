package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// maxLine bounds a line that is read; the longest of a run with 256 streams is far below.
const maxLine = 16 << 20

// A Log is what a file of records holds.
type Log struct {
	Records []Record
	Cut     bool // the last line was not whole and is left out: the run was killed while it wrote
	Unknown int  // lines of types that this version does not know, left out
}

// Read reads what JSON wrote. Errors say the line. It gives a Log with at least one record, or an error.
func Read(r io.Reader) (*Log, error) {
	in := bufio.NewReaderSize(r, 64<<10)
	log := &Log{}
	for n := 1; ; n++ {
		line, whole, err := readLine(in)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if len(bytes.TrimSpace(line)) > 0 {
			rec, err := parse(line)
			switch {
			case err != nil && !whole && !errors.Is(err, errVersion):
				log.Cut = true
			case err != nil:
				return nil, fmt.Errorf("line %d: %w", n, err)
			case rec == nil:
				log.Unknown++
			default:
				log.Records = append(log.Records, rec)
			}
		}
		if !whole {
			break
		}
	}
	if len(log.Records) == 0 {
		return nil, errors.New("no records; want lines of JSON as written by --json")
	}
	return log, nil
}

// readLine reads up to a newline; whole is false at the end of the input.
func readLine(in *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case len(line) > maxLine:
			return nil, false, fmt.Errorf("longer than %d bytes; want one record a line", maxLine)
		case err == nil:
			return line, true, nil
		case err == io.EOF:
			return line, false, nil
		case err != bufio.ErrBufferFull:
			return nil, false, err
		}
	}
}

var errVersion = errors.New("schema version")

// parse makes a record of a line; nil for a type it does not know.
func parse(line []byte) (Record, error) {
	var head struct {
		Type string `json:"type"`
		V    int    `json:"v"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return nil, fmt.Errorf("no record: %w", err)
	}
	switch {
	case head.Type == "":
		return nil, errors.New(`no record: want {"type":…,"v":…}`)
	case head.V < 1 || head.V > Version:
		return nil, fmt.Errorf("%w %d; this program reads 1 to %d", errVersion, head.V, Version)
	}
	var rec Record
	switch head.Type {
	case "run":
		rec = &Run{}
	case "trial":
		rec = &Trial{}
	case "sample":
		rec = &Sample{}
	case "event":
		rec = &Event{}
	case "verdict":
		rec = &Verdict{}
	case "benchmark":
		rec = &Benchmark{}
	case "model":
		rec = &Model{}
	case "end":
		rec = &End{}
	default:
		return nil, nil
	}
	if err := json.Unmarshal(line, rec); err != nil {
		return nil, fmt.Errorf("%s record: %w", head.Type, err)
	}
	return rec, nil
}
