package daemon

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// A view is what a scan compares: the last look at every source, and the last
// reading of every declaration.
type view struct {
	sources      []sourceView
	declarations []declarationView
	// unread are the declarations whose history could not be read.
	unread unread
}

type sourceView struct {
	Source
	look
	// fresh reports that the look belongs to this scan.
	fresh bool
	// declarations that govern the source, as it would store them.
	declarations []model.Declaration
}

type declarationView struct {
	Declaration
	read
}

func (e *Engine) view(due Due) view {
	e.mu.Lock()
	defer e.mu.Unlock()
	var v view
	for _, s := range e.estate.Sources {
		l, seen := e.looks[s.Name]
		if !seen {
			l.err = errNotYet
		}
		fresh := e.unsaved[s.Name] || due.looksAt(s.Name)
		v.sources = append(v.sources, sourceView{s, l, fresh, e.declarationsFor(s.Name)})
	}
	for _, d := range e.estate.Declarations {
		v.declarations = append(v.declarations, declarationView{d, e.readOf(d)})
		own := Source{Name: declared.LiveSource(d.Name), Type: d.Type, Every: d.Every}
		if l, seen := e.looks[own.Name]; seen {
			fresh := e.unsaved[own.Name] || slices.Contains(due.Declarations, d.Name)
			v.sources = append(v.sources, sourceView{own, l, fresh, e.declarationsFor(own.Name)})
		}
	}
	return v
}

var errNotYet = errors.New("not looked at yet")

// readOf returns the last reading of a declaration; one that was never read is
// unreadable as a whole.
func (e *Engine) readOf(d Declaration) read {
	if r, loaded := e.reads[d.Name]; loaded {
		return r
	}
	return read{err: errNotYet, declaration: model.Declaration{Name: d.Name, Governs: governed(d), Inventory: d.Deriver != nil,
		Problems: unreadable(d, errNotYet)}}
}

func (e *Engine) declarationsFor(source string) []model.Declaration {
	var list []model.Declaration
	for _, d := range e.estate.Declarations {
		if !slices.Contains(d.Governs, source) && declared.LiveSource(d.Name) != source {
			continue
		}
		r := e.readOf(d)
		declaration := r.declaration
		declaration.Governs = []string{source}
		if claims, ok := r.canonical[source]; ok {
			declaration.Claims = claims
		}
		list = append(list, declaration)
	}
	return list
}

// believed returns the snapshots that were read and are not held back.
func (v view) believed() []model.Snapshot {
	return v.snapshots(func(sourceView) bool { return true })
}

// observed returns the snapshots of this scan that show how the sources are now,
// as far as anything says.
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

func (s sourceView) subjects() []model.Subject {
	if s.err != nil {
		return match.Match(nil, s.declarations, map[string]string{s.Name: s.err.Error()})
	}
	return match.Match([]model.Snapshot{s.snapshot}, s.declarations, nil)
}

// judge compares every subject, on all cores; the order stays match's.
func judge(v view, options diff.Options) []model.Judged {
	var judged []model.Judged
	for _, s := range v.sources {
		subjects := s.subjects()
		for i := range subjects {
			judged = append(judged, model.Judged{Subject: &subjects[i]})
		}
	}
	size := len(judged)/runtime.GOMAXPROCS(0) + 1
	var group sync.WaitGroup
	for part := range slices.Chunk(judged, size) {
		group.Go(func() {
			for i := range part {
				part[i] = diff.Judge(part[i].Subject, options)
			}
		})
	}
	group.Wait()
	return judged
}

func (e *Engine) classify(v view, judged []model.Judged, before known, now time.Time) classify.Result {
	in := classify.Input{Judged: judged, Snapshots: v.believed(), Earlier: before.findings, Recent: before.recent,
		Records: e.recordsBefore(v), Decisions: before.decisions, Rules: e.estate.Rules, Severities: e.estate.Severities, Owners: e.estate.Owners,
		Whole: e.estate.Whole, Now: now}
	for _, s := range v.sources {
		in.Sources = append(in.Sources, s.Name)
	}
	for _, d := range v.declarations {
		d.declaration.Problems = v.unread.problems(d)
		in.Declarations = append(in.Declarations, d.declaration)
	}
	return classify.Findings(in)
}

// recordsBefore returns the records of what was applied that were good last, by
// declaration: those that this engine saw, or else those of the last run.
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

// recordsOf returns what the store knows of a declaration's records.
func (e *Engine) recordsOf(declaration string) []model.StateRead {
	states, err := e.store.LastStates(declaration)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		e.log.Warn("read the last records", "declaration", declaration, "err", err)
	}
	return states
}

// record makes the run record of a scan.
func (e *Engine) record(v view, judged []model.Judged, result classify.Result, started time.Time) model.Run {
	found := result.Current
	run := model.Run{ID: started.UTC().Format("20060102T150405.000000000Z"), Started: started, Finished: e.now(),
		Tool: e.version, Summary: summarize(judged, found), Rules: result.Rules, SeverityRules: result.Severities, Exempt: exemptions(judged)}
	for _, s := range v.sources {
		if errors.Is(s.err, errNotYet) { // What is known of its last look must outlast this record.
			was := e.remembered(s.Name)
			s.believed, s.held, s.marks, s.snapshot.Taken = was.believed, was.held, was.marks, was.snapshot.Taken
		}
		r := model.SourceRun{Name: s.Name, Type: s.Type, Version: s.snapshot.Version, Duration: s.duration,
			Kinds: s.believed, Held: s.held, Taken: s.snapshot.Taken, Marks: s.marks, Every: s.Every}
		for _, n := range s.believed {
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
			Claims: len(d.declaration.Claims), Problems: v.unread.problems(d), Notes: model.BoundedNotes(d.declaration.Notes), Tally: tally(d.declaration, judged),
			States: result.Records[d.Name]}
		if d.err != nil {
			r.Err = d.err.Error()
		}
		run.Declarations = append(run.Declarations, r)
	}
	run.NotJudged, run.NotGoverned = notJudged(judged), notGoverned(v)
	run.Summary.NotJudged = countHeld(run.NotJudged)
	return run.At(run.Finished, result.Open())
}

// tally says how much of a declaration was compared: what the loader counted,
// less what could not be read.
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
	unchecked := map[model.Key]bool{}
	for i := range found {
		switch f := &found[i]; {
		case f.Hidden != "":
			s.Hidden++
		case f.Accepted():
			s.Accepted++
		case f.Verdict.IsDrift():
			s.Findings++
		default:
			unchecked[f.Key] = true
		}
	}
	s.Unchecked = len(unchecked)
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

// report is what a scan found: its own findings, without what is hidden or
// accepted, and what it only remembers.
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
