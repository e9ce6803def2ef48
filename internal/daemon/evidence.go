package daemon

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/model"
)

// A claimRef names one claim on one live source.
type claimRef struct {
	declaration, source, kind, id string
	// nth is the claim's index among those of its declaration on the resource.
	nth int
}

// claimID returns a name of the claim that is the same in every scan: its address if it has a
// lens (a Terraform address), otherwise the ID of its resource. An address with a line number
// may change.
func claimID(c *model.Claim) string {
	if c.Lens != nil {
		return c.Address
	}
	return c.ID
}

// A candidate is a claim on a resource with fields whose verdict depends on evidence: the
// history of the declaration, and the values of earlier scans. Claims of one resource are
// separate candidates, because the histories of claims that agree may differ.
type candidate struct {
	judged *model.Judged
	claim  int
	ref    claimRef
	// print identifies these fields, their live values and the declaration's commit.
	print string
	// naming reports whether only the actors that declared the fields depend on it.
	naming bool
}

// A pastAnswer is the history of a candidate's claim.
type pastAnswer struct {
	print string
	past  model.Past
	// at is the time of the answer.
	at time.Time
}

// answerFor is the longest time that an answer is used: other branches change, and a failed
// read may succeed later.
const answerFor = 15 * time.Minute

// A question lists the candidates of one declaration.
type question struct {
	declaration string
	candidates  []candidate
	// older reports whether a source was read after the declaration.
	older bool
	// naming reports whether every candidate is one of naming. It is not worth reading
	// the declaration again, nor is the scan incomplete without an answer.
	naming bool
}

// maxRounds bounds how often one scan reads a declaration again because its ref
// moved.
const maxRounds = 3

// candidates returns the claims that need evidence, in the order of judged.
func candidates(v view, judged []model.Judged, now time.Time) []candidate {
	revisions, revised := map[string]string{}, map[string]bool{}
	for _, d := range v.declarations {
		revisions[d.Name] = d.declaration.Revision
		revised[d.Name] = !now.After(d.declaration.Revised.Add(d.declaration.DeployWindow))
	}
	var list []candidate
	for i := range judged {
		s := judged[i].Subject
		text := fingerprint(&judged[i], func(declaration string) bool { return revised[declaration] })
		naming := text == ""
		if text += disputes(&judged[i]); text == "" {
			continue
		}
		nth := map[string]int{}
		for k, c := range s.Claims {
			if c.Unchecked == "" {
				list = append(list, candidate{judged: &judged[i], claim: k, naming: naming, print: revisions[c.Declaration] + "\n" + text,
					ref: claimRef{c.Declaration, s.Source, c.Kind, claimID(c), nth[c.Declaration]}})
			}
			nth[c.Declaration]++
		}
	}
	return list
}

// fingerprint returns the fields of a subject that are pending or unproven, with
// their live values; "" if there are none. A missing resource counts if its
// declaration was revised lately.
func fingerprint(j *model.Judged, revised func(declaration string) bool) string {
	var b strings.Builder
	for i := range j.Outcomes {
		o := &j.Outcomes[i]
		unproven := slices.ContainsFunc(o.Changes, func(c model.Change) bool { return c.Unproven })
		lately := o.Verdict == model.Missing && revised(o.Claim.Declaration)
		if o.Verdict != model.Pending && !unproven && !lately {
			continue
		}
		b.WriteString("waits\n")
		writeFields(&b, o)
	}
	return b.String()
}

// disputes returns the disputed fields of a subject, with their live values; "" if
// there are none.
func disputes(j *model.Judged) string {
	var b strings.Builder
	for i := range j.Outcomes {
		if o := &j.Outcomes[i]; o.Verdict == model.Disputed {
			b.WriteString("disputed\n")
			writeFields(&b, o)
		}
	}
	return b.String()
}

func writeFields(b *strings.Builder, o *model.Outcome) {
	for k := range o.Changes {
		b.WriteString(o.Changes[k].Path + "=")
		if live := o.Changes[k].Live; live != nil {
			b.Write(live.AppendJSON(nil))
		}
		b.WriteByte('\n')
	}
}

// unanswered returns the questions whose answers are needed for the candidates: one for each
// declaration, in the order of the estate. It omits declarations whose history could not be read in
// this scan.
func (e *Engine) unanswered(v view, list []candidate) []question {
	e.mu.Lock()
	defer e.mu.Unlock()
	now, asked := e.now(), map[string]*question{}
	for _, c := range list {
		known, ok := e.answers[c.ref]
		answered := ok && known.print == c.print && now.Sub(known.at) < answerFor
		if _, failed := v.failed[c.ref.declaration]; failed || answered {
			continue
		}
		q := asked[c.ref.declaration]
		if q == nil {
			q = &question{declaration: c.ref.declaration, naming: true}
			asked[c.ref.declaration] = q
		}
		q.candidates = append(q.candidates, c)
		q.naming = q.naming && c.naming
		q.older = q.older || !c.naming && e.loaded[c.ref.declaration].at.Before(e.readAt(c.judged.Subject.Key))
	}
	var questions []question
	for _, d := range v.declarations {
		if q := asked[d.Name]; q != nil {
			questions = append(questions, *q)
		}
	}
	return questions
}

// readAt returns when a resource was last read. The caller holds mu.
func (e *Engine) readAt(key model.Key) time.Time {
	snapshot := e.collected[key.Source].snapshot
	return snapshot.ReadAt(model.Ref{Kind: key.Kind, ID: key.ID})
}

// askHistories answers questions. It reads the history of each declaration; if the declaration is
// older than the snapshot of a source, or its ref moved, it reads the declaration again instead. It
// adds declarations whose history could not be read to failed.
func (e *Engine) askHistories(ctx context.Context, questions []question, failed historyFailures) {
	var group sync.WaitGroup
	failures := make([]error, len(questions))
	for i, q := range questions {
		at := slices.IndexFunc(e.estate.Declarations, func(d Declaration) bool { return d.Name == q.declaration })
		if d := e.estate.Declarations[at]; d.Loader != nil {
			group.Go(func() { failures[i] = e.ask(ctx, d, q) })
		} else {
			e.answer(q, nil, noHistory)
		}
	}
	group.Wait()
	for i, err := range failures {
		if err != nil {
			failed[questions[i].declaration] = err
		}
	}
}

// historyFailures has, by declaration, why its history could not be read in a scan. In that
// case it is not known whether its ref moved since it was read.
type historyFailures map[string]error

// problems returns the parts of a declaration that could not be read. An unread
// history is one, so that the scan is incomplete; it declares no resource.
func (u historyFailures) problems(d declarationView) []model.Problem {
	err, failed := u[d.Name]
	if !failed {
		return d.declaration.Problems
	}
	return append(slices.Clone(d.declaration.Problems), model.Problem{Address: "history", Reason: unreadRef(err), Bounded: true})
}

func unreadRef(err error) string { return "the ref could not be read: " + err.Error() }

// The gaps of a declaration that has no history, and of one whose ref moved after it was read.
const (
	noHistory = "the declaration keeps no history"
	refMoved  = "the ref moved while it was read"
)

// ask answers a question or reads the declaration again. It returns an error if the history of the
// declaration could not be read.
func (e *Engine) ask(ctx context.Context, d Declaration, q question) error {
	e.mu.Lock()
	revision := e.loaded[d.Name].declaration.Revision
	e.mu.Unlock()
	historian, ok := d.Loader.(declared.Historian)
	if q.older && (revision == "" || !ok) {
		e.reload(ctx, d)
		return nil
	}
	if !ok {
		e.answer(q, nil, noHistory)
		return nil
	}
	claims := make([]*model.Claim, len(q.candidates))
	for i, c := range q.candidates {
		claims[i] = c.judged.Subject.Claims[c.claim]
	}
	t := d.task()
	t.what = "history of declaration " + d.Name
	history, err := callBounded(ctx, &e.calls, t, e.now, func(ctx context.Context) (model.History, error) {
		return historian.History(ctx, revision, claims)
	})
	switch {
	case err != nil:
		err = e.estate.Secrets.Error(err)
		e.logUnread(ctx, "history of declaration "+d.Name, err)
		if q.naming {
			e.answer(q, nil, unreadRef(err))
			return nil
		}
		return err
	case history.Head != revision && q.naming:
		e.answer(q, nil, refMoved)
	case history.Head != revision:
		e.reload(ctx, d)
	default:
		e.answer(q, e.estate.Secrets.Pasts(claims, history.Pasts), "")
	}
	return nil
}

// reload reads a declaration again within a scan. If its engine reads the live side, too,
// that result has to be saved.
func (e *Engine) reload(ctx context.Context, d Declaration) {
	e.loadDeclaration(ctx, d, d.Loader)
	e.mu.Lock()
	own := model.LiveSource(d.Name)
	if _, seen := e.collected[own]; seen {
		e.unsaved[own] = true
	}
	e.mu.Unlock()
	e.canonicalize(ctx, Due{Declarations: []string{d.Name}})
}

// answer stores the pasts of the candidates of a question. Candidates without a
// past get the gap.
func (e *Engine) answer(q question, pasts []model.Past, gap string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	for i, c := range q.candidates {
		past := model.Past{Gap: gap}
		if i < len(pasts) {
			past = pasts[i]
		}
		e.answers[c.ref] = pastAnswer{print: c.print, past: past, at: now}
	}
}

// forgetAnswers removes the answers that no candidate in list needs.
func (e *Engine) forgetAnswers(list []candidate) {
	e.mu.Lock()
	defer e.mu.Unlock()
	needed := make(map[claimRef]pastAnswer, len(list))
	for _, c := range list {
		if a, ok := e.answers[c.ref]; ok {
			needed[c.ref] = a
		}
	}
	e.answers = needed
}

// applyEvidence compares the subjects of the candidates again, with evidence, and replaces their
// outcomes. It replaces the claims of these subjects by copies, because claims are shared between
// scans. It removes the evidence afterwards to save memory, since there are hundreds of values for
// each claim.
func (e *Engine) applyEvidence(v view, list []candidate, earlier []model.Finding) error {
	if len(list) == 0 {
		return nil
	}
	before, err := e.store.Runs(1)
	if err != nil {
		return err
	}
	rulings, settings := rulingsOf(earlier), map[string]model.Declaration{}
	for _, d := range v.declarations {
		settings[d.Name] = d.declaration
	}
	for len(list) > 0 {
		j := list[0].judged
		n := slices.IndexFunc(list, func(c candidate) bool { return c.judged != j })
		if n < 0 {
			n = len(list)
		}
		s := j.Subject
		s.Claims = slices.Clone(s.Claims)
		for _, c := range list[:n] {
			claim := *s.Claims[c.claim]
			evidence, err := e.evidence(v, c, settings[claim.Declaration])
			if err != nil {
				return err
			}
			evidence.LastRead = lastRead(before, s)
			evidence.Rulings = rulings[rulingRef{s.Key, claim.Declaration}]
			claim.Evidence = evidence
			s.Claims[c.claim] = &claim
		}
		*j = diff.Judge(s, e.estate.Diff)
		for _, c := range list[:n] {
			s.Claims[c.claim].Evidence = nil
		}
		list = list[n:]
	}
	return nil
}

// lastRead returns when the last run read a resource that is live now; zero if it
// did not read it.
func lastRead(runs []model.Run, s *model.Subject) time.Time {
	for i := range runs {
		read := model.Snapshot{Coverage: slices.DeleteFunc(slices.Clone(runs[i].Coverage), func(c model.Coverage) bool { return c.Source != s.Source })}
		for _, source := range runs[i].Sources {
			if covered, _ := read.Covers(s.Key.Kind, s.Place); covered && source.Name == s.Source && source.Err == "" && !source.Held {
				return source.Taken
			}
		}
	}
	return time.Time{}
}

// evidence returns the evidence for a candidate of declaration d, from the history and from earlier
// scans.
func (e *Engine) evidence(v view, c candidate, d model.Declaration) (*model.Evidence, error) {
	seen, err := e.store.Observations(observedKeys(c.judged.Subject.Key, c.judged.Subject.Claims[c.claim]))
	if err != nil {
		return nil, err
	}
	for i := range seen {
		seen[i] = e.estate.Secrets.Observations(c.ref.kind, seen[i])
	}
	e.mu.Lock()
	known, answered := e.answers[c.ref]
	e.mu.Unlock()
	found := &model.Evidence{Now: e.now(), Live: seen[0], Declared: seen[1], DeployWindow: d.DeployWindow, ApplyBeforeMerge: d.ApplyBeforeMerge}
	failure, failed := v.failed[c.ref.declaration]
	switch answered = answered && known.print == c.print; {
	case answered:
		found.Past = known.past
	case failed:
		found.Gap, found.Behind = unreadRef(failure), true
	default:
		found.Gap, found.Behind = refMoved, true
	}
	if claim := c.judged.Subject.Claims[c.claim]; claim.Written != nil && found.Gap == "" {
		found.Gap = "the cluster rewrites what is declared (canonicalize)"
	}
	return found, nil
}

// observedKeys returns the keys under which the store keeps the live and the declared values of a
// claim on a resource.
func observedKeys(live model.Key, c *model.Claim) []model.Key {
	stored := model.Key{Source: model.DeclaredSource(c.Declaration), Kind: c.Kind, ID: claimID(c)}
	if c.LiveRead != nil {
		live = stored
		live.Source = model.LiveReadSource(c.Declaration)
	}
	return []model.Key{live, stored}
}

// A rulingRef names the findings of one declaration on one resource.
type rulingRef struct {
	model.Key
	declaration string
}

// rulingsOf returns the rulings of the last scan without their reasons, since the reason of a
// finding combines those of several fields.
func rulingsOf(earlier []model.Finding) map[rulingRef]map[string]model.Ruling {
	all := map[rulingRef]map[string]model.Ruling{}
	for i := range earlier {
		f := &earlier[i]
		if f.Verdict != model.Pending && f.Verdict != model.Bypassed {
			continue
		}
		ref := rulingRef{f.Key, f.Declaration}
		if all[ref] == nil {
			all[ref] = map[string]model.Ruling{}
		}
		if len(f.Changes) == 0 {
			all[ref][""] = model.Ruling{Verdict: f.Verdict, Unproven: f.Unproven}
		}
		for k := range f.Changes {
			c := &f.Changes[k]
			all[ref][c.Path] = model.Ruling{Verdict: f.Verdict, Unproven: c.Unproven, Live: c.Live}
		}
	}
	return all
}

// declaredSnapshots returns the values of the claims of newly read declarations in the form in
// which the store saves them: each declaration is a source, and so are the live values that its
// engine read.
func (v view) declaredSnapshots() []model.Snapshot {
	var snapshots []model.Snapshot
	for _, d := range v.declarations {
		if d.err != nil || !d.unsaved {
			continue
		}
		source := model.DeclaredSource(d.Name)
		complete := len(d.declaration.Problems) == 0
		s := model.Snapshot{Source: source, Taken: d.at, Coverage: []model.Coverage{{Source: source, Complete: complete}},
			Resources: make([]model.Resource, 0, len(d.declaration.Claims))}
		var read []model.Resource
		for i := range d.declaration.Claims {
			c := d.canonicalClaim(i)
			if c.Unchecked != "" {
				s.Unread = append(s.Unread, model.Unread{Ref: model.Ref{Kind: c.Kind, ID: claimID(c)}})
			}
			if c.Unchecked != "" || c.RecordOnly || c.ByIdentity || c.Value.IsNull() {
				continue
			}
			r := model.Resource{Key: model.Key{Source: source, Kind: c.Kind, ID: claimID(c)}, Place: c.Place, Name: c.Name, Value: c.Value}
			s.Resources = append(s.Resources, r)
			if c.LiveRead != nil && !c.LiveRead.Value.IsNull() {
				r.Source, r.Value = model.LiveReadSource(d.Name), c.LiveRead.Value
				read = append(read, r)
			}
		}
		byKey := func(a, b model.Resource) int { return a.Compare(b.Key) }
		slices.SortStableFunc(s.Resources, byKey)
		snapshots = append(snapshots, s)
		if read != nil {
			slices.SortStableFunc(read, byKey)
			source = model.LiveReadSource(d.Name)
			snapshots = append(snapshots, model.Snapshot{Source: source, Taken: d.at, Resources: read, Unread: s.Unread, Coverage: []model.Coverage{{Source: source, Complete: complete}}})
		}
	}
	return snapshots
}

// canonicalClaim returns a claim in the form in which the governed source would
// store it, if there is exactly one governed source and it was asked.
func (d declarationView) canonicalClaim(i int) *model.Claim {
	if len(d.Governs) == 1 {
		if claims := d.canonical[d.Governs[0]]; i < len(claims) {
			return &claims[i]
		}
	}
	return &d.declaration.Claims[i]
}
