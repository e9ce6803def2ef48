package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// message returns a message for a receiver in a thread, made at minute 0.
func message(receiver, thread, key string) model.Message {
	return model.Message{Key: key, Receiver: receiver, Kind: model.NewMessage, At: start(), Thread: thread, Title: "title of " + key,
		Severity: model.High, NewsCount: 1, OpenCount: 1, News: []model.Item{{News: model.Appeared, Finding: finding("f", 0).Public()}}}
}

// thread returns a thread of a receiver, whose members were notified at a minute.
func thread(receiver, id string, at, members int) model.Thread {
	t := model.Thread{ID: id, Receiver: receiver, Group: "group of " + id, Opened: start(), LastSent: minute(at), Sequence: at,
		Members: map[string]model.Notified{}}
	for i := range members {
		name := fmt.Sprintf("%s-%04d", id, i)
		t.Members[name] = model.Notified{News: model.Appeared, Basis: fmt.Sprintf("%016x", i*at), Severity: model.High, Verdict: model.Changed,
			Key: key("shop/" + name), Name: name}
	}
	return t
}

// notices returns the notices of a scan at a minute, in one thread with this number of members.
func notices(at, members int) model.NoticeChange {
	return model.NoticeChange{
		Threads:  []model.Thread{thread("slack", "t", at, members)},
		Paces:    map[string]model.Pace{"slack": {Sent: []time.Time{minute(at)}}},
		Messages: []model.Message{message("slack", "t", fmt.Sprintf("t.%d", at)), message("mail", "m", fmt.Sprintf("m.%d", at))},
	}
}

func saveNotices(tb testing.TB, s *Store, change model.NoticeChange) {
	tb.Helper()
	if err := s.SaveNotices(change); err != nil {
		tb.Fatal(err)
	}
}

func TestNotices(t *testing.T) {
	t.Parallel()
	a, b, grown := thread("slack", "a", 1, 2), thread("mail", "b", 1, 0), thread("slack", "a", 2, 5000)
	pace := model.Pace{Sent: []time.Time{minute(1), minute(2)}, Digest: minute(3), Held: minute(4)}
	cases := map[string]struct {
		changes []model.NoticeChange
		want    model.Notices
		reason  string
	}{
		"nothing": {[]model.NoticeChange{{}}, model.Notices{}, "no notice"},
		"threads": {[]model.NoticeChange{{Threads: []model.Thread{b, a}}}, model.Notices{Threads: []model.Thread{a, b}}, "sorted by ID"},
		"changed": {[]model.NoticeChange{{Threads: []model.Thread{a, b}}, {Threads: []model.Thread{grown}}},
			model.Notices{Threads: []model.Thread{grown, b}}, "a thread takes its own place, with all that it has"},
		"gone": {[]model.NoticeChange{{Threads: []model.Thread{a, b}}, {Gone: []string{"a", "unknown", ""}}},
			model.Notices{Threads: []model.Thread{b}}, "and one that was never there is no error"},
		"paces": {[]model.NoticeChange{{Paces: map[string]model.Pace{"slack": pace, "mail": {Held: minute(1)}}}, {Paces: map[string]model.Pace{"mail": {Digest: minute(2)}}}},
			model.Notices{Paces: map[string]model.Pace{"slack": pace, "mail": {Digest: minute(2)}}}, "each receiver has its own"},
		"empty pace": {[]model.NoticeChange{{Paces: map[string]model.Pace{"slack": pace}}, {Paces: map[string]model.Pace{"slack": {}}}},
			model.Notices{}, "a receiver without recent messages keeps nothing"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			for _, change := range c.changes {
				saveNotices(t, s, change)
			}
			got, err := s.Notices()
			if err != nil {
				t.Fatal(err)
			}
			if c.want.Paces == nil {
				c.want.Paces = map[string]model.Pace{}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s: %s", c.reason, diff)
			}
		})
	}
}

func TestSaveNoticesRefuses(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change    model.NoticeChange
		wantTexts string
	}{
		"no receiver":           {model.NoticeChange{Messages: []model.Message{message("", "t", "k")}}, "want a receiver and a key"},
		"no key":                {model.NoticeChange{Messages: []model.Message{message("slack", "t", "")}}, "want a receiver and a key"},
		"nul in receiver":       {model.NoticeChange{Messages: []model.Message{message("a\x00b", "t", "k")}}, "NUL"},
		"nul in key":            {model.NoticeChange{Messages: []model.Message{message("a", "t", "k\x00")}}, "NUL"},
		"nul in thread":         {model.NoticeChange{Messages: []model.Message{message("a", "t\x00", "k")}}, "NUL"},
		"thread without id":     {model.NoticeChange{Threads: []model.Thread{thread("a", "", 1, 1)}}, "key required"},
		"nul in thread's":       {model.NoticeChange{Threads: []model.Thread{thread("a\x00b", "t", 1, 1)}}, "NUL"},
		"pace without receiver": {model.NoticeChange{Paces: map[string]model.Pace{"": {Held: minute(1)}}}, "key required"},
		"decision without one":  {},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openNew(t)
			rec := scan(1, []model.Finding{finding("x", 1)})
			c.change.Messages = append([]model.Message{message("good", "g", "g.1")}, c.change.Messages...)
			rec.Notices = c.change
			if c.wantTexts == "" {
				rec.Decisions = map[string][]model.Decision{"git": {decision("", "f")}}
				c.wantTexts = "key required"
			}
			wantTexts(t, s.Save(rec), "save run run-1", c.wantTexts)
			open, err := s.OpenFindings()
			if queues, errQueues := s.Queues(); err != nil || errQueues != nil || len(open)+len(queues) != 0 {
				t.Errorf("a record that is refused leaves something behind: %v, %v", open, queues)
			}
		})
	}
}

// TestUnchangedScanCostsItsRun counts the pages that scans write.
func TestUnchangedScanCostsItsRun(t *testing.T) {
	t.Parallel()
	files := map[string][]model.Decision{"old": nil}
	for i := range 300 { // enough for several pages
		files["git"] = append(files["git"], decision(fmt.Sprintf("d%d", i), "a"))
	}
	writes := func(s *Store, rec Record) int64 {
		before := s.db.Stats()
		save(t, s, rec)
		after := s.db.Stats()
		return after.TxStats.GetSpill() - before.TxStats.GetSpill()
	}
	s := openNew(t)
	first := scan(0, []model.Finding{finding("a", 0)}, snapshotAt(0, resource("a", "1")))
	first.Notices, first.Decisions = notices(0, 50), files
	save(t, s, first)
	plain := scan(0, []model.Finding{finding("a", 0)}, snapshotAt(0, resource("a", "1")))
	want := writes(s, plain)
	plain.Decisions = files
	if got := writes(s, plain); got != want || want == 0 {
		t.Errorf("an unchanged scan with unchanged decisions writes %d nodes, without them %d", got, want)
	}
	before := s.db.Stats()
	saveNotices(t, s, model.NoticeChange{})
	after := s.db.Stats()
	if got := after.TxStats.GetWrite() - before.TxStats.GetWrite(); got != 0 {
		t.Errorf("nothing to keep writes %d pages", got)
	}
}
