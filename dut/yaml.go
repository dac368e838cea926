package dut

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// The YAML of a network; networks/vita-1gbe.yaml explains every key. Quantities are text here, read in quantity.go.
type yamlNetwork struct {
	Seed  uint64     `yaml:"seed"`
	Ports []yamlPort `yaml:"ports"`
	Links []yamlLink `yaml:"links"`
	Nodes []yamlNode `yaml:"nodes"`
}

type yamlPort struct {
	Name string `yaml:"name"`
	MAC  string `yaml:"mac"`
	Ring *int64 `yaml:"ring"`
}

type yamlLink struct {
	Name       string   `yaml:"name"`
	Between    []string `yaml:"between"`
	Rate       string   `yaml:"rate"`
	Delay      string   `yaml:"delay"`
	Queue      *int64   `yaml:"queue"`
	QueueBytes *int64   `yaml:"queue-bytes"`
	MTU        *int64   `yaml:"mtu"`
	TooLong    string   `yaml:"too-long"`
}

type yamlNode struct {
	Name       string          `yaml:"name"`
	Kind       string          `yaml:"kind"`
	Interfaces []yamlInterface `yaml:"interfaces"`
	Tunnels    []yamlTunnel    `yaml:"tunnels"`
	Routes     []yamlRoute     `yaml:"routes"`
	Capacity   *yamlCapacity   `yaml:"capacity"`
	Stall      *yamlStall      `yaml:"stall"`
	Loss       string          `yaml:"loss"`
	Duplicate  string          `yaml:"duplicate"`
	Every      *int64          `yaml:"every"`
	Start      string          `yaml:"start"`
	ICMP       bool            `yaml:"icmp"`
	Hairpin    bool            `yaml:"hairpin"`
}

type yamlInterface struct {
	Name       string     `yaml:"name"`
	MAC        string     `yaml:"mac"`
	Addresses  []string   `yaml:"addresses"`
	NextHopMAC string     `yaml:"next-hop-mac"`
	Chatter    []yamlChat `yaml:"chatter"`
}

type yamlChat struct {
	Kind   string `yaml:"kind"`
	Every  string `yaml:"every"`
	First  string `yaml:"first"`
	Target string `yaml:"target"`
}

type yamlTunnel struct {
	Name      string `yaml:"name"`
	Interface string `yaml:"interface"`
	Local     string `yaml:"local"`
	Remote    string `yaml:"remote"`
	UDP       bool   `yaml:"udp"`
}

type yamlRoute struct {
	To         string `yaml:"to"`
	Interface  string `yaml:"interface"`
	Tunnel     string `yaml:"tunnel"`
	NextHopMAC string `yaml:"next-hop-mac"`
}

type yamlCapacity struct {
	Rate       string `yaml:"rate"`
	Queue      *int64 `yaml:"queue"`
	QueueBytes *int64 `yaml:"queue-bytes"`
	Per        string `yaml:"per"`
	ColdUntil  string `yaml:"cold-until"`
	ColdRate   string `yaml:"cold-rate"`
}

type yamlStall struct {
	Mean   string `yaml:"mean"`
	Length string `yaml:"length"`
}

// A source is a YAML text that errors can point into.
type source struct {
	name string
	file *ast.File
}

// decode reads the text into a yamlNetwork. Keys that are not known are errors, and so is what stands twice.
func decode(name string, text []byte) (src *source, y *yamlNetwork, err error) {
	defer func() {
		if p := recover(); p != nil { // the YAML library's, on foreign bytes
			err = fmt.Errorf("%s:1:1: unreadable YAML (%v): want ports, links and nodes", name, p)
		}
	}()
	src = &source{name: name}
	tokens, err := src.tokens(text)
	if err != nil {
		return nil, nil, err
	}
	if src.file, err = parser.Parse(tokens, 0); err != nil {
		return nil, nil, src.wrap(err)
	}
	if len(src.file.Docs) != 1 || src.file.Docs[0].Body == nil {
		return nil, nil, fmt.Errorf("%s:1:1: %d YAML documents: want one, with ports, links and nodes", name, len(src.file.Docs))
	}
	if weight(src.file.Docs[0].Body, make(map[string]int)) > maxValues {
		return nil, nil, fmt.Errorf("%s:1:1: more than %d values, aliases counted as what they repeat: want a smaller network", name, maxValues)
	}
	y = new(yamlNetwork)
	if err := src.known(src.file.Docs[0].Body, reflect.TypeOf(*y)); err != nil {
		return nil, nil, err
	}
	if err := yaml.UnmarshalWithOptions(text, y, yaml.Strict()); err != nil {
		return nil, nil, src.wrap(err)
	}
	return src, y, nil
}

// wrap puts a YAML error into our form.
func (s *source) wrap(err error) error {
	var e yaml.Error
	if !errors.As(err, &e) || e.GetToken() == nil {
		return fmt.Errorf("%s:1:1: %w", s.name, err)
	}
	p := e.GetToken().Position
	return fmt.Errorf("%s:%d:%d: %s", s.name, p.Line, p.Column, e.GetMessage())
}

// known refuses keys that a struct does not have, and says which it has.
func (s *source) known(n ast.Node, t reflect.Type) error {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch n := n.(type) {
	case *ast.SequenceNode:
		if t.Kind() != reflect.Slice {
			return nil // Unmarshal says it
		}
		for _, v := range n.Values {
			if err := s.known(v, t.Elem()); err != nil {
				return err
			}
		}
	case *ast.MappingNode:
		if t.Kind() != reflect.Struct {
			return nil
		}
		fields := make(map[string]reflect.Type)
		names := keys(t, fields)
		for _, v := range n.Values {
			key := v.Key.GetToken()
			field, ok := fields[key.Value]
			if !ok {
				return fmt.Errorf("%s:%d:%d: unknown key %q: want %s", s.name, key.Position.Line, key.Position.Column, key.Value, strings.Join(names, ", "))
			}
			if err := s.known(v.Value, field); err != nil {
				return err
			}
		}
	}
	return nil
}

// keys lists a struct's keys.
func keys(t reflect.Type, into map[string]reflect.Type) (names []string) {
	for i := range t.NumField() {
		name := t.Field(i).Tag.Get("yaml")
		into[name] = t.Field(i).Type
		names = append(names, name)
	}
	return names
}

// A place leads to a place in the YAML, such as $.links[0].rate.
type place string

func (p place) key(k string) place { return p + place("."+k) }
func (p place) at(i int) place     { return p + place("["+strconv.Itoa(i)+"]") }

// errorf is an error at a place; where that is not in the text, at what would hold it.
func (s *source) errorf(p place, format string, args ...any) error {
	line, column := 1, 1
	for ; p != "$"; p = p[:strings.LastIndexAny(string(p), ".[")] {
		yp, err := yaml.PathString(string(p))
		if err != nil {
			continue
		}
		if n, err := yp.FilterFile(s.file); err == nil && n != nil {
			line, column = start(n)
			break
		}
	}
	return fmt.Errorf("%s:%d:%d: %s", s.name, line, column, fmt.Sprintf(format, args...))
}

// start is where a node begins; a mapping's own token is its first colon.
func start(n ast.Node) (line, column int) {
	switch m := n.(type) {
	case *ast.MappingNode:
		if len(m.Values) > 0 {
			n = m.Values[0].Key
		}
	case *ast.MappingValueNode:
		n = m.Key
	}
	p := n.GetToken().Position
	return p.Line, p.Column
}
