// Package policy decides what a Terraform root may do when it is planned: which providers
// and modules it may use, and which blocks it must not have. A plan runs the code of its
// root as driftd (docs/decisions/0039-plans-of-many.md).
//
// Before checks the files of a root before the CLI runs at all. After checks, between init
// and plan, what init fetched: init runs no provider, and a plan does.
package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// A Policy is what a declaration lets its root do. The zero value lets it do everything.
type Policy struct {
	// Providers and Modules are patterns of what may be used; nil allows all.
	Providers, Modules []string
	// Refuse are names of dangers, or patterns of blocks.
	Refuse []string
}

// Enforced reports whether the policy refuses anything.
func (p Policy) Enforced() bool {
	return p.Providers != nil || p.Modules != nil || len(p.Refuse) > 0
}

// Check returns an error for a setting that is not understood.
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

// A Root is what is checked.
type Root struct {
	// Dir is the private copy that the CLI runs in, and Top the folder that holds it with
	// what it needs of its repository: what lies outside of Top is not the repository's.
	Dir, Top string
	// Shown is what stands for Dir in messages.
	Shown string
	// Data is TF_DATA_DIR.
	Data string
	// BackendFiles complete the backend block; those in the root are relative.
	BackendFiles []string
	// Remembered completes the backend block, too: what .terraform in the root keeps of an
	// earlier init. A repository may hold that.
	Remembered map[string]any
}

// A Note is a dangerous part of a root that was planned.
type Note struct {
	// Place is the file, with the line where it is known.
	Place string
	Text  string
}

// Before checks the root and the local modules that it calls. The error names the block,
// the file and the setting.
func (p Policy) Before(r Root) error {
	s := r.local()
	var found []violation
	for _, m := range s.modules {
		found = append(found, p.violations(m)...)
	}
	return refusal(append(found, p.pluginsOf(s)...))
}

// After checks all that init fetched and installed, and returns what is dangerous in it,
// sorted.
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
				found = append(found, violation{what: fmt.Sprintf("init installed the provider %s, which the configuration, a module or the state names", a),
					why: notListed("providers")})
			}
		}
	}
	if err := refusal(found); err != nil {
		return nil, err
	}
	return s.notes(), nil
}

// A violation is one thing that a policy refuses.
type violation struct {
	place, what, why string
}

// refusal returns the first violation, by place, as an error.
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

// violations returns what is refused in one module.
func (p Policy) violations(m *module) []violation {
	if !p.Enforced() {
		return nil
	}
	var found []violation
	for _, err := range m.unread {
		found = append(found, violation{what: err.Error(), why: "with allow or refuse, driftd must read all files"})
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

// call returns what is refused in the call of a module.
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

// pluginsOf refuses programs in the repository that init would take for providers of any
// name, where the allow-list counts on names.
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
