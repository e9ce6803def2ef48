package mapping

import (
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// optionParts are the parts of options, such as snapshot of scsi0, that attributes stand for.
type optionParts struct {
	// of maps an option, "scsi#" for numbered ones, to its parts. allParts stands for all of them.
	of map[string]map[string]bool
	// except are parts that are never compared.
	except map[string]bool
}

const allParts = "*"

func newOptionParts(attributes []attribute, except []string) *optionParts {
	p := &optionParts{of: map[string]map[string]bool{}, except: map[string]bool{}}
	for _, name := range except {
		p.except[name] = true
	}
	p.add(attributes, nil)
	return p
}

// add adds the parts of attributes. options are those to which their paths are relative; none for the resource itself.
func (p *optionParts) add(attributes []attribute, options []string) {
	for i := range attributes {
		a := &attributes[i]
		at, names := options, a.live.names
		switch a.live.base {
		case fromRoot:
			at = nil
		case fromFound:
			at = numbered(a.live.found.prefixes)
		case fromElement:
		}
		isOption := len(at) == 0 && len(names) > 0
		if isOption {
			at, names = names[:1], names[1:]
		}
		if len(at) == 0 {
			at = numbered(a.slots.prefixes)
		}
		p.addConditions(a, at)
		switch {
		case len(names) > 0:
			p.mark(at, names[0])
		case len(a.attributes) > 0:
			p.mark(at, a.onlyIf)
			p.add(a.attributes, at)
		case isOption && a.live.part == "":
			p.mark(at, allParts)
		}
	}
}

// addConditions adds the parts that decide which elements a block has.
func (p *optionParts) addConditions(a *attribute, options []string) {
	for _, list := range [][]condition{a.slots.where, a.slots.except, a.when, a.unless} {
		for _, c := range list {
			if len(c.names) > 0 {
				p.mark(options, c.names[0])
			}
		}
	}
	for _, name := range a.slots.having {
		p.mark(options, name)
	}
}

func (p *optionParts) mark(options []string, part string) {
	for _, option := range options {
		if p.of[option] == nil {
			p.of[option] = map[string]bool{}
		}
		p.of[option][part] = true
	}
}

func numbered(prefixes []string) (options []string) {
	for _, prefix := range prefixes {
		options = append(options, prefix+"#")
	}
	return options
}

// strays returns the parts of live options that no attribute stands for. taken reports whether an attribute has the name of an
// option: its parts are then fields with both names.
func (p *optionParts) strays(live model.Value, taken func(string) bool) (fields []model.Field) {
	for _, option := range live.Fields() {
		known := p.of[option.Name]
		if known == nil {
			known = p.of[strings.TrimRight(option.Name, "0123456789")+"#"]
		}
		if known == nil || known[allParts] || option.Value.Kind() != model.Map {
			continue
		}
		var parts []model.Field
		for _, part := range option.Value.Fields() {
			if known[part.Name] || p.except[part.Name] {
				continue
			}
			if taken(option.Name) {
				fields = append(fields, model.Field{Name: option.Name + "." + part.Name, Value: part.Value})
				continue
			}
			parts = append(parts, part)
		}
		if len(parts) > 0 {
			fields = append(fields, model.Field{Name: option.Name, Value: model.MapOf(parts...)})
		}
	}
	return fields
}
