package config

import (
	"fmt"
	"path"

	"github.com/driftd/driftd/internal/links"
)

// checkLinks checks the addresses of web pages.
func (d *document) checkLinks(c *Config) {
	check := func(at, text string, names []string) {
		if _, err := links.Parse(text, names); err != nil {
			d.add(at, "%s: %v", text, err)
		}
	}
	for i, s := range c.Sources {
		for k, l := range s.Links {
			at := fmt.Sprintf("sources[%d].links[%d]", i, k)
			if _, err := path.Match(l.Kind, ""); err != nil {
				d.add(at+".kind", "%s: not a pattern", l.Kind)
			}
			check(at+".url", l.URL, links.OfResource())
		}
	}
	for i, decl := range c.Declarations {
		if decl.Link != "" {
			check(fmt.Sprintf("declarations[%d].link", i), decl.Link, links.OfDeclaration())
		}
	}
}
