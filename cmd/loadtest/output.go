package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// writeOutput writes the whole of b, or leaves the file as it was.
func writeOutput(c *cobra.Command, path string, b []byte) error {
	if path == "-" {
		_, err := c.OutOrStdout().Write(b)
		return err
	}
	old, err := os.Stat(path)
	if path, err = target(path); err != nil {
		return fmt.Errorf("--output %w", err)
	}
	if old != nil && !old.Mode().IsRegular() {
		return os.WriteFile(path, b, 0o666) // a pipe or a device must stay one
	}
	temp := fmt.Sprintf("%s.%d.tmp", path, os.Getpid())
	err = os.WriteFile(temp, b, 0o666)
	if err == nil && old != nil {
		err = os.Chmod(temp, old.Mode().Perm())
	}
	if err == nil {
		err = os.Rename(temp, path)
	}
	if err != nil {
		_ = os.Remove(temp)
		return fmt.Errorf("--output %s: %w", path, err)
	}
	return nil
}

// target is the file that a path means, also where its last link leads to a file that is not there yet.
func target(path string) (string, error) {
	for range 40 { // as many links as Linux follows
		if real, err := filepath.EvalSymlinks(path); err == nil {
			return real, nil
		}
		link, err := os.Readlink(path)
		if _, there := os.Stat(path); err != nil || there == nil { // no link, or one of /proc to what has no name
			return path, nil
		}
		if !filepath.IsAbs(link) {
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			link = filepath.Join(dir, link)
		}
		path = link
	}
	return "", &os.PathError{Op: "open", Path: path, Err: errors.New("too many symbolic links")}
}

// terminal says whether a reader or writer is one.
func terminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && isTerminal(f)
}

// terminalAt says whether a path is a terminal's.
func terminalAt(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return isTerminal(f)
}
