package report

import (
	"cmp"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// public returns a finding as anybody may see it: no digest in a value, a path
// or a reason, Secret wherever a secret stands, times in UTC.
func public(f *model.Finding) model.Finding {
	digests := redactor(f.Changes)
	p := f.Public()
	p.Reason = digests.Replace(p.Reason)
	p.Changes = publicChanges(f.Changes, p.Changes, digests)
	p.Actor = publicActor(p.Actor)
	p.FirstSeen, p.LastSeen, p.Resolved = utc(p.FirstSeen), utc(p.LastSeen), utc(p.Resolved)
	return p
}

// publicChanges finishes what model.Finding.Public began.
func publicChanges(raw, changes []model.Change, digests *strings.Replacer) []model.Change {
	for i := range changes {
		c := &changes[i]
		c.Path, c.LivePath = digests.Replace(c.Path), digests.Replace(c.LivePath)
		c.Secret = c.Secret || hasSecret(&raw[i])
		if c.Secret {
			c.Declared, c.Recorded, c.Live = mask(c.Declared), mask(c.Recorded), mask(c.Live)
			for j := range c.Claims {
				c.Claims[j].Value = *mask(&c.Claims[j].Value)
			}
		}
		if c.Actor != nil {
			a := publicActor(*c.Actor)
			c.Actor = &a
		}
	}
	return changes
}

// publicOf does for changes alone what public does for a finding.
func publicOf(changes []model.Change) []model.Change {
	f := public(&model.Finding{Changes: changes})
	return f.Changes
}

// mask hides the scalar of a secret field, also where nobody sealed it.
func mask(v *model.Value) *model.Value {
	if v == nil || v.IsEmpty() || v.Kind() == model.List || v.Kind() == model.Map {
		return v
	}
	hidden := model.StringOf(model.SecretText)
	return &hidden
}

func hasSecret(c *model.Change) bool {
	for _, v := range valuesOf(c) {
		if v != nil && v.HasSecret() {
			return true
		}
	}
	return false
}

// valuesOf returns every value of a change; absent ones are nil.
func valuesOf(c *model.Change) []*model.Value {
	values := []*model.Value{c.Declared, c.Recorded, c.Live}
	for i := range c.Claims {
		values = append(values, &c.Claims[i].Value)
	}
	return values
}

// redactor replaces every digest of the changes' values: the path of a set's
// item is made of the item.
func redactor(changes []model.Change) *strings.Replacer {
	var pairs []string
	for i := range changes {
		for _, v := range valuesOf(&changes[i]) {
			if v != nil && v.HasSecret() {
				pairs = appendDigests(pairs, *v)
			}
		}
	}
	return strings.NewReplacer(pairs...)
}

func appendDigests(pairs []string, v model.Value) []string {
	if v.Kind() == model.Secret && v.Text() != "" {
		return append(pairs, v.Text(), model.SecretText)
	}
	for _, item := range v.Items() {
		pairs = appendDigests(pairs, item)
	}
	for _, f := range v.Fields() {
		pairs = appendDigests(pairs, f.Value)
	}
	return pairs
}

// publicActor says of an actor without any evidence that there is none.
func publicActor(a model.Actor) model.Actor {
	a.At = utc(a.At)
	a.Confidence = cmp.Or(a.Confidence, model.Unknown)
	return a
}

// utc returns t in UTC, or zero for a year that RFC 3339 cannot write.
func utc(t time.Time) time.Time {
	t = t.UTC()
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}
