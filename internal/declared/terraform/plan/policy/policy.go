// Package policy decides which providers and modules a Terraform root may use, and which blocks it must not
// contain. A plan runs the code of its root with the privileges of driftd
// (docs/decisions/0039-plans-of-many.md).
//
// Before checks the files of a root before the CLI runs. After checks the result of init before the plan:
// init fetches providers, but only the plan runs them.
package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A Policy restricts the providers, modules and blocks of a root. The zero value allows everything.
type Policy struct {
	// Providers and Modules are patterns of the providers and modules that the root may use. nil allows
	// all.
	Providers, Modules []string
	// Refuse are the names of dangers, and patterns of blocks, that the root must not contain.
	Refuse []string
}

// Enforced reports whether the policy has any restrictions.
func (p Policy) Enforced() bool {
	return p.Providers != nil || p.Modules != nil || len(p.Refuse) > 0
}

// Check returns an error if a setting is invalid.
func (p Policy) Check() error {
	for _, pattern := range p.Providers {
		if _, err := parseAddress(pattern); err != nil {
			return fmt.Errorf("allow.providers: %w", err)
		}
	}
	for _, pattern := range p.Modules {
		if err := checkSourcePattern(pattern); err != nil {
			return fmt.Errorf("allow.modules: %w", err)
		}
	}
	for _, entry := range p.Refuse {
		if err := checkRefuse(entry); err != nil {
			return fmt.Errorf("refuse: %w", err)
		}
	}
	return nil
}

// A Root is a root to check.
type Root struct {
	// Dir is the private copy of the root, in which the CLI runs. Top is the top folder of the copy of the
	// repository. Files outside of Top do not belong to the repository.
	Dir, Top string
	// Shown replaces Dir in messages.
	Shown string
	// Data is the path of TF_DATA_DIR.
	Data string
	// BackendFiles are files that complete the backend block. Relative paths are below the root.
	BackendFiles []string
	// Remembered are settings that also complete the backend block. An earlier init saved them in
	// .terraform, which a repository may contain.
	Remembered map[string]any
}

// A Note is a dangerous part of a planned root.
type Note struct {
	// Place is the file, with the line if it is known.
	Place string
	Text  string
}

// Before checks the root and the local modules that it calls. If the policy forbids a part, Before returns
// an error with the block, the file and the setting.
func (p Policy) Before(r Root) error {
	s := r.local()
	var found []violation
	for _, m := range s.modules {
		found = append(found, p.violations(m)...)
	}
	return refusal(append(found, p.pluginsOf(s)...))
}

// After checks everything that init fetched and installed. It returns the dangerous parts, sorted by place.
// If the policy forbids a part, After returns an error.
func (p Policy) After(r Root) ([]Note, error) {
	s, err := r.fetched()
	if err != nil && p.Enforced() {
		return nil, err
	}
	var found []violation
	for _, m := range s.modules {
		found = append(found, p.violations(m)...)
	}
	if found = append(found, p.pluginsOf(s)...); p.Providers != nil {
		providers, err := installed(r.Data)
		if err != nil {
			return nil, err
		}
		for _, a := range providers {
			if !p.allowsProvider(a) {
				found = append(found, violation{what: fmt.Sprintf("init installed the provider %s, which the configuration, a module or the state requires", a),
					why: notListed("providers")})
			}
		}
	}
	if err := refusal(found); err != nil {
		return nil, err
	}
	return s.notes(), nil
}

// A violation is one refused part of a root.
type violation struct {
	place, what, why string
}

// refusal returns an error for the first violation by place, or nil.
func refusal(found []violation) error {
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b violation) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.what, b.what)) })
	found = slices.Compact(found)
	v := found[0]
	text := v.what + ": " + v.why
	if v.place != "" {
		text = v.place + ": " + text
	}
	if more := len(found) - 1; more > 0 {
		text += fmt.Sprintf(" (and %d more)", more)
	}
	return errors.New(text)
}

func notListed(setting string) string { return "not in allow." + setting }

// violations returns the violations of one module.
func (p Policy) violations(m *module) []violation {
	if !p.Enforced() {
		return nil
	}
	var found []violation
	for _, err := range m.unread {
		found = append(found, violation{what: err.Error(), why: "with allow or refuse, all files must be readable"})
	}
	for _, u := range m.providers {
		if u.unknown {
			if p.Providers != nil {
				found = append(found, violation{u.place, u.shown, "its source is not a constant, and allow.providers is set"})
			}
		} else if !p.allowsProvider(u.address) {
			found = append(found, violation{u.place, fmt.Sprintf("%s uses the provider %s", u.shown, u.address), notListed("providers")})
		}
	}
	for _, c := range m.calls {
		found = append(found, p.call(c)...)
	}
	for _, b := range m.blocks {
		if entry, ok := p.refused(b); ok {
			what := b.Shown
			if d, isKnown := known(b); isKnown {
				what += " " + d.does
			}
			found = append(found, violation{b.Place, what, "refuse has " + entry})
		}
	}
	return found
}

// call returns the violations of a module call.
func (p Policy) call(c call) []violation {
	switch {
	case c.leadsOut != "":
		return []violation{{c.place, c.shown, "its source " + c.leadsOut + " is not in the repository, and allow or refuse is set"}}
	case c.local || p.Modules == nil:
		return nil
	case c.err != nil:
		return []violation{{c.place, c.shown, c.err.Error()}}
	case !p.allowsModule(c.source):
		return []violation{{c.place, fmt.Sprintf("%s has the source %s", c.shown, c.source), notListed("modules")}}
	}
	return nil
}

// pluginsOf returns a violation for each program in the repository that init would install as a
// provider of any name. The allow-list compares only names.
func (p Policy) pluginsOf(s *scan) []violation {
	if p.Providers == nil || slices.Contains(p.Refuse, "plugins") {
		return nil
	}
	var found []violation
	for _, m := range s.modules {
		for _, b := range m.blocks {
			if d, isKnown := known(b); isKnown && d.name == "plugins" {
				found = append(found, violation{b.Place, b.Shown + " " + d.does, "allow.providers is set"})
			}
		}
	}
	return found
}
