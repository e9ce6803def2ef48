package server

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/store"
	"github.com/driftd/driftd/internal/timeparse"
)

// History is the response of /api/v1/history.
type History struct {
	Key model.Key `json:"key"`
	// Versions are the values of the resource, oldest first.
	Versions []Version `json:"versions"`
}

// A Version is a value that a resource had from At until the next version.
type Version struct {
	At    time.Time   `json:"at"`
	Actor model.Actor `json:"actor"`
	// Gone reports whether the resource did not exist, in which case it has no Value.
	Gone  bool         `json:"gone"`
	Value *model.Value `json:"value,omitempty"`
	// Changes are the fields that differ from the previous version: Recorded is the previous value and Live
	// the new one. It is empty if the resource was added or removed.
	Changes []model.Change `json:"changes"`
}

// Diff is the response of /api/v1/diff.
type Diff struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	// Resources are the resources that differ, sorted by key.
	Resources []ResourceDiff `json:"resources"`
}

// A ResourceDiff is the difference of one resource between two times.
type ResourceDiff struct {
	model.Key
	// Difference is report.Added, report.Removed or report.Changed.
	Difference string `json:"difference"`
	// At is the time of the last change, and Actor is who made it.
	At    time.Time   `json:"at"`
	Actor model.Actor `json:"actor"`
	// Changes are the differing fields if Difference is report.Changed: Recorded is the earlier value and
	// Live the later one.
	Changes []model.Change `json:"changes"`
}

func (a API) history(r *http.Request) (any, error) {
	p, err := a.params(r, "key")
	if err != nil {
		return nil, err
	}
	key, err := a.findKey(p.Get("key"))
	if err != nil {
		return nil, err
	}
	stored, err := a.Store.History(key)
	if err != nil {
		return nil, err
	}
	versions := make([]Version, len(stored))
	for i, v := range stored {
		versions[i] = Version{At: v.At, Actor: v.Actor.Public(), Gone: v.Value == nil, Changes: []model.Change{}}
		if v.Value == nil {
			continue
		}
		value := v.Value.Public()
		versions[i].Value = &value
		if i > 0 && stored[i-1].Value != nil {
			versions[i].Changes = a.compare(key, *stored[i-1].Value, *v.Value)
		}
	}
	return History{key, versions}, nil
}

// maxCandidates bounds the number of keys that an error lists.
const maxCandidates = 20

// findKey returns the key that ends with text.
func (a API) findKey(text string) (model.Key, error) {
	if text == "" {
		return model.Key{}, badRequest("no key", "name a resource, as in key=Deployment.apps/shop/web")
	}
	keys, err := a.Store.Keys(text)
	if err != nil {
		return model.Key{}, err
	}
	names := make([]string, 0, maxCandidates)
	for _, key := range keys {
		if key.String() == text || len(keys) == 1 {
			return key, nil
		}
		if len(names) < maxCandidates {
			names = append(names, key.String())
		}
	}
	if len(keys) == 0 {
		return model.Key{}, &Error{Status: http.StatusNotFound, Message: fmt.Sprintf("no resource matches %q", text),
			Hint: "write the end of its key, as in Deployment.apps/shop/web or prod/kubernetes/Service/shop/web"}
	}
	return model.Key{}, &Error{Status: http.StatusConflict, Message: fmt.Sprintf("%q matches %d resources", text, len(keys)),
		Hint: "write more of the key, as in " + names[0], Candidates: names}
}

// compare returns the difference of two values with secrets removed.
func (a API) compare(key model.Key, before, after model.Value) []model.Change {
	changes := a.Compare(key, before, after)
	for i := range changes {
		c := &changes[i]
		c.Secret = c.Secret || hasSecret(c.Recorded) || hasSecret(c.Live)
	}
	return model.Finding{Changes: changes}.Public().Changes
}

func hasSecret(v *model.Value) bool { return v != nil && v.HasSecret() }

// diffBack is the default age of the start of a diff.
const diffBack = timeparse.Day

func (a API) diff(r *http.Request) (any, error) {
	p, err := a.params(r, "source", "from", "to")
	if err != nil {
		return nil, err
	}
	d := Diff{Resources: []ResourceDiff{}}
	if d.From, err = p.moment("from", diffBack); err != nil {
		return nil, err
	}
	if d.To, err = p.moment("to", 0); err != nil {
		return nil, err
	}
	if d.From.After(d.To) {
		return nil, badRequest("from is after to", "swap them")
	}
	sources, err := a.sources(p.Get("source"))
	if err != nil {
		return nil, err
	}
	for _, source := range sources {
		changes, err := a.changes(source, d.From, d.To)
		if err != nil {
			return nil, err
		}
		for i := range changes {
			d.Resources = append(d.Resources, a.resourceDiff(&changes[i]))
		}
	}
	return d, nil
}

// sources returns the sources that the pattern matches, or, without one, all sources of the last
// run, sorted.
func (a API) sources(pattern string) ([]string, error) {
	if pattern != "" {
		return a.matchSources([]string{pattern})
	}
	run, err := a.lastRun()
	if err != nil {
		return nil, err
	}
	var names []string
	for _, s := range run.Sources {
		names = append(names, s.Name)
	}
	slices.Sort(names)
	return names, nil
}

// changes compares values from the first read of the source on: resources that existed then were
// not added.
func (a API) changes(source string, from, to time.Time) ([]store.ResourceChange, error) {
	first, err := a.Store.OldestRead(source)
	if err != nil || first.After(to) {
		return nil, err
	}
	if first.After(from) {
		from = first
	}
	return a.Store.Changes(source, from, to)
}

func (a API) resourceDiff(c *store.ResourceChange) ResourceDiff {
	d := ResourceDiff{Key: c.Key, Difference: report.Changed, At: c.At, Actor: c.Actor.Public(), Changes: []model.Change{}}
	switch {
	case c.Before == nil:
		d.Difference = report.Added
	case c.After == nil:
		d.Difference = report.Removed
	default:
		d.Changes = a.compare(c.Key, *c.Before, *c.After)
	}
	return d
}
