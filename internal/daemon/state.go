package daemon

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// storedState is what there was before a scan, or is after it.
type storedState struct {
	// findings are those that are open, recent those that were resolved lately.
	findings, recent []model.Finding
	// decisions are all that people made, filed those that stand in files, by
	// declaration, where that was read.
	decisions []model.Decision
	declared  map[string][]model.Decision
	rules     []model.RuleRun
}

// recently is how long a resolved finding is remembered: what comes back within
// it goes back and forth.
const recently = 24 * time.Hour

// previousState reads what the store has, with the decisions of the files as they were
// last read.
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

// readState reads what the store has.
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
