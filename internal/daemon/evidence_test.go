package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/model"
)

// An applied estate is one thing with one field, size, that has a declared, a recorded and a
// live value.
type applied struct {
	declares, records, live string
	revision, gap           string
	versions                []model.Version
	loads                   int
	asked                   int
	refused                 error
	// twice reports whether two claims declare the thing; the first one has no history.
	twice bool
	// moves is called when history is read, before it is returned.
	moves func(*applied)
}

func sized(text string) model.Value {
	return model.MapOf(model.Field{Name: "size", Value: model.StringOf(text)})
}

func (a *applied) Collect(context.Context) (model.Snapshot, error) {
	recorded := sized(a.records)
	return model.Snapshot{Source: "live", Taken: time.Now(), Kinds: map[string]*model.Kind{thing: {Name: thing, Namespaced: true}},
		Coverage: []model.Coverage{{Source: "live", Complete: true}},
		Resources: []model.Resource{{Key: model.Key{Source: "live", Kind: thing, ID: "p/a"}, Place: "p", Name: "a", Value: sized(a.live),
			LastApplied: &recorded, OwnersFrom: "record", Owners: []model.Owner{{Name: "laptop", Records: true, At: time.Now()}}}}}, nil
}

func (a *applied) Load(context.Context) (model.Declaration, error) {
	a.loads++
	author := model.AuditEvent{Actor: model.Actor{Name: "committer", At: time.Now(), Confidence: model.Likely}}
	d := model.Declaration{Name: "git", Governs: []string{"live"}, Revision: a.revision, DeployWindow: time.Hour, Claims: []model.Claim{{
		Declaration: "git", Address: "x.yaml:1", Kind: thing, ID: "p/a", Place: "p", Name: "a", Value: sized(a.declares), ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{author}}}}}
	if a.twice {
		d.Claims = append(d.Claims, d.Claims[0])
		d.Claims[1].Address = "y.yaml:1"
	}
	return d, nil
}

// commit changes the declared value of the ref.
func (a *applied) commit(text string) {
	now := model.Commit{Hash: "commit-" + text, When: time.Now()}
	if len(a.versions) > 0 {
		a.versions[0].Until = now
	}
	value := sized(text)
	a.versions = append([]model.Version{{Value: &value, From: now}}, a.versions...)
	a.declares, a.revision = text, now.Hash
}

// apply makes a value live and recorded.
func (a *applied) apply(text string) { a.records, a.live = text, text }

// A historian is an applied estate whose declaration has a history.
type historian struct{ *applied }

func (h historian) History(_ context.Context, revision string, claims []*model.Claim) (model.History, error) {
	h.asked++
	if h.moves != nil {
		h.moves(h.applied)
	}
	if h.refused != nil {
		return model.History{}, h.refused
	}
	if h.revision != revision {
		return model.History{Head: h.revision}, nil
	}
	pasts := make([]model.Past, len(claims))
	for i := range pasts {
		pasts[i] = model.Past{Versions: h.versions, Gap: h.gap}
	}
	if h.twice {
		pasts[0].Versions = nil
	}
	return model.History{Head: revision, Pasts: pasts}, nil
}

type appliedBench struct {
	*bench
	*applied
}

func newAppliedBench(t *testing.T, keepsHistory bool) appliedBench {
	t.Helper()
	a := &applied{}
	a.commit("1")
	a.apply("1")
	var loader declared.Loader = a
	if keepsHistory {
		loader = historian{a}
	}
	return appliedBench{newBench(t, 0, func(e *Estate) {
		e.Sources[0].Collector, e.Declarations[0].Loader = a, loader
	}), a}
}

// scan scans and returns the findings: verdict, "?" for an unproven one, actor and reason. They are in reverse order of the
// verdicts: that of the report depends on the minute in which each was seen first.
func (b appliedBench) scan(t *testing.T) string {
	t.Helper()
	var lines []string
	findings := b.cycle(t).Findings
	slices.SortStableFunc(findings, func(a, b model.Finding) int { return cmp.Compare(b.Verdict, a.Verdict) })
	for _, f := range findings {
		line := string(f.Verdict)
		if len(f.Changes) > 0 && f.Changes[0].Unproven {
			line += "?"
		}
		lines = append(lines, strings.TrimSuffix(fmt.Sprintf("%s by %s: %s", line, f.Actor.Name, f.Reason), ": "))
	}
	return strings.Join(lines, "; ")
}

func (b appliedBench) want(t *testing.T, reason, want string) {
	t.Helper()
	if d := gocmp.Diff(want, b.scan(t)); d != "" {
		t.Errorf("%s (-want +got):\n%s", reason, d)
	}
}

func TestPipelineMakesNoFindings(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.commit("2")
	b.want(t, "committed, not applied yet", "pending by committer")
	b.apply("2")
	b.want(t, "applied", "")
	b.commit("1")
	b.want(t, "a revert commit", "pending by committer")
	b.apply("1")
	b.want(t, "the revert is applied", "")
	b.moves = func(a *applied) { a.commit("3"); a.moves = nil }
	b.apply("3")
	b.want(t, "pushed after the ref was fetched, and applied before live was read", "")
}

func TestApplyOfUncommittedValue(t *testing.T) {
	t.Parallel()
	const never = "bypassed by laptop: applied, and declared by no commit"
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.apply("evil")
	b.want(t, "a laptop applied what no commit holds", never)
	asked := b.asked
	b.want(t, "again", never)
	if b.asked != asked {
		t.Errorf("history was asked %d times more although neither side moved", b.asked-asked)
	}
	b.apply("worse")
	b.want(t, "another value", never)
	if b.asked != asked+1 {
		t.Errorf("history was asked %d times for a value that is new, want 1", b.asked-asked)
	}
	b.commit("2")
	b.want(t, "another commit does not make it declared", never)
	b.commit("worse")
	b.want(t, "committed after the fact", "")
}

func TestOlderVersionAppliedAgain(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.commit("2")
	b.apply("2")
	b.want(t, "the next version", "")
	b.apply("1")
	b.want(t, "an old pipeline runs again", "bypassed by laptop: an older version (commit-1) was applied again after driftd saw the declared one live")
}

func TestForcePushKeepsHistory(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.versions = nil
	b.commit("2")
	b.want(t, "history was rewritten, and not applied yet", "pending by committer")
	b.bench.engine = b.restart(b.engine.estate)
	b.want(t, "after a restart, too", "pending by committer")
}

func TestFirstScanWithoutHistory(t *testing.T) {
	t.Parallel()
	const unknown = "pending? by laptop: pending or bypassed: the declaration keeps no history"
	b := newAppliedBench(t, false)
	b.declares, b.revision = "2", ""
	b.want(t, "no history and no earlier scan", unknown)
	b.want(t, "nothing moved since", unknown)
	b.apply("3")
	b.want(t, "the live side moved", "bypassed by laptop: the live side changed and the declaration did not")
	b.declares = "4"
	b.want(t, "the declaration moves on", "bypassed by laptop: the live side changed and the declaration did not")
	b.apply("4")
	b.want(t, "applied", "")
	b.declares = "5"
	b.want(t, "the declaration moved", "pending by committer")
	b.want(t, "and stays", "pending by committer")
}

func TestFolderIsReadAgainBeforeComparing(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, false)
	b.revision = ""
	b.want(t, "applied as declared", "")
	b.declares = "2"
	b.apply("2")
	loads := b.loads
	if _, err := b.engine.Cycle(t.Context(), Due{Sources: []string{"live"}}); err != nil {
		t.Fatal(err)
	}
	if b.loads != loads+1 {
		t.Errorf("the folder was read %d times more, want once: live was read after it", b.loads-loads)
	}
	if waiting := b.engine.Waiting(); len(waiting) != 0 {
		t.Errorf("waiting for %v after a scan that was stored", waiting)
	}
	b.want(t, "in sync", "")
}

func TestFailedHistoryKeepsTheLastVerdict(t *testing.T) {
	t.Parallel()
	const never = "bypassed by laptop: applied, and declared by no commit"
	const unread = "unchecked by unknown: the ref could not be read: remote is down"
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.refused = errors.New("remote is down")
	b.commit("2")
	b.want(t, "committed, not applied yet, and the remote is down", unread+"; pending by committer")
	b.engine = b.restart(b.engine.estate)
	b.want(t, "after a restart, too", unread+"; pending by committer")
	b.refused = nil
	b.apply("evil")
	b.want(t, "the remote is back", never)
	b.refused = errors.New("remote is down")
	b.want(t, "the answer is stored", never)
	b.engine = b.restart(b.engine.estate)
	b.want(t, "after a restart, the last verdict is", unread+"; bypassed by laptop: the live side changed and the declaration did not")
}

func TestEditWhileHistoryFails(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.apply("evil")
	b.refused = errors.New("remote is down")
	const edited = "unchecked by unknown: the ref could not be read: remote is down; " +
		"pending? by laptop: pending or bypassed: the ref could not be read: remote is down"
	b.want(t, "a laptop applied while the remote is down", edited)
	asked := b.asked
	report := b.cycle(t)
	if report.Scan.Complete || report.Scan.NotChecked.Parts != 1 {
		t.Errorf("complete %t, not checked: %s, want one part", report.Scan.Complete, report.Scan.NotChecked)
	}
	if b.asked != asked+1 {
		t.Errorf("history was asked %d times more in the next scan, want once", b.asked-asked)
	}
	b.refused = nil
	b.want(t, "the remote is back", "bypassed by laptop: applied, and declared by no commit")
}

func TestRevertBetweenScans(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.commit("2")
	b.apply("2")
	b.commit("1")
	b.want(t, "deployed, and reverted by a commit that is not applied yet", "pending by committer")
	b.want(t, "again", "pending by committer")
	b.apply("1")
	b.want(t, "the revert is applied", "")
}

func TestRulings(t *testing.T) {
	t.Parallel()
	one := model.StringOf("1")
	key := model.Key{Source: "live", Kind: thing, ID: "p/a"}
	findings := []model.Finding{
		{Key: key, Declaration: "git", Verdict: model.Bypassed, Changes: []model.Change{{Path: "size", Live: &one}}},
		{Key: key, Declaration: "git", Verdict: model.Pending, Reason: "to be destroyed", Unproven: true},
		{Key: key, Declaration: "git", Verdict: model.Changed, Changes: []model.Change{{Path: "name", Live: &one}}},
		{Key: key, Declaration: "other", Verdict: model.Pending, Changes: []model.Change{{Path: "size", Unproven: true}}},
	}
	want := map[rulingRef]map[string]model.Ruling{
		{key, "git"}:   {"size": {Verdict: model.Bypassed, Live: &one}, "": {Verdict: model.Pending, Unproven: true}},
		{key, "other"}: {"size": {Verdict: model.Pending, Unproven: true}},
	}
	if d := gocmp.Diff(want, rulingsOf(findings), gocmp.AllowUnexported(rulingRef{})); d != "" {
		t.Errorf("rulings (-want +got):\n%s", d)
	}
}

// TestClaimsOfOneResource has two claims on one resource with different histories: only the
// second one's has the live value.
func TestClaimsOfOneResource(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.twice = true
	b.commit("2")
	for range 2 {
		b.want(t, "the first claim never had the value", "bypassed by laptop: applied, and declared by no commit")
	}
	if b.asked != 1 {
		t.Errorf("history was asked %d times although nothing moved, want once", b.asked)
	}
}

// TestEvidenceIsDropped checks that no evidence is kept of a subject that was compared.
func TestEvidenceIsDropped(t *testing.T) {
	t.Parallel()
	claims := []*model.Claim{{Declaration: "git", Kind: thing, ID: "p/a", Value: sized("2")}, {Declaration: "git", Kind: thing, ID: "p/a", Value: sized("2")}}
	live := &model.Resource{Value: sized("1"), LastApplied: &claims[0].Value}
	j := model.Judged{Subject: &model.Subject{Key: model.Key{Source: "live", Kind: thing, ID: "p/a"}, Live: live, Claims: claims}}
	b := newAppliedBench(t, true)
	list := []candidate{{judged: &j, claim: 0}, {judged: &j, claim: 1}}
	if err := b.engine.applyEvidence(view{}, list, nil); err != nil {
		t.Fatal(err)
	}
	if len(j.Outcomes) != 1 {
		t.Errorf("%+v, want one outcome", j.Outcomes)
	}
	for _, c := range j.Subject.Claims {
		if c.Evidence != nil {
			t.Errorf("the evidence of a claim is kept: %+v", c.Evidence)
		}
	}
}

func TestRefThatNeverStopsMoving(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.apply("evil")
	n := 1
	b.moves = func(a *applied) { n++; a.commit(fmt.Sprint(n)) }
	if got := b.scan(t); !strings.HasPrefix(got, "pending? ") && !strings.HasPrefix(got, "bypassed ") {
		t.Errorf("%q, want a loud verdict", got)
	}
}

// TestAnswersExpire checks that a history that could not be read is read again later, although
// neither side changed.
func TestAnswersExpire(t *testing.T) {
	t.Parallel()
	b := newAppliedBench(t, true)
	b.want(t, "applied as declared", "")
	b.gap = "history cannot be fetched"
	b.apply("evil")
	const guessed = "bypassed by laptop: the live side changed and the declaration did not"
	b.want(t, "the server does not send history", guessed)
	b.gap = ""
	b.want(t, "the answer holds for a while", guessed)
	b.engine.now = func() time.Time { return time.Now().Add(answerFor) }
	b.want(t, "asked again", "bypassed by laptop: applied, and declared by no commit")
}
