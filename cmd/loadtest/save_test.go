package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"loadtest/internal/lab"
)

func TestCreateRunKeepsTheLatest(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "runs")
	t.Setenv("LOADTEST_RUNS", dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range keptRuns + 5 {
		name := filepath.Join(dir, fmt.Sprintf("old%03d.jsonl", i))
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(name, at, at); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := createRun()
	if err != nil {
		t.Fatal(err)
	}
	f.Close()
	runs, _ := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if len(runs) != keptRuns {
		t.Errorf("%d runs stay, want %d", len(runs), keptRuns)
	}
	for name, want := range map[string]bool{"old005.jsonl": false, "old006.jsonl": true, "notes.txt": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s stays: %v, want %v", name, err == nil, want)
		}
	}
}

func TestRunsDirUnderSudo(t *testing.T) {
	lab.Need(t, "root") // sudo's variables count for nobody else
	t.Setenv("LOADTEST_RUNS", "")
	t.Setenv("SUDO_USER", "nobody")
	dir, uid, _, err := runsDir()
	if err != nil || uid <= 0 || filepath.Base(filepath.Dir(dir)) != "loadtest" {
		t.Errorf("runs of sudo's caller go to %s, owned by %d: %v", dir, uid, err)
	}
}
