//go:build e2e

package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// A server is one of those that a daemon tells.
type server string

const (
	toHook  server = "the webhook"
	toSlack server = "Slack"
)

// A stage is how far a request has come.
type stage string

const (
	arrives stage = "arrives" // it is there, and nothing came of it
	taken   stage = "taken"   // what it asks for is done, and nobody says so
	replied stage = "replied" // the answer is under way
)

// A moment is when a daemon is killed: at a stage of the nth request that a
// server gets from it. The zero moment is right after its start.
type moment struct {
	server server
	nth    int
	stage  stage
}

// kills are the moments, in groups: after each of them a daemon says all that
// there is to say. Each time it has one thing to tell that is new, and from the
// second group on one that is over: that makes two events, and three requests
// to Slack, which edits a message and answers it.
func kills() [][]moment {
	return [][]moment{
		{{toSlack, 1, taken}, {toHook, 1, arrives}, {toSlack, 1, arrives}},
		{{toSlack, 3, taken}, {}, {toHook, 2, taken}},
		{{toSlack, 1, arrives}, {toSlack, 2, taken}, {toHook, 1, replied}},
		{{toHook, 1, taken}, {toHook, 1, arrives}, {toSlack, 2, replied}},
		{{toSlack, 2, arrives}, {toSlack, 1, taken}, {}},
		{{}, {toSlack, 3, replied}, {toHook, 2, replied}},
		{{toSlack, 3, arrives}, {toHook, 2, arrives}, {toSlack, 1, replied}},
	}
}

// A trap waits for a moment.
type trap struct {
	moment
	sprung chan struct{}
}

func (l *listener) setTrap(m moment) *trap {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.trap = &trap{m, make(chan struct{})}
	return l.trap
}

// falls counts a request of a server, and returns the trap that it falls into,
// or nil.
func (l *listener) falls(to server) *trap {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.trap
	if t == nil || t.server != to {
		return nil
	}
	if t.nth--; t.nth > 0 {
		return nil
	}
	l.trap = nil
	return t
}

// caught serves requests. One that falls into a trap is left at its stage until
// whoever sent it is dead.
func (l *listener) caught(to server, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t := l.falls(to)
		if t == nil {
			serve(w, r)
			return
		}
		// Only who has read all of a request hears that its sender is dead.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			l.t.Errorf("read request: %v", err)
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		switch t.stage {
		case replied:
			serve(w, r)
			close(t.sprung)
			return
		case taken:
			serve(httptest.NewRecorder(), r)
		}
		close(t.sprung)
		<-r.Context().Done()
	}
}

// killAt runs a daemon until a moment.
func (l *listener) killAt(i *installation, m moment) {
	i.t.Helper()
	t := l.setTrap(m)
	d := i.start()
	if m != (moment{}) {
		select {
		case <-t.sprung:
		case <-d.process.Done():
			i.t.Fatalf("driftd serve ended before %v", m)
		case <-time.After(startTimeout):
			i.t.Fatalf("driftd serve made no request for %v", m)
		}
	}
	d.kill()
	l.setTrap(moment{})
}

// TestAlertsSurviveKills kills a daemon at many moments, while in each round
// another ConfigMap goes and, a group of rounds later, is back. In the end of
// each was said once that it is missing, and once that this is over.
func TestAlertsSurviveKills(t *testing.T) {
	t.Parallel()
	i, l := installAlerts(t)
	// What is new begins a thread, whatever was said a moment ago.
	i.configure(strings.Replace(l.config(), "notify:", "notify:\n  group_window: 0s", 1))
	groups := kills()
	away := len(groups[0]) + 1
	names := make([]string, len(groups)*away)
	for n := range names {
		names[n] = fmt.Sprintf("c%02d", n)
	}
	all := slices.Concat(names, []string{"other"})
	i.write("deploy/app.yaml", configMaps(all...))
	n := 0
	round := func() {
		i.lives(slices.Concat(all[:max(0, n-away+1)], all[n+1:])...)
		n++
	}
	for _, group := range groups {
		asked, again := l.counts()
		for _, m := range group {
			round()
			l.killAt(i, m)
		}
		round()
		d := i.serve()
		l.awaits(i, names[n-1], "new")
		d.awaitsSilence()
		d.kill()
		l.heardTwice(group, asked, again)
	}
	i.lives(all...)
	d := i.serve()
	l.awaits(i, names[n-1], "new, resolved")
	d.awaitsSilence()
	saidOnce(t, toHook, l.hooked(), names)
	saidOnce(t, toSlack, l.posted(), names)
}

// saidOnce wants of each name said that it is missing, and that this is over, in
// the order of the names, and nothing else.
func saidOnce(t *testing.T, to server, said, names []string) {
	t.Helper()
	for _, news := range []model.News{model.Appeared, model.Over} {
		var want []string
		for _, name := range names {
			want = append(want, string(news)+" "+name)
		}
		got := slices.DeleteFunc(slices.Clone(said), func(s string) bool { return !strings.HasPrefix(s, string(news)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("what %s was told (-want +got):\n%s", to, diff)
		}
	}
	if len(said) != 2*len(names) {
		t.Errorf("%s was told %d things, want %d: %q", to, len(said), 2*len(names), said)
	}
	for _, name := range names {
		if slices.Index(said, "new "+name) > slices.Index(said, "resolved "+name) {
			t.Errorf("%s was told that %s is over before it was told that it is missing", to, name)
		}
	}
}

// counts returns how often Slack's history was asked, and how many events came
// again.
func (l *listener) counts() (asked, again int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked, l.again
}

// heardTwice wants the kills of a group to have done what they are for: a
// message that was begun and not confirmed is looked for in Slack, and told the
// webhook again.
func (l *listener) heardTwice(group []moment, asked, again int) {
	l.t.Helper()
	nowAsked, nowAgain := l.counts()
	if slices.ContainsFunc(group, func(m moment) bool { return m.server == toSlack && m.stage != replied }) && nowAsked == asked {
		l.t.Errorf("nobody looked into Slack's history after %v", group)
	}
	if slices.ContainsFunc(group, func(m moment) bool { return m.server == toHook && m.stage == taken }) && nowAgain == again {
		l.t.Errorf("the webhook was told nothing again after %v", group)
	}
}

// awaitsSilence waits until nothing waits to be said.
func (d *daemon) awaitsSilence() {
	d.t.Helper()
	d.eventually(startTimeout, "silence", func() error {
		body, err := d.get("/api/v1/status")
		if err != nil {
			return err
		}
		var status struct{ Receivers []model.ReceiverStatus }
		if err := json.Unmarshal([]byte(body), &status); err != nil {
			return fmt.Errorf("decode status: %w: %s", err, body)
		}
		for _, r := range status.Receivers {
			if r.Queued > 0 {
				return fmt.Errorf("%d messages wait for %s: %s", r.Queued, r.Name, r.Error)
			}
		}
		return nil
	})
}

// hooked lists what the webhook was told: news and names.
func (l *listener) hooked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := make([]string, 0, len(l.said))
	for _, it := range l.said {
		said = append(said, string(it.News)+" "+it.Finding.Name)
	}
	return said
}

// posted lists the same of Slack, where no key may stand twice.
func (l *listener) posted() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	line := regexp.MustCompile(`(?m)^(\w+) · missing: (.*)$`)
	keys := map[string]bool{}
	var said []string
	for _, p := range l.posts {
		key := string(p.Metadata)
		if keys[key] || key == "" {
			l.t.Errorf("Slack has a message without a key, or twice: %s: %s", key, p.Text)
		}
		keys[key] = true
		for _, found := range line.FindAllStringSubmatch(p.Text, -1) {
			said = append(said, found[1]+" "+found[2])
		}
	}
	return said
}
