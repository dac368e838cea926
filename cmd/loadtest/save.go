package main

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// keptRuns is how many saved runs stay; older ones are removed.
const keptRuns = 200

// runsDir is where runs are saved: $LOADTEST_RUNS, else below the home of whoever called, under sudo too. uid and gid are who
// is to own them; -1: nobody else.
func runsDir() (dir string, uid, gid int, err error) {
	home, uid, gid := "", -1, -1
	if name := os.Getenv("SUDO_USER"); name != "" && os.Geteuid() == 0 {
		if u, err := user.Lookup(name); err == nil {
			home = u.HomeDir
			uid, _ = strconv.Atoi(u.Uid)
			gid, _ = strconv.Atoi(u.Gid)
		}
	}
	if dir = os.Getenv("LOADTEST_RUNS"); dir != "" {
		return dir, uid, gid, nil
	}
	if home == "" {
		if home, err = os.UserHomeDir(); err != nil {
			return "", 0, 0, err
		}
	}
	return filepath.Join(home, ".local", "state", "loadtest", "runs"), uid, gid, nil
}

// createRun makes the file of a new run and removes the oldest ones beyond keptRuns.
func createRun() (*os.File, error) {
	dir, uid, gid, err := runsDir()
	if err != nil {
		return nil, err
	}
	if err := makeOwned(dir, uid, gid); err != nil {
		return nil, err
	}
	prune(dir, keptRuns-1)
	for length := 2; ; length++ {
		id := make([]byte, length)
		if _, err := rand.Read(id); err != nil {
			return nil, err
		}
		f, err := os.OpenFile(filepath.Join(dir, hex.EncodeToString(id)+runEnding), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		switch {
		case errors.Is(err, fs.ErrExist) && length < 16:
			continue
		case err != nil:
			return nil, err
		}
		if uid >= 0 {
			_ = f.Chown(uid, gid)
		}
		hold(f)
		return f, nil
	}
}

// makeOwned makes a folder and those above it that are missing, all owned by uid.
func makeOwned(dir string, uid, gid int) error {
	if info, err := os.Stat(dir); err == nil {
		if !info.IsDir() {
			return fmt.Errorf("%s is no folder", dir)
		}
		return nil
	}
	if err := makeOwned(filepath.Dir(dir), uid, gid); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if uid >= 0 {
		_ = os.Chown(dir, uid, gid)
	}
	return nil
}

// prune removes the oldest runs beyond keep.
func prune(dir string, keep int) {
	entries, _ := os.ReadDir(dir)
	type run struct {
		name string
		time int64
	}
	var runs []run
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), runEnding) && info.Mode().IsRegular() {
			runs = append(runs, run{e.Name(), info.ModTime().UnixNano()})
		}
	}
	slices.SortFunc(runs, func(a, b run) int { return cmp.Compare(a.time, b.time) })
	for len(runs) > keep {
		_ = os.Remove(filepath.Join(dir, runs[0].name))
		runs = runs[1:]
	}
}
