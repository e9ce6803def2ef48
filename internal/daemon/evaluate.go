package daemon

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A view has the last result of every source and declaration.
type view struct {
	sources      []sourceView
	declarations []declarationView
	// failed are the declarations whose history could not be read.
	failed historyFailures
}

type sourceView struct {
	Source
	collected
	// fresh reports whether the store lacks the snapshot: it was read in this scan, or the
	// last save failed.
	fresh bool
	// declarations are those that govern the source, in its canonical form.
	declarations []model.Declaration
}

type declarationView struct {
	Declaration
	loaded
}

func (e *Engine) view(due Due) view {
	e.mu.Lock()
	defer e.mu.Unlock()
	var v view
	for _, s := range e.estate.Sources {
		l, seen := e.collected[s.Name]
		if !seen {
			l.err = errNotYet
		}
		fresh := e.unsaved[s.Name] || due.collects(s.Name)
		v.sources = append(v.sources, sourceView{s, l, fresh, e.declarationsFor(s.Name)})
	}
	for _, d := range e.estate.Declarations {
		v.declarations = append(v.declarations, declarationView{d, e.loadedOf(d)})
		own := Source{Name: model.LiveSource(d.Name), Type: d.Type, Every: d.Every}
		if l, seen := e.collected[own.Name]; seen {
			fresh := e.unsaved[own.Name] || slices.Contains(due.Declarations, d.Name)
			v.sources = append(v.sources, sourceView{own, l, fresh, e.declarationsFor(own.Name)})
		}
	}
	return v
}

// keepKinds adds the kinds of earlier readings to the scopes of declarations that keep them. records are the last
// accepted ones.
func (v view) keepKinds(records map[string][]model.StateRead) {
	for i := range v.declarations {
		d := &v.declarations[i].declaration
		if !d.KeepsKinds {
			continue
		}
		var kinds []string
		for _, scope := range d.Scopes {
			kinds = append(kinds, scope.Kind)
		}
		for _, before := range records[d.Name] {
			kinds = append(kinds, before.Kinds...)
		}
		slices.Sort(kinds)
		kinds = slices.Compact(kinds)
		d.Scopes = make([]model.Scope, len(kinds))
		for i, kind := range kinds {
			d.Scopes[i].Kind = kind
		}
		d.States = slices.Clone(d.States)
		for i := range d.States {
			d.States[i].Kinds = kinds
		}
		for _, s := range v.sources {
			if at := slices.IndexFunc(s.declarations, func(of model.Declaration) bool { return of.Name == d.Name }); at >= 0 {
				s.declarations[at].Scopes = d.Scopes
			}
		}
	}
}

var errNotYet = errors.New("not looked at yet")

// loadedOf returns the last result of a declaration; one that was not read yet is a
// problem as a whole.
func (e *Engine) loadedOf(d Declaration) loaded {
	if r, loaded := e.loaded[d.Name]; loaded {
		return r
	}
	return loaded{err: errNotYet, declaration: model.Declaration{Name: d.Name, Governs: governed(d), Inventory: d.Deriver != nil,
		Problems: unreadable(d, errNotYet)}}
}

func (e *Engine) declarationsFor(source string) []model.Declaration {
	var list []model.Declaration
	for _, d := range e.estate.Declarations {
		if !slices.Contains(d.Governs, source) && model.LiveSource(d.Name) != source {
			continue
		}
		r := e.loadedOf(d)
		declaration := r.declaration
		declaration.Governs = []string{source}
		if claims, ok := r.canonical[source]; ok {
			declaration.Claims = claims
		}
		list = append(list, declaration)
	}
	return list
}

// accepted returns the snapshots that were read and are not held back.
func (v view) accepted() []model.Snapshot {
	return v.snapshots(func(sourceView) bool { return true })
}

// observed returns the current parts of the snapshots of this scan.
func (v view) observed() []model.Snapshot {
	observed := v.snapshots(func(s sourceView) bool { return s.fresh })
	for i := range observed {
		observed[i] = observed[i].Current()
	}
	return observed
}

func (v view) snapshots(of func(sourceView) bool) []model.Snapshot {
	var snapshots []model.Snapshot
	for _, s := range v.sources {
		if s.err == nil && of(s) {
			snapshots = append(snapshots, s.snapshot)
		}
	}
	return snapshots
}

// judgeAll matches what was read of each source with the declarations, and compares it.
func judgeAll(v view, options diff.Options) []model.Judged {
	var judged []model.Judged
	for _, s := range v.sources {
		snapshot := s.snapshot
		if s.err != nil {
			snapshot = model.NotRead(s.Name, s.err.Error())
		}
		judged = append(judged, diffAll(match.Match(snapshot, s.declarations), options)...)
	}
	return judged
}

// diffAll compares every subject, on all cores, and keeps their order.
func diffAll(subjects []model.Subject, options diff.Options) []model.Judged {
	judged := make([]model.Judged, len(subjects))
	size := len(subjects)/runtime.GOMAXPROCS(0) + 1
	var group sync.WaitGroup
	for first := 0; first < len(subjects); first += size {
		group.Go(func() {
			for i := first; i < min(first+size, len(subjects)); i++ {
				judged[i] = diff.Judge(&subjects[i], options)
			}
		})
	}
	group.Wait()
	return judged
}

// findings returns the findings of a scan, identified by means of the findings and decisions in the
// store.
func (e *Engine) findings(v view, judged []model.Judged, before storedState, now time.Time) classify.Result {
	in := classify.Input{Judged: judged, Snapshots: v.accepted(), Earlier: before.findings, Recent: before.recent,
		Records: e.recordsBefore(v), Decisions: before.decisions, Rules: e.estate.Rules, Severities: e.estate.Severities, Owners: e.estate.Owners,
		Whole: e.estate.Whole, Now: now}
	for _, s := range v.sources {
		in.Sources = append(in.Sources, s.Name)
	}
	for _, d := range v.declarations {
		d.declaration.Problems = v.failed.problems(d)
		in.Declarations = append(in.Declarations, d.declaration)
	}
	result := classify.Findings(in)
	v.link(result.Current, before.findings)
	v.name(result.Current)
	return result
}

// recordsBefore returns the last accepted records of what was applied, by declaration:
// those of this engine, or else those of the last run.
func (e *Engine) recordsBefore(v view) map[string][]model.StateRead {
	records := map[string][]model.StateRead{}
	for _, d := range v.declarations {
		if known, ok := e.records[d.Name]; ok {
			records[d.Name] = known
		} else if len(d.declaration.States) > 0 {
			records[d.Name] = e.recordsOf(d.Name)
		}
	}
	return records
}

// recordsOf returns a declaration's records from the store.
func (e *Engine) recordsOf(declaration string) []model.StateRead {
	states, err := e.store.LastStates(declaration)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		e.log.Warn("read the last records", "declaration", declaration, "err", err)
	}
	return states
}

// record returns the run record of a scan.
func (e *Engine) record(v view, judged []model.Judged, result classify.Result, started time.Time) model.Run {
	found := result.Current
	run := model.Run{ID: started.UTC().Format("20060102T150405.000000000Z"), Started: started, Finished: e.now(),
		Tool: e.version, Summary: summarize(judged, found), Rules: result.Rules, SeverityRules: result.Severities, Exempt: exemptions(judged)}
	for _, s := range v.sources {
		if errors.Is(s.err, errNotYet) { // Keep the last result of an earlier engine.
			was := e.restore(s.Name)
			s.counts, s.held, s.marks, s.snapshot.Taken = was.counts, was.held, was.marks, was.snapshot.Taken
		}
		r := model.SourceRun{Name: s.Name, Type: s.Type, Version: s.snapshot.Version, Duration: s.duration,
			Kinds: s.kinds, Held: s.held, Taken: s.snapshot.Taken, Marks: s.marks, Every: s.Every}
		for _, n := range s.kinds {
			r.Resources += n
		}
		if s.err != nil {
			r.Err = s.err.Error()
			run.Coverage = append(run.Coverage, model.Coverage{Source: s.Name, Reason: r.Err})
		} else {
			run.Coverage = append(run.Coverage, s.snapshot.Coverage...)
		}
		run.Sources = append(run.Sources, r)
	}
	for _, d := range v.declarations {
		r := model.DeclarationRun{Name: d.Name, Type: d.Type, Revision: d.declaration.Revision, Duration: d.duration,
			Governs: d.declaration.Governs,
			Claims:  len(d.declaration.Claims), Problems: v.failed.problems(d), Notes: model.BoundedNotes(slices.Concat(d.declaration.Notes, classify.DependencyNotes(result.Records[d.Name]))), Tally: tally(d.declaration, judged),
			States: result.Records[d.Name], Objects: objects(&d.declaration)}
		if d.err != nil {
			r.Err = d.err.Error()
		}
		run.Declarations = append(run.Declarations, r)
	}
	run.Scores = scores(v, judged, e.estate.Owners)
	run.NotJudged, run.NotGoverned = notJudged(judged), notGoverned(v)
	run.Summary.NotJudged = countHeld(run.NotJudged)
	return run.At(run.Finished, result.Open())
}

// objects returns the objects of a declaration whose loader counts them, as that of Terraform does;
// nil for others, which have no plans to compare with.
func objects(d *model.Declaration) model.ObjectSample {
	if d.Tally == nil {
		return nil
	}
	return model.SampleObjects(d.Claims)
}

// tally returns the counts of the loader, with the resources that could not be compared moved to
// Unchecked.
func tally(d model.Declaration, judged []model.Judged) *model.Tally {
	if d.Tally == nil {
		return nil
	}
	t := *d.Tally
	for i := range judged {
		for _, o := range judged[i].Outcomes {
			if o.Verdict == model.Unchecked && o.Claim != nil && len(o.Changes) == 0 && o.Claim.Declaration == d.Name && o.Claim.Unchecked == "" {
				t.Compared--
				t.Unchecked++
			}
		}
	}
	return &t
}

func summarize(judged []model.Judged, found []model.Finding) model.Summary {
	var s model.Summary
	for i := range judged {
		j := &judged[i]
		s.Exempt += len(j.Exempt)
		switch {
		case len(j.Outcomes) == 0 && (len(j.Subject.Claims) == 0 || j.Subject.Live == nil):
			continue // Not declared, or declared to be absent at times.
		case len(j.Outcomes) == 0:
			s.InSync++
		}
		s.Resources++
	}
	s.CountFindings(found)
	return s
}

// maxExempt bounds how many exemptions a run record lists.
const maxExempt = 1000

// exemptions returns the first exemptions of a scan, in the order of keys.
func exemptions(judged []model.Judged) []model.Exemption {
	var list []model.Exemption
	for i := range judged {
		list = append(list, judged[i].Exempt...)
		if len(list) >= maxExempt {
			return list[:maxExempt]
		}
	}
	return list
}

// report returns the findings of a scan that are neither hidden nor accepted.
func report(run model.Run, found []model.Finding) model.Report {
	r := model.Report{Version: model.ReportVersion, Summary: run.Summary, Coverage: run.Coverage,
		Scan: run.Scan()}
	for _, f := range found {
		if f.Shown() {
			r.Findings = append(r.Findings, f)
		}
	}
	return r
}
