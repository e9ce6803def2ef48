package web

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
	"github.com/driftd/driftd/internal/report"
	"github.com/driftd/driftd/internal/server"
	"github.com/driftd/driftd/internal/store"
)

// An index is all open findings, prepared for rendering. It is immutable.
type index struct {
	revision uint64
	built    time.Time
	run      *model.Run
	summary  model.Summary
	state    report.State
	// rows are the drifted findings, then the unchecked, the accepted and the hidden ones, each
	// sorted worst first.
	rows []row
	// held are the IDs of the decisions in force, with the rows to which they apply.
	held map[string][]int
	// idle is the number of decisions that apply to no finding.
	idle int
}

// The states of a finding in the filter.
const (
	isOpen      = "open"
	isUnchecked = "unchecked"
	isAccepted  = "accepted"
	isHidden    = "hidden"
	isResolved  = "resolved"
)

func states() []string { return []string{isOpen, isUnchecked, isAccepted, isHidden, isResolved} }

func stateOf(f *model.Finding) string {
	switch {
	case !f.Resolved.IsZero():
		return isResolved
	case f.Hidden != "":
		return isHidden
	case f.Accepted():
		return isAccepted
	case f.Verdict == model.Unchecked:
		return isUnchecked
	}
	return isOpen
}

// A row is one finding of a list.
type row struct {
	report.Block
	Source, Owner, State string
	// Since is the time at which it was first seen, Over the time at which it was resolved.
	Since, Over time.Time
	Actor       model.Actor
	Decision    *model.Decision
	Flapping    bool
	// Count is the number of all fields.
	Count int
	// group is the number of the group of findings with a common cause, from 1; 0 means none.
	group int
	id    string
	key   model.Key
	// addresses are those of the claims on the resource.
	addresses []string
	// text returns the searched text in lower case.
	text func() string
}

// buildIndex reads everything that the lists show.
func (s *site) buildIndex(revision uint64) (*index, error) {
	api := s.API
	kept := &keptReader{Reader: api.Store}
	api.Store = kept
	status, err := api.CurrentStatus()
	if err != nil {
		return nil, err
	}
	x := &index{revision: revision, built: s.Now(), run: status.LastRun, held: map[string][]int{}}
	if status.LastRun == nil {
		return x, nil
	}
	x.summary = *status.Open
	open, err := kept.Findings(store.Filter{})
	if err != nil {
		return nil, err
	}
	open = slices.DeleteFunc(open, func(f model.Finding) bool { return !status.LastRun.Includes(&f) })
	x.fill(open, phrase.Clock{Now: x.built, Relative: true})
	err = x.countIdle(api.Store)
	return x, err
}

// fill creates the rows of the open findings.
func (x *index) fill(open []model.Finding, clock phrase.Clock) {
	shown := slices.DeleteFunc(slices.Clone(open), func(f model.Finding) bool { return !f.Shown() })
	x.state = report.NewState(&model.Report{Scan: x.run.Scan(), Summary: x.summary, Findings: shown, Coverage: unexplainedGaps(x.run, x.built)}, clock)
	groups, number := map[string]int{}, 0
	for _, members := range x.state.Groups {
		if len(members) > 1 {
			number++
			for _, f := range members {
				groups[f.ID] = number
			}
		}
	}
	x.state.Groups = nil
	x.rows = rowsOf(open, clock)
	for i := range x.rows {
		x.rows[i].group = groups[x.rows[i].id]
		if d := x.rows[i].Decision; d != nil {
			x.held[d.ID] = append(x.held[d.ID], i)
		}
	}
}

// unexplainedGaps returns the incomplete coverage of a run, except for gaps whose reason is already
// shown for the whole source.
func unexplainedGaps(run *model.Run, now time.Time) []model.Coverage {
	failed := map[string]string{}
	for i := range run.Sources {
		failed[run.Sources[i].Name] = run.Sources[i].Trouble(now)
	}
	return slices.DeleteFunc(slices.Clone(run.Coverage), func(c model.Coverage) bool {
		why := failed[c.Source]
		return c.Failed() && why != "" && c.Reason != "" && (strings.Contains(why, c.Reason) || strings.Contains(c.Reason, why))
	})
}

func (x *index) countIdle(from server.DecisionReader) error {
	all, err := from.Decisions()
	for i := range all {
		if x.held[all[i].ID] == nil {
			x.idle++
		}
	}
	return err
}

// rowsOf returns the rows of findings, sorted by state and then worst first.
func rowsOf(findings []model.Finding, clock phrase.Clock) []row {
	rows := make([]row, len(findings))
	each(report.WorstFirst(findings), func(i int, f *model.Finding) { rows[i] = newRow(f, clock) })
	rank := map[string]int{}
	for i, state := range states() {
		rank[state] = i
	}
	slices.SortStableFunc(rows, func(a, b row) int { return rank[a.State] - rank[b.State] })
	return rows
}

// Maximum widths in a row, in columns: of names, and of each value.
const (
	rowName  = 80
	rowValue = 56
)

func newRow(f *model.Finding, clock phrase.Clock) row {
	r := row{Block: report.Brief(f, 1, rowValue, clock), Source: f.Source, Owner: f.Owner, State: stateOf(f), Since: f.FirstSeen, Over: f.Resolved,
		Actor: f.Actor, Decision: f.Decision, Flapping: f.Flapping, Count: len(f.Changes), id: f.ID, key: f.Key}
	r.Resource = phrase.Line(f.Key.ID, rowName)
	r.addresses = addressesOf(f)
	r.text = sync.OnceValue(func() string { return textOf(f, &r) })
	return r
}

// addressesOf returns the addresses of the claims of a finding.
func addressesOf(f *model.Finding) []string {
	all := []string{f.Address}
	for i := range f.Changes {
		for j := range f.Changes[i].Claims {
			all = append(all, f.Changes[i].Claims[j].Address)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// each calls do for each element, on all processors. A panic in do is repeated in the calling
// goroutine, so that it ends the request and not the daemon.
func each[T any](all []T, do func(int, T)) {
	workers := runtime.GOMAXPROCS(0)
	panics := make([]any, workers)
	var group sync.WaitGroup
	for worker := range workers {
		group.Go(func() {
			defer func() {
				if cause := recover(); cause != nil {
					panics[worker] = fmt.Sprintf("%v\n%s", cause, debug.Stack())
				}
			}()
			for i := worker; i < len(all); i += workers {
				do(i, all[i])
			}
		})
	}
	group.Wait()
	for _, cause := range panics {
		if cause != nil {
			panic(cause)
		}
	}
}

// maxText bounds the searched text of one finding, in bytes.
const maxText = 4 << 10

// textOf returns the searched text of a finding. It contains no digest of a secret, which a visitor
// could find by searching for its prefixes.
func textOf(raw *model.Finding, r *row) string {
	f := raw.Public()
	var b strings.Builder
	add := func(texts ...string) {
		for _, text := range texts {
			if b.Len() < maxText && text != "" {
				b.WriteString(strings.ToLower(phrase.Line(text, 300)))
				b.WriteByte('\n')
			}
		}
	}
	add(f.ID, string(f.Severity), string(f.Verdict), f.Source, f.Kind, r.Kind, f.Key.ID, f.Name, f.Place, f.Declaration, f.Address, f.Position, f.Owner,
		r.Where.String(), r.Who.String(), f.Actor.Via, f.Actor.Evidence, f.Actor.Message, f.Actor.Reason, r.Standing.String(), f.Why(), f.Hidden)
	for _, name := range slices.Sorted(maps.Keys(f.Labels)) {
		add(name + "=" + f.Labels[name])
	}
	for _, field := range r.Block.Fields {
		add(fieldTexts(&field)...)
	}
	for i := range f.Changes[:min(len(f.Changes), 50)] {
		c := &f.Changes[i]
		add(c.Path, c.LivePath)
		if c.Actor != nil {
			add(c.Actor.Name)
		}
		for _, v := range []*model.Value{c.Declared, c.Recorded, c.Live, c.Running} {
			if v != nil && v.Kind() != model.List && v.Kind() != model.Map {
				add(v.String())
			}
		}
	}
	return b.String()
}

func fieldTexts(f *phrase.Field) []string {
	texts := []string{f.Path, f.LivePath, f.Remark.String(), f.LiveActor.String()}
	for _, side := range f.Sides {
		texts = append(texts, side.Text)
	}
	for _, claim := range f.Claims {
		texts = append(texts, claim.Declaration, claim.Address, claim.Position, claim.Text, claim.Actor.String())
	}
	return texts
}

// A keptReader reads the open findings once.
type keptReader struct {
	server.Reader
	open []model.Finding
	read bool
}

// Findings returns the findings, and keeps the open ones.
func (k *keptReader) Findings(f store.Filter) ([]model.Finding, error) {
	if !f.Since.IsZero() || len(f.Verdicts) > 0 || f.Source != "" || f.Resolved {
		return k.Reader.Findings(f)
	}
	if !k.read {
		var err error
		if k.open, err = k.Reader.Findings(f); err != nil {
			return nil, fmt.Errorf("read open findings: %w", err)
		}
		k.read = true
	}
	return slices.Clone(k.open), nil
}
