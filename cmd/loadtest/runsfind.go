package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"loadtest/internal/spell"
)

// findRun is the file of the run that is meant: by an id, the beginning of one, last, or the name of a file.
func findRun(ref string) (file string, err error) {
	id := strings.TrimSuffix(ref, runEnding)
	there, path := isFile(ref), strings.ContainsAny(ref, "/"+string(filepath.Separator))
	switch {
	case there && (path || id != ref):
		return ref, nil
	case path:
		return "", usageError{&fs.PathError{Op: "open", Path: ref, Err: fs.ErrNotExist}}
	}
	dir, runs, err := savedRuns()
	if err != nil {
		return "", err
	}
	if id == "last" {
		for _, r := range runs {
			if r.damage == nil {
				return r.file, nil
			}
		}
		return "", usagef("no saved runs in %s", dir)
	}
	found := matching(runs, id)
	switch {
	case len(found) == 1:
		return found[0].file, nil
	case len(found) > 1:
		return "", usagef("run %q: %s begin so; want more letters", ref, ids(found, 12))
	case there:
		return ref, nil
	case len(runs) == 0:
		return "", usagef("no run %q: no saved runs in %s", ref, dir)
	}
	near := ""
	for _, r := range runs {
		if n := spell.Slips(id, r.id); n == 1 || n == 2 && len(id) > 4 {
			near = "; near: " + r.id
			break
		}
	}
	return "", usagef("no run %q%s. The last: %s. All: loadtest runs", ref, near, ids(runs, 3))
}

// matching are the runs that an id means: the one that has it, else those that begin with it.
func matching(runs []*savedRun, id string) (found []*savedRun) {
	for _, r := range runs {
		switch {
		case r.id == id:
			return []*savedRun{r}
		case id != "" && strings.HasPrefix(r.id, id):
			found = append(found, r)
		}
	}
	return found
}

// ids names the first of some runs.
func ids(runs []*savedRun, most int) string {
	var names []string
	for _, r := range runs[:min(most, len(runs))] {
		names = append(names, r.id)
	}
	return strings.Join(names, ", ")
}

// isFile says whether a file is there that could be a run's.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist) && (err != nil || !info.IsDir())
}
