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

// A server is a server that gets a daemon's notifications.
type server string

const (
	toHook  server = "the webhook"
	toSlack server = "Slack"
)

// A stage is a stage of handling a request.
type stage string

const (
	arrives stage = "arrives" // it was received, and had no effect
	taken   stage = "taken"   // it had its effect, and no response
	replied stage = "replied" // the response was sent
)

// A moment is when a daemon is killed: at a stage of its nth request to a server. The zero
// moment is right after its start.
type moment struct {
	server server
	nth    int
	stage  stage
}

// kills returns the moments in groups: after each group a daemon delivers all notifications. In
// each round one finding is new, and from the second group on one is resolved. These are two
// events, and three requests to Slack, which edits a message and replies to it.
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

// trapFor counts a request to a server, and returns the trap for it, or nil.
func (l *listener) trapFor(to server) *trap {
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

// intercept serves requests. One that has a trap is held at its stage until the process that
// sent it is dead.
func (l *listener) intercept(to server, serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		t := l.trapFor(to)
		if t == nil {
			serve(w, r)
			return
		}
		// The request's context ends with the connection only after the body was read.
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

// TestAlertsSurviveKills kills a daemon at many moments. In each round another ConfigMap is
// deleted, and created again a group of rounds later. At the end each has exactly one
// notification that it is missing, and one that it is resolved.
func TestAlertsSurviveKills(t *testing.T) {
	t.Parallel()
	i, l := installAlerts(t)
	// A new finding starts a thread without delay.
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
		d.awaitEmptyQueues()
		d.kill()
		l.checkRetries(group, asked, again)
	}
	i.lives(all...)
	d := i.serve()
	l.awaits(i, names[n-1], "new, resolved")
	d.awaitEmptyQueues()
	checkNotifiedOnce(t, toHook, l.hooked(), names)
	checkNotifiedOnce(t, toSlack, l.posted(), names)
}

// checkNotifiedOnce checks that each name has one notification that it is missing and one that
// it is resolved, in the order of the names, and that there are no others.
func checkNotifiedOnce(t *testing.T, to server, said, names []string) {
	t.Helper()
	for _, news := range []model.News{model.Appeared, model.Over} {
		var want []string
		for _, name := range names {
			want = append(want, string(news)+" "+name)
		}
		got := slices.DeleteFunc(slices.Clone(said), func(s string) bool { return !strings.HasPrefix(s, string(news)) })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("notifications of %s (-want +got):\n%s", to, diff)
		}
	}
	if len(said) != 2*len(names) {
		t.Errorf("%s has %d notifications, want %d: %q", to, len(said), 2*len(names), said)
	}
	for _, name := range names {
		if slices.Index(said, "new "+name) > slices.Index(said, "resolved "+name) {
			t.Errorf("%s got %s resolved before missing", to, name)
		}
	}
}

// counts returns the number of requests for Slack's history, and of repeated events.
func (l *listener) counts() (asked, again int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked, l.again
}

// checkRetries checks the effect of a group of kills: a message without a confirmation is
// searched for in Slack's history, and an event without one is sent to the webhook again.
func (l *listener) checkRetries(group []moment, asked, again int) {
	l.t.Helper()
	nowAsked, nowAgain := l.counts()
	if slices.ContainsFunc(group, func(m moment) bool { return m.server == toSlack && m.stage != replied }) && nowAsked == asked {
		l.t.Errorf("no request for Slack's history after %v", group)
	}
	if slices.ContainsFunc(group, func(m moment) bool { return m.server == toHook && m.stage == taken }) && nowAgain == again {
		l.t.Errorf("no event was sent to the webhook again after %v", group)
	}
}

// awaitEmptyQueues waits until no notification is queued.
func (d *daemon) awaitEmptyQueues() {
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
				return fmt.Errorf("%d messages are queued for %s: %s", r.Queued, r.Name, r.Error)
			}
		}
		return nil
	})
}

// hooked lists the webhook's notifications: news and names.
func (l *listener) hooked() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	said := make([]string, 0, len(l.notifications))
	for _, it := range l.notifications {
		said = append(said, string(it.News)+" "+it.Finding.Name)
	}
	return said
}

// posted lists the notifications in Slack, and checks that no key occurs twice.
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
