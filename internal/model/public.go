package model

import (
	"slices"
	"strings"
)

// Public returns a copy of the finding in its published form: SecretText replaces secrets and their
// digests, times are in UTC, and internal fields are zero.
func (f Finding) Public() Finding {
	digests := redactor(f.Changes, f.Ignored)
	changes := make([]Change, len(f.Changes))
	for i := range f.Changes {
		changes[i] = f.Changes[i].public(digests)
	}
	ignored := slices.Clone(f.Ignored)
	for i := range ignored {
		ignored[i].Change = ignored[i].public(digests)
	}
	f.Changes, f.Ignored, f.Flips, f.WorseBasis = changes, ignored, nil, ""
	f.Reason = digests.Replace(f.Reason)
	f.FirstSeen, f.LastSeen, f.Resolved = f.FirstSeen.UTC(), f.LastSeen.UTC(), f.Resolved.UTC()
	f.Actor, f.Decision, f.Was = f.Actor.Public(), f.Decision.utc(), f.Was.UTC()
	return f
}

func (c Change) public(digests *strings.Replacer) Change {
	c.Secret = c.Secret || slices.ContainsFunc(c.values(), (*Value).hasSecret)
	show := (*Value).public
	if c.Secret {
		show, c.Names = (*Value).masked, nil
	}
	c.Path, c.LivePath = digests.Replace(c.Path), digests.Replace(c.LivePath)
	c.Declared, c.Recorded, c.Live, c.Running = show(c.Declared), show(c.Recorded), show(c.Live), show(c.Running)
	c.Actor, c.LiveActor = c.Actor.publicCopy(), c.LiveActor.publicCopy()
	c.Claims = slices.Clone(c.Claims)
	for i := range c.Claims {
		c.Claims[i].Actor = c.Claims[i].Actor.publicCopy()
		c.Claims[i].Path = digests.Replace(c.Claims[i].Path)
		c.Claims[i].Value = *show(&c.Claims[i].Value)
	}
	return c
}

// values returns every value of a change; absent ones are nil.
func (c *Change) values() []*Value {
	values := []*Value{c.Declared, c.Recorded, c.Live, c.Running}
	for i := range c.Claims {
		values = append(values, &c.Claims[i].Value)
	}
	return values
}

func (v *Value) hasSecret() bool { return v != nil && v.HasSecret() }

func (v *Value) public() *Value {
	if v == nil {
		return nil
	}
	p := v.Public()
	return &p
}

// masked hides the scalar of a secret field, also if it was not sealed.
func (v *Value) masked() *Value {
	p := v.public()
	if p == nil || p.IsEmpty() || p.Kind() == List || p.Kind() == Map {
		return p
	}
	hidden := StringOf(SecretText)
	return &hidden
}

// redactor returns a replacer for the digests in the changes' values. It is needed for paths, which
// contain the items of sets.
func redactor(changes []Change, ignored []IgnoredChange) *strings.Replacer {
	var pairs []string
	note := func(c *Change) {
		for _, v := range c.values() {
			if v.hasSecret() {
				pairs = v.appendDigests(pairs)
			}
		}
	}
	for i := range changes {
		note(&changes[i])
	}
	for i := range ignored {
		note(&ignored[i].Change)
	}
	return strings.NewReplacer(pairs...)
}

func (v Value) appendDigests(pairs []string) []string {
	if v.kind == Secret && v.text != "" {
		return append(pairs, v.text, SecretText)
	}
	for _, item := range v.Items() {
		pairs = item.appendDigests(pairs)
	}
	for _, f := range v.Fields() {
		pairs = f.Value.appendDigests(pairs)
	}
	return pairs
}
