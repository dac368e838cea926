// Package genconf writes the configuration of a gateway under test from the description of the test.
//
//	Testbed ─Write(kind)→ kinds/KIND.tmpl → text for the gateway
package genconf

import (
	"bytes"
	"embed"
	"fmt"
	"io"
	"strings"
	"text/template"
	"time"

	"loadtest/testbed"
)

//go:embed kinds
var kinds embed.FS

// Kinds are the gateways there is a template for.
func Kinds() []string {
	files, err := kinds.ReadDir("kinds")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	names := make([]string, 0, len(files))
	for _, f := range files {
		names = append(names, strings.TrimSuffix(f.Name(), ".tmpl"))
	}
	return names
}

// Write writes the configuration for one of Kinds. It writes nothing unless all of it could be made.
func Write(w io.Writer, kind string, t *testbed.Testbed) error {
	text, err := kinds.ReadFile("kinds/" + kind + ".tmpl")
	if err != nil {
		return fmt.Errorf("no configuration for %q: want one of %s", kind, strings.Join(Kinds(), ", "))
	}
	funcs := template.FuncMap{"routes": routes, "yang": yang, "seconds": seconds}
	tmpl, err := template.New(kind).Funcs(funcs).Parse(string(text))
	if err != nil {
		return fmt.Errorf("template: %w", err)
	}
	var b bytes.Buffer
	if err := tmpl.Execute(&b, t); err != nil {
		return fmt.Errorf("template: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// Vita writes the configuration of a Vita node, in the text and order of Vita's own generator; interfaces, routes and gateways,
// which that one writes in the order of a hash table, come in the order of the description.
func Vita(w io.Writer, t *testbed.Testbed) error { return Write(w, "vita", t) }

// A route is one network behind the far gateway.
type route struct {
	N, SPI int // N from 1
	Net    string
}

func routes(t *testbed.Testbed) []route {
	all := make([]route, t.Routes)
	for i := range all {
		all[i] = route{i + 1, 1001 + i, t.Net(i + 1)}
	}
	return all
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// yang quotes a string where YANG's data syntax needs it.
func yang(s string) string {
	switch {
	case s == "":
		return "''"
	case strings.ContainsAny(s, " \t\r\n\v\f;{}\"'/"):
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(s) + `"`
	}
	return s
}
