package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
)

// A notifyBench is a bench whose engine has the receiver "ops".
type notifyBench struct {
	*bench
	now   time.Time
	woken int
	shown map[string][]model.Finding
}

func (d *notifyBench) Wake() { d.woken++ }

func (d *notifyBench) Show(receiver string, open []model.Finding) { d.shown[receiver] = open }

func newNotifyBench(t *testing.T, change func(*Estate)) *notifyBench {
	t.Helper()
	d := &notifyBench{now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), shown: map[string][]model.Finding{}}
	estate := Estate{}
	d.bench = newBench(t, 4, func(e *Estate) {
		if change != nil {
			change(e)
		}
		estate = *e
	})
	d.source.now = func() time.Time { return d.now }
	d.engine = d.engineOf(estate)
	return d
}

func (d *notifyBench) engineOf(estate Estate) *Engine {
	policy := &notify.Policy{Routes: []notify.Route{{Receivers: []string{"ops"}, GroupBy: []string{"cause"}}},
		Receivers: map[string]notify.Pacing{"ops": {Digest: -1}}, GroupWindow: time.Minute}
	policy.Routes[0].Receivers = append(policy.Routes[0].Receivers, "mirror")
	return New(estate, Options{Store: d.store, Now: func() time.Time { return d.now }, Log: slog.New(slog.DiscardHandler),
		Notifications: Notifications{Policy: policy, Mirrors: []string{"mirror"}, Dispatcher: d}})
}

// set edits a thing by hand.
func (d *notifyBench) set(thing int, value string) { d.source.values[thing] = value }

// messages removes the queued messages for ops from the store, and returns them in short.
func (d *notifyBench) messages(t *testing.T) []string {
	t.Helper()
	var said []string
	for {
		p, ok, err := d.store.NextOutboxEntry("ops")
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			return said
		}
		var news []string
		for _, it := range p.Message.News {
			news = append(news, fmt.Sprintf("%s %s", it.News, it.Finding.Key.ID))
		}
		said = append(said, fmt.Sprintf("%s: %s", p.Message.Kind, strings.Join(news, ", ")))
		if err := d.store.EndDelivery("ops", p.Message.Key, "receipt"); err != nil {
			t.Fatal(err)
		}
	}
}

func (d *notifyBench) want(t *testing.T, reason string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, d.messages(t)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", reason, diff)
	}
}

func (d *notifyBench) accept(t *testing.T, until time.Duration) model.Decision {
	t.Helper()
	open, err := d.store.OpenFindings()
	if err != nil || len(open) == 0 {
		t.Fatalf("%d findings are open, error %v", len(open), err)
	}
	made, err := d.engine.Decide(t.Context(), []string{open[0].ID}, decide.Request{Kind: model.Accept, Reason: "sale", Owner: "shop",
		By: "alice", Via: "test", Until: d.now.Add(until).Format(time.RFC3339Nano)})
	if err != nil {
		t.Fatal(err)
	}
	return made[0]
}

func TestAcceptance(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, nil)
	d.set(0, "2")
	wantVerdicts(t, d.cycle(t), "1 changed")
	d.want(t, "the edit is notified", "new: new p/00")
	d.accept(t, 24*time.Hour)
	d.want(t, "the acceptance is notified at once", "decided: accepted p/00")
	if shown := d.shown["mirror"]; len(shown) != 0 {
		t.Errorf("a mirror is shown %d findings, want none", len(shown))
	}
	r := d.cycle(t)
	if wantVerdicts(t, r, ""); r.Summary.Accepted != 1 || r.Summary.Findings != 0 {
		t.Errorf("summary %+v, want one accepted and no finding", r.Summary)
	}
	for _, back := range []string{"3", "4"} {
		d.set(0, back)
		wantVerdicts(t, d.cycle(t), "1 changed")
		d.want(t, "another value is not what was accepted", "new: returned p/00")
		d.set(0, "2")
		wantVerdicts(t, d.cycle(t), "")
		d.want(t, "the accepted value again", "decided: accepted p/00")
	}
	d.now = d.now.Add(24*time.Hour - time.Second)
	if err := d.engine.Announce(); err != nil {
		t.Fatal(err)
	}
	d.want(t, "it still holds")
	d.now = d.now.Add(time.Second)
	if err := d.engine.Announce(); err != nil {
		t.Fatal(err)
	}
	d.want(t, "its end needs no scan", "new: returned p/00")
}

func TestAcceptanceOfAnotherDeclaration(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, nil)
	d.source.count = 3
	wantVerdicts(t, d.cycle(t), "1 missing")
	d.messages(t)
	d.accept(t, 24*time.Hour)
	wantVerdicts(t, d.cycle(t), "")
	d.want(t, "what is missing may stay so", "decided: accepted p/03")
	d.declaration.size = "5"
	d.source.values = map[int]string{0: "5", 1: "5", 2: "5"}
	wantVerdicts(t, d.cycle(t), "1 missing")
	d.want(t, "something else is declared now", "new: returned p/03")
}

func TestRevoke(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, nil)
	d.set(0, "2")
	d.cycle(t)
	made := d.accept(t, time.Hour)
	d.messages(t)
	if _, err := d.engine.Revoke(t.Context(), made.ID, "lena"); err != nil {
		t.Fatal(err)
	}
	d.want(t, "what was accepted is back", "new: returned p/00")
}

// decisions is a declaration with acceptances in a file.
type decisions struct {
	list []model.Decision
	err  error
}

func (f *decisions) Load(context.Context) (model.Declaration, error) {
	return model.Declaration{Name: "file", Decisions: f.list}, f.err
}

func TestDecisionsInAFile(t *testing.T) {
	t.Parallel()
	file := &decisions{list: []model.Decision{{ID: "1", Kind: model.Accept, From: "file", Via: "acceptances.yaml:3", Owner: "shop", By: "alice",
		Subject: model.Target{Key: model.Key{Source: "live", Kind: thing, ID: "p/00"}},
		Changes: []model.Change{{Path: "size", Live: value("2")}}}}}
	var estate Estate
	d := newNotifyBench(t, func(e *Estate) {
		e.Declarations = append(e.Declarations, Declaration{Name: "file", Type: "acceptances", Loader: file, ClaimsNothing: true})
		e.Whole = true
		estate = *e
	})
	d.set(0, "2")
	r := d.cycle(t)
	if wantVerdicts(t, r, ""); !r.Scan.Complete {
		t.Errorf("coverage %+v, want complete", r.Coverage)
	}
	d.want(t, "a finding accepted in a file is not notified")
	file.err = errors.New("git is away")
	wantVerdicts(t, d.cycle(t), "1 unchecked")
	d.engine = d.engineOf(estate)
	wantVerdicts(t, d.cycle(t), "1 unchecked")
	d.want(t, "the file as it was last read counts, also after a restart", "unchecked: new file")
	file.err, file.list = nil, nil
	wantVerdicts(t, d.cycle(t), "1 changed")
	d.want(t, "it is no longer in the file", "new: new p/00", "resolved: resolved file")
	file.list = []model.Decision{{ID: "1", Kind: model.Accept, From: "file", Subject: model.Target{Key: model.Key{Source: "live", Kind: thing, ID: "p/00"}},
		Changes: []model.Change{{Path: "size"}}}}
	wantVerdicts(t, d.cycle(t), "")
	estate.Declarations = estate.Declarations[:1]
	d.engine = d.engineOf(estate)
	wantVerdicts(t, d.cycle(t), "1 changed")
}

func value(text string) *model.Value {
	v := model.StringOf(text)
	return &v
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, nil)
	d.set(0, "2")
	d.set(1, "2")
	d.cycle(t)
	d.messages(t)
	notices, err := d.store.Notices()
	if err != nil || len(notices.Threads) != 1 {
		t.Fatalf("%d threads, error %v", len(notices.Threads), err)
	}
	request := notify.Request{Kind: model.Acknowledge, Receiver: "ops", Thread: notices.Threads[0].ID, Sequence: 1, By: "alice"}
	d.set(1, "3")
	// The live value has changed and was not notified yet: there was no scan.
	if _, err := d.engine.Answer(t.Context(), notify.Request{Kind: model.Accept, Receiver: "ops", Thread: request.Thread, Sequence: 1, By: "alice"}); err == nil {
		t.Error("an acceptance without reason was taken")
	}
	said, err := d.engine.Answer(t.Context(), request)
	if err != nil || said != "alice acknowledged 2 findings until 2026-03-03 09:00 UTC" {
		t.Errorf("Answer() = %q, %v", said, err)
	}
	d.want(t, "both are acknowledged", "decided: acknowledged p/00, acknowledged p/01")
	d.cycle(t)
	d.want(t, "one shows something else meanwhile", "new: returned p/01")
	for _, wrong := range []notify.Request{{Kind: model.Acknowledge, Receiver: "ops", Thread: "none", By: "a"},
		{Kind: model.Acknowledge, Receiver: "others", Thread: request.Thread, Sequence: 1, By: "a"},
		{Kind: model.Acknowledge, Receiver: "ops", Thread: request.Thread, By: "a"}} {
		if _, err := d.engine.Answer(t.Context(), wrong); err == nil {
			t.Errorf("Answer(%+v) was taken", wrong)
		}
	}
}

// TestAnswerToOutdatedMessage presses a button of a message after which another one was
// planned, which the person has not seen.
func TestAnswerToOutdatedMessage(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, nil)
	d.set(0, "2")
	d.set(1, "2")
	d.cycle(t)
	notices, err := d.store.Notices()
	if err != nil {
		t.Fatal(err)
	}
	d.set(1, "99")
	d.cycle(t)
	said, err := d.engine.Answer(t.Context(), notify.Request{Kind: model.Accept, Receiver: "ops", Thread: notices.Threads[0].ID, Sequence: 1,
		By: "alice", Reason: "sale", Owner: "shop", Until: decide.Forever})
	if err != nil || said != "alice accepted 1 finding forever: sale (1 changed meanwhile and was left)" {
		t.Errorf("Answer() = %q, %v", said, err)
	}
	wantVerdicts(t, d.cycle(t), "1 changed")
}

// TestAnswerToFindingThatBecameWorse presses a button of a message after the finding became more severe in quiet hours, in
// which there is no message about that.
func TestAnswerToFindingThatBecameWorse(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, func(e *Estate) {
		e.Severities = []classify.SeverityRule{{OlderThan: time.Hour, Set: model.Critical, Reason: "old"}}
	})
	d.engine.notifications.Policy.Receivers["ops"] = notify.Pacing{Digest: -1, Quiet: notify.QuietHours{From: 10 * time.Hour, To: 9 * time.Hour}}
	d.set(0, "2")
	d.cycle(t)
	d.want(t, "the edit is notified", "new: new p/00")
	notices, err := d.store.Notices()
	if err != nil {
		t.Fatal(err)
	}
	d.now = d.now.Add(2 * time.Hour)
	d.cycle(t)
	d.want(t, "the message about the severity is held back")
	said, err := d.engine.Answer(t.Context(), notify.Request{Kind: model.Acknowledge, Receiver: "ops", Thread: notices.Threads[0].ID, Sequence: 1, By: "alice"})
	if err == nil {
		t.Errorf("Answer() = %q: the person saw the finding with a lower severity", said)
	}
}

func TestFlappingOverScans(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, nil)
	for i := range 20 {
		d.set(0, []string{"2", "1"}[i%2])
		d.now = d.now.Add(10 * time.Minute)
		d.cycle(t)
	}
	said := d.messages(t)
	if len(said) != model.FlapCount || !slices.Contains(said, "new: flapping p/00") {
		t.Errorf("20 flips were said so: %q", said)
	}
}

// TestNotificationsAreSavedWithTheScan checks that a scan that could not be saved notifies no
// receiver, and that the next one does.
func TestNotificationsAreSavedWithTheScan(t *testing.T) {
	t.Parallel()
	d := newNotifyBench(t, nil)
	d.set(0, "2")
	full := &failingStore{Store: d.store}
	full.full.Store(true)
	d.engine.store = full
	if _, err := d.engine.Cycle(t.Context(), d.engine.Everything()); err == nil {
		t.Fatal("the store should have failed")
	}
	if d.woken > 0 {
		t.Error("a scan that was not saved was notified")
	}
	d.want(t, "nothing was kept")
	full.full.Store(false)
	d.cycle(t)
	d.want(t, "the saved scan is notified", "new: new p/00")
}

// A second opinion declares things 0 to count-1 as well.
type opinion struct {
	size  string
	count int
}

func (o *opinion) Load(context.Context) (model.Declaration, error) {
	d := model.Declaration{Name: "second", Governs: []string{"live"}}
	for i := range o.count {
		id := fmt.Sprintf("p/%02d", i)
		d.Claims = append(d.Claims, model.Claim{Declaration: "second", Address: "y.yaml", Kind: thing, ID: id, Place: "p", Name: id[2:],
			Value: model.MapOf(model.Field{Name: "size", Value: model.StringOf(o.size)})})
	}
	return d, nil
}

// TestReclassificationOverScans checks that a finding whose verdict changes to and fro is one
// finding in one thread, which is resolved once.
func TestReclassificationOverScans(t *testing.T) {
	t.Parallel()
	second := &opinion{size: "7"}
	d := newNotifyBench(t, func(e *Estate) {
		e.Declarations = append(e.Declarations, Declaration{Name: "second", Type: "test", Governs: []string{"live"}, Every: time.Minute, Loader: second})
	})
	scan := func(reason, verdicts string, want ...string) model.Report {
		t.Helper()
		d.now = d.now.Add(2 * time.Hour)
		r := d.cycle(t)
		wantVerdicts(t, r, verdicts)
		d.want(t, reason, want...)
		return r
	}
	d.set(1, "9")
	began := scan("changed by hand", "1 changed", "new: new p/01").Findings[0]
	second.count = 2
	d.set(0, "7")
	disputed := scan("another declaration disputes it", "2 disputed", "new: new p/00", "changed: reclassified p/01")
	for _, f := range disputed.Findings {
		if f.Key == began.Key && (f.ID != began.ID || !f.FirstSeen.Equal(began.FirstSeen) || f.Was == nil || f.Was.Verdict != model.Changed) {
			t.Errorf("after the dispute it is %+v", f)
		}
	}
	second.count = 0
	d.set(0, "1")
	scan("the dispute is over", "1 changed", "changed: reclassified p/01", "resolved: resolved p/00")
	scan("nothing is new", "1 changed")
	d.set(1, "1")
	scan("all is well", "", "resolved: resolved p/01")

	now, versions, err := d.store.Finding(began.ID)
	if err != nil || len(versions) != 4 || now.Resolved.IsZero() || now.Was == nil || now.Was.Verdict != model.Disputed {
		t.Errorf("%d versions, the last %+v, error %v", len(versions), now, err)
	}
	notices, err := d.store.Notices()
	if err != nil {
		t.Fatal(err)
	}
	threads := 0
	for _, thread := range notices.Threads {
		if _, member := thread.Members[began.ID]; member {
			threads++
		}
	}
	if threads != 1 {
		t.Errorf("%d threads speak of it", threads)
	}
}
