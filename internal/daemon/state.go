package daemon

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// storedState is the state of findings and decisions before or after a scan.
type storedState struct {
	// findings are the open ones, recent those that were resolved lately.
	findings, recent []model.Finding
	// decisions are all decisions; declared are those in files, by declaration, of the
	// declarations that were read.
	decisions []model.Decision
	declared  map[string][]model.Decision
	rules     []model.RuleRun
}

// recently is how long a resolved finding is remembered: one that returns within it may be
// flapping.
const recently = 24 * time.Hour

// previousState reads the state from the store, with the decisions in files as they were last read.
func (e *Engine) previousState(v view, now time.Time) (storedState, error) {
	k, err := e.readState(now)
	if err != nil {
		return k, err
	}
	k.declared = map[string][]model.Decision{}
	for _, d := range v.declarations {
		if d.err == nil {
			k.declared[d.Name] = d.declaration.Decisions
		}
	}
	var kept []model.Decision
	for _, d := range k.decisions {
		_, read := k.declared[d.From]
		switch {
		case d.From == "" || !read && e.declares(d.From):
			kept = append(kept, d)
		case !read && e.estate.Whole:
			k.declared[d.From] = nil
		}
	}
	for _, name := range slices.Sorted(maps.Keys(k.declared)) {
		list := k.declared[name]
		if had := func(d model.Decision) bool { return d.From == name }; len(list) == 0 && !slices.ContainsFunc(k.decisions, had) {
			delete(k.declared, name)
		}
		kept = append(kept, list...)
	}
	k.decisions = kept
	return k, nil
}

func (e *Engine) declares(name string) bool {
	return slices.ContainsFunc(e.estate.Declarations, func(d Declaration) bool { return d.Name == name })
}

// readState reads the state from the store.
func (e *Engine) readState(now time.Time) (k storedState, err error) {
	if k.findings, err = e.store.OpenFindings(); err != nil {
		return k, fmt.Errorf("read what was found: %w", err)
	}
	if k.recent, err = e.store.Recent(now.Add(-recently)); err != nil {
		return k, fmt.Errorf("read what was resolved: %w", err)
	}
	if k.decisions, err = e.store.Decisions(); err != nil {
		return k, fmt.Errorf("read decisions: %w", err)
	}
	return k, nil
}
