package shoutrrr

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify/notifytest"
	"github.com/driftd/driftd/internal/notify/plain"
	"github.com/driftd/driftd/internal/phrase"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// messages returns a message of each kind by name.
func messages() map[string]model.Message {
	first := notifytest.Entry().Message
	resolved := notifytest.Entry().Message
	resolved.Kind, resolved.Title, resolved.OpenCount, resolved.ResolvedCount = model.ResolvedMessage, "resolved: shop/web", 0, 2
	resolved.News, resolved.NewsCount = resolved.News[:1], 1
	resolved.News[0].News = model.Over
	resolved.News[0].Finding.Resolved = now()
	flood := notifytest.Entry().Message
	flood.Title, flood.NewsCount, flood.News = "new: 5,000 findings", 5000, nil
	for range model.MaxItems {
		item := first.News[0]
		item.Fields = 12
		for i := range 4 {
			v := model.StringOf(strings.Repeat("v", 300))
			item.Finding.Changes = append(item.Finding.Changes, model.Change{Path: fmt.Sprintf("spec.field%d", i), Live: &v})
		}
		flood.News = append(flood.News, item)
	}
	flood.Notes = []string{"2 more came and went meanwhile."}
	digest := model.Message{Key: "k", Kind: model.DigestMessage, Title: "how it stands", OpenCount: 2, All: first.All, Notes: []string{"400 of 412 resources are in sync", "a note\nwith a line break"}}
	reminder := notifytest.Entry().Message
	reminder.Kind, reminder.News, reminder.NewsCount = model.ReminderMessage, nil, 0
	reminder.All = reminder.All[:1]
	reminder.All[0].News = model.Standing
	return map[string]model.Message{"new": first, "resolved": resolved, "flood": flood, "digest": digest, "reminder": reminder,
		"decided": decided(), "news": news(),
		"test": {Key: "k", Kind: model.TestMessage, Title: "a test"}}
}

// decided returns a message about an accepted and a hidden finding.
func decided() model.Message {
	m := notifytest.Entry().Message
	m.Kind, m.Title, m.MutedCount, m.OpenCount = model.DecidedMessage, "2 findings accepted", 2, 0
	m.News[0].News, m.News[1].News = model.WasAccepted, model.WasHidden
	m.News[0].Finding.Decision = &model.Decision{Kind: model.Accept, By: "carol", Owner: "team-shop", Reason: "until the *move*", Until: now()}
	m.News[1].Finding.Hidden = "a lab"
	return m
}

// news returns a message with the other kinds of news.
func news() model.Message {
	m := notifytest.Entry().Message
	changed, missing := m.News[0], m.News[1]
	changed.News, changed.Why = model.Returned, "it was accepted by carol, which has ended"
	missing.News = model.StartsToFlap
	part := model.Item{News: model.Appeared, Finding: model.Finding{ID: "3c4d", Verdict: model.Unchecked, Severity: model.Medium, Declaration: "shop",
		Address: "deploy/broken.yaml", Key: model.Key{Kind: phrase.PartKind, ID: "shop/deploy/broken.yaml"}, Reason: "line 3: no YAML", Actor: model.UnknownActor("not checked")}}
	m.Title, m.News, m.NewsCount, m.All = "3 findings", []model.Item{part, changed, missing}, 3, nil
	return m
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, m := range messages() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := text(&m, plain.Text{URL: m.URL}, m.Title, defaultLimit) + "\n"
			path := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzText checks for any names and limits that a text is valid UTF-8, is not longer than
// the limit, and states the number of findings that are left out.
func FuzzText(f *testing.F) {
	f.Add("web\n@all", 200, 30)
	f.Add(strings.Repeat("é\u202e", 300), 1024, 2)
	f.Add("x", 4096, 0)
	f.Fuzz(func(t *testing.T, name string, limit, count int) {
		limit, count = limit%5000, count%50
		if limit < 100 || count < 0 {
			return
		}
		item := notifytest.Entry().Message.News[0]
		item.Finding.Key.ID, item.Finding.Actor.Name, item.Finding.Changes[0].Path = name, name, name
		m := model.Message{Title: "title", NewsCount: count}
		for range count {
			m.News = append(m.News, item)
		}
		got := text(&m, plain.Text{Quote: plain.Unmark}, m.Title, limit)
		if len(got) > limit || !utf8.ValidString(got) || !strings.HasPrefix(got, "title") {
			t.Errorf("text of %d bytes, limit %d: %q", len(got), limit, got)
		}
		shown := strings.Count("\n"+got, "\n[")
		more := 0
		if i := strings.Index(got, "…and "); i >= 0 {
			_, _ = fmt.Sscanf(got[i:], "…and %d more", &more)
		}
		if shown+more != count {
			t.Errorf("%d findings shown and %d left out, want %d in total: %q", shown, more, count, got)
		}
	})
}

// TestSendRequest checks that the text and the title for each service respect its limits.
func TestSendRequest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"smtp", "discord", "teams", "telegram", "pagerduty", "opsgenie", "mattermost", "zulip", "wecom", "pushover", "join", "generic", "slack"} {
		s := serviceOf(name)
		for kind, m := range messages() {
			r, ok := s.sendRequest(&m)
			if want := name != "opsgenie" || kind != "resolved" && kind != "decided"; ok != want {
				t.Errorf("%s: %s message: ok = %t, want %t", name, kind, ok, want)
			}
			if r.Text == "" || len(r.Text) > s.limit || s.title == 0 && !strings.HasPrefix(r.Text, m.Title) ||
				s.title > 0 && r.Params["title"] != m.Title {
				t.Errorf("%s: %s message: got %+v", name, kind, r)
			}
		}
	}
}

// TestQuietSendRequest checks that a quiet message is sent only if the service updates an
// incident.
func TestQuietSendRequest(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"smtp", "teams", "pagerduty", "opsgenie", "slack"} {
		m := messages()["new"]
		m.Quiet = true
		if _, ok := serviceOf(name).sendRequest(&m); ok != (name == "pagerduty") {
			t.Errorf("%s: quiet message: ok = %t", name, ok)
		}
	}
}

func TestReclassifiedText(t *testing.T) {
	t.Parallel()
	m := messages()["new"]
	m.News, m.NewsCount = m.News[:1], 1
	it := &m.News[0]
	it.News, it.Why, it.WasVerdict = model.Reclassified, "was pending", model.Pending
	if got := text(&m, plain.Text{}, "", 4000); !strings.HasPrefix(got, "[now changed] changed: ") || !strings.Contains(got, "\n  was pending\n") {
		t.Errorf("got:\n%s", got)
	}
	it.News, it.Finding.MergedInto, it.Finding.Resolved = model.WasMerged, "f00d04", it.Finding.FirstSeen
	if got := text(&m, plain.Text{}, "", 4000); !strings.HasPrefix(got, "[merged] changed: ") || !strings.Contains(got, ", merged into f00d04 20") || strings.Contains(got, "pending") {
		t.Errorf("got:\n%s", got)
	}
}

// TestActionRequest verifies that an action opens an incident, or an alert, only if a person has to look at it,
// and ends the incident when it is over.
func TestActionRequest(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		waits, alarm bool
		sent         map[string]bool
		event        string
	}{
		"proposal": {waits: true, sent: map[string]bool{"smtp": true}},
		"alarm":    {alarm: true, sent: map[string]bool{"smtp": true, "pagerduty": true, "opsgenie": true}, event: "trigger"},
		"over":     {sent: map[string]bool{"smtp": true, "pagerduty": true}, event: "resolve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := model.Message{Key: "action-1.1", Kind: model.ActionMessage, Thread: "action-1", Title: "prod: put Deployment shop/web back", Notes: []string{"driftd approve 1 --digest d"},
				Action: &model.ActionNotice{ID: "1", Waits: tc.waits, Alarm: tc.alarm}}
			for _, service := range []string{"smtp", "pagerduty", "opsgenie"} {
				r, ok := serviceOf(service).sendRequest(&m)
				if ok != tc.sent[service] || !strings.Contains(r.Text, "driftd approve 1") {
					t.Errorf("%s is sent: %t, with the text %q", service, ok, r.Text)
				}
				if service == "pagerduty" && ok && (r.Params["action"] != tc.event || r.Params["dedup_key"] != "driftd-action-1") {
					t.Errorf("PagerDuty gets %v", r.Params)
				}
			}
		})
	}
}
