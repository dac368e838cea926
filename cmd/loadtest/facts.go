package main

import (
	"strings"

	"loadtest/internal/preflight"
	"loadtest/internal/split"
)

// facts are what preflight judges a capture by. rule and sides are those of --split; nil: nobody divided it.
func (c *capture) facts(rule string, sides *split.Sides) preflight.Capture {
	r := preflight.Read{Name: c.name, File: c.file, Survey: c.survey, Told: c.told, Rule: rule, Sides: sides}
	var cuts []string
	for _, f := range c.each {
		r.Infos = append(r.Infos, f.info)
		if f.cut != nil {
			cuts = append(cuts, f.cut.Error())
		}
	}
	r.Cut = strings.Join(cuts, "; ")
	return preflight.Of(r)
}
