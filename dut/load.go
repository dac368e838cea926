package dut

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

//go:embed networks/*.yaml
var embedded embed.FS

// Networks lists the names of the embedded networks.
func Networks() []string {
	files, _ := fs.Glob(embedded, "networks/*.yaml")
	for i, f := range files {
		files[i] = strings.TrimSuffix(path.Base(f), ".yaml")
	}
	return files
}

// LoadNetwork makes an embedded Network of its name, or one of a YAML file.
func LoadNetwork(nameOrPath string) (*Network, error) {
	if !strings.ContainsAny(nameOrPath, "./\\") {
		text, err := embedded.ReadFile("networks/" + nameOrPath + ".yaml")
		if err == nil {
			return ParseNetwork(nameOrPath, text)
		}
	}
	text, err := os.ReadFile(nameOrPath)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("network %q: no such file, and embedded are %s", nameOrPath, list(Networks()))
	}
	if err != nil {
		return nil, fmt.Errorf("network: %w", err)
	}
	return ParseNetwork(nameOrPath, text)
}
