package daemon

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack/slacktest"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/notify"
	"github.com/driftd/driftd/internal/notify/slack"
	"github.com/driftd/driftd/internal/store"
)

var update = flag.Bool("update", false, "write the golden files")

// TestWeek writes the channel of a week for a person to review: scans every ten minutes,
// deploys, a node failure, three real drifts and one flapping field. The golden file is the
// text that the channel showed.
func TestWeek(t *testing.T) {
	t.Parallel()
	w := newWeek(t)
	for w.now.Before(w.begin.Add(7 * 24 * time.Hour)) {
		for len(w.script) > 0 && !w.script[0].at.After(w.now) {
			w.script[0].do(w)
			w.script = w.script[1:]
		}
		if _, err := w.engine.Cycle(t.Context(), w.engine.Everything()); err != nil {
			t.Fatal(err)
		}
		w.deliver()
		w.now = w.now.Add(10 * time.Minute)
	}
	w.channel.checkThreads(t)
	golden := filepath.Join("testdata", "week.golden")
	got := w.channel.transcript()
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the channel (-want +got):\n%s", diff)
	}
}

// A week is an estate that changes by a script.
type week struct {
	t          *testing.T
	begin, now time.Time
	engine     *Engine
	store      *store.Store
	deliverer  *notify.Dispatcher
	channel    *channel
	guests     map[string]guest
	declared   map[string]guest
	recorded   map[string]guest
	down       bool
	script     []event
}

type event struct {
	at time.Time
	do func(*week)
}

// A guest is a machine with memory, an image and tags.
type guest struct {
	memory int64
	image  string
	tag    string
	by     model.Actor
}

func newWeek(t *testing.T) *week {
	t.Helper()
	w := &week{t: t, begin: time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), channel: &channel{},
		guests: map[string]guest{}, declared: map[string]guest{}, recorded: map[string]guest{}}
	w.now = w.begin
	for i := range 60 {
		id := fmt.Sprintf("vm-%02d", i)
		w.guests[id] = guest{memory: 2048, image: "v1", tag: "prod"}
		w.declared[id], w.recorded[id] = w.guests[id], w.guests[id]
	}
	w.open()
	w.write()
	return w
}

// write makes the script of the week.
func (w *week) write() {
	on := func(day, hour, minute int, do func(*week)) {
		w.script = append(w.script, event{w.begin.AddDate(0, 0, day).Add(time.Duration(hour)*time.Hour + time.Duration(minute)*time.Minute), do})
	}
	edit := func(id, by string, change func(*guest)) func(*week) {
		return func(w *week) {
			g := w.guests[id]
			change(&g)
			g.by = model.Actor{Name: by, At: w.now.Add(-4 * time.Minute), Via: "task log", Evidence: "UPID:pve1:0001:qmconfig", Confidence: model.Exact}
			w.guests[id] = g
		}
	}
	for day := range 5 { // a deploy on every weekday: declared first, applied twenty minutes later
		image := fmt.Sprintf("v%d", day+2)
		on(day, 10, 0, func(w *week) { rollOut(w.declared, image) })
		on(day, 10, 20, func(w *week) { rollOut(w.guests, image); rollOut(w.recorded, image) })
	}
	on(0, 14, 0, edit("vm-07", "alice@pam", func(g *guest) { g.memory = 8192 }))
	on(0, 16, 30, edit("vm-07", "alice@pam", func(g *guest) { g.memory = 2048 }))
	on(1, 3, 0, func(w *week) { w.down = true })
	on(1, 4, 40, func(w *week) { w.down = false })
	on(2, 11, 0, edit("vm-21", "bob@pve", func(g *guest) { g.memory = 16384 }))
	on(2, 11, 30, (*week).acceptMemory)
	on(3, 9, 0, func(w *week) { delete(w.guests, "vm-33") })
	on(3, 12, 0, func(w *week) { w.guests["vm-33"] = w.declared["vm-33"] })
	for i := range 120 { // all Friday and half of Saturday a script and an agent each set a tag anew
		tag := []string{"backup", "prod"}[i%2]
		on(4, 12, i*10, edit("vm-50", "script@pve", func(g *guest) { g.tag = tag }))
	}
	slices.SortStableFunc(w.script, func(a, b event) int { return a.at.Compare(b.at) })
}

func rollOut(guests map[string]guest, image string) {
	for id, g := range guests {
		g.image = image
		guests[id] = g
	}
}

func (w *week) acceptMemory() {
	open, err := w.store.OpenFindings()
	if err != nil || len(open) != 1 {
		w.t.Fatalf("%d findings are open, error %v", len(open), err)
	}
	if _, err := w.engine.Decide(w.t.Context(), []string{open[0].ID}, decide.Request{Kind: model.Accept, Reason: "month's end", Owner: "team-billing",
		By: "carol", Via: "command line", Until: w.begin.AddDate(0, 0, 5).Format(time.RFC3339Nano)}); err != nil {
		w.t.Fatal(err)
	}
}

func (g guest) value() model.Value {
	return model.MapOf(model.Field{Name: "memory", Value: model.IntOf(g.memory)}, model.Field{Name: "image", Value: model.StringOf(g.image)},
		model.Field{Name: "tags", Value: model.StringOf(g.tag)})
}

const qemu = "proxmox/qemu"

// Collect implements collectors.Collector.
func (w *week) Collect(context.Context) (model.Snapshot, error) {
	s := model.Snapshot{Source: "pve", Taken: w.now, Coverage: []model.Coverage{{Source: "pve", Complete: true}},
		Kinds: map[string]*model.Kind{qemu: {Name: qemu, Labels: "tags"}}}
	for i := range 60 {
		id := fmt.Sprintf("vm-%02d", i)
		g, there := w.guests[id]
		switch {
		case w.down && i >= 20:
			s.Unread = append(s.Unread, model.Unread{Ref: model.Ref{Kind: qemu, ID: id}, Reason: "node pve2 does not answer"})
		case there:
			s.Resources = append(s.Resources, model.Resource{Key: model.Key{Source: "pve", Kind: qemu, ID: id}, Name: id, Value: g.value()})
			if g.by.Name != "" {
				s.AuditEvents = append(s.AuditEvents, model.AuditEvent{Ref: model.Ref{Kind: qemu, ID: id}, Actor: g.by})
			}
		}
	}
	return s, nil
}

// Load implements declared.Loader.
func (w *week) Load(context.Context) (model.Declaration, error) {
	d := model.Declaration{Name: "infra", Governs: []string{"pve"}, Scopes: []model.Scope{{Kind: qemu}}}
	for i := range 60 {
		id := fmt.Sprintf("vm-%02d", i)
		recorded := w.recorded[id].value()
		d.Claims = append(d.Claims, model.Claim{Declaration: "infra", Address: "proxmox_vm." + id, Kind: qemu, ID: id, Name: id,
			Value: w.declared[id].value(), Recorded: &recorded})
	}
	return d, nil
}

// open makes the daemon of the week, and its Slack server.
func (w *week) open() {
	t := w.t
	var err error
	if w.store, err = store.Open(t.TempDir(), store.Options{Now: func() time.Time { return w.now }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.store.Close(); err != nil {
			t.Error(err)
		}
	})
	server := slacktest.NewTestServer(func(c slacktest.Customize) {
		c.Handle("/chat.postMessage", func(rw http.ResponseWriter, r *http.Request) { w.channel.post(w.now, rw, r) })
		c.Handle("/chat.update", func(rw http.ResponseWriter, r *http.Request) { w.channel.edit(w.now, rw, r) })
	})
	server.Start()
	t.Cleanup(server.Stop)
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("xoxb-week"), 0o600); err != nil {
		t.Fatal(err)
	}
	clock := func() time.Time { return w.now }
	receiver, err := slack.Definition().Open(notify.Env{Name: "oncall", Now: clock, Log: slog.New(slog.DiscardHandler)}, func(into any) error {
		c, ok := into.(*slack.Config)
		if !ok {
			return fmt.Errorf("settings are %T", into)
		}
		c.TokenFile, c.Channel, c.APIURL, c.Pace = token, "C0WEEK", server.GetAPIURL(), 0
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.deliverer = notify.NewDispatcher(notify.Options{Outbox: w.store, Receivers: []notify.Opened{{Name: "oncall", Type: "slack", Receiver: receiver}},
		Now: clock})
	policy := &notify.Policy{UncheckedAfter: 30 * time.Minute, GroupWindow: 5 * time.Minute,
		Routes: []notify.Route{{Receivers: []string{"oncall"}, GroupBy: []string{"cause"}, Repeat: 24 * time.Hour,
			Selector: model.Selector{Severities: []model.Severity{model.Critical, model.High, model.Medium, model.Low}}}},
		Receivers: map[string]notify.Pacing{"oncall": {Messages: 20, Per: 10 * time.Minute, Digest: -1}}}
	estate := Estate{Whole: true, Sources: []Source{{Name: "pve", Type: "proxmox", Collector: w}},
		Declarations: []Declaration{{Name: "infra", Type: "terraform", Governs: []string{"pve"}, Loader: w}}}
	w.engine = New(estate, Options{Store: w.store, Now: clock, Log: slog.New(slog.DiscardHandler), Notifications: Notifications{Policy: policy, Dispatcher: w.deliverer}})
}

func (w *week) deliver() {
	if err := w.deliverer.Flush(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// A channel is the content that Slack shows.
type channel struct {
	lines []string
	posts int
}

func (c *channel) post(at time.Time, w http.ResponseWriter, r *http.Request) {
	c.posts++
	ts, thread := fmt.Sprintf("%d.%06d", at.Unix(), c.posts), r.FormValue("thread_ts")
	what := "post " + fmt.Sprint(c.posts)
	if thread != "" {
		what = "  reply to " + number(thread)
		if r.FormValue("reply_broadcast") == "true" {
			what += ", in the channel too"
		}
	}
	c.note(at, what, r)
	reply(w, "C0WEEK", ts)
}

func (c *channel) edit(at time.Time, w http.ResponseWriter, r *http.Request) {
	c.note(at, "  edit of "+number(r.FormValue("ts")), r)
	reply(w, "C0WEEK", r.FormValue("ts"))
}

// number returns the number of the post with a timestamp.
func number(ts string) string {
	_, number, _ := strings.Cut(ts, ".")
	return strings.TrimLeft(number, "0")
}

func reply(w http.ResponseWriter, channel, ts string) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"ok": true, "channel": %q, "ts": %q, "text": ""}`, channel, ts)
}

func (c *channel) note(at time.Time, what string, r *http.Request) {
	c.lines = append(c.lines, fmt.Sprintf("%s %s", at.Format("Mon 15:04"), what))
	for _, line := range shownBy(r.FormValue("blocks")) {
		c.lines = append(c.lines, "            "+line)
	}
}

// checkThreads checks that each thread of the week begins once, and ends at most once.
func (c *channel) checkThreads(t *testing.T) {
	t.Helper()
	threads := map[string]int{"vm-07 changed by alice@pam": 1, "40 findings unchecked": 1, "vm-21 changed by bob@pve": 0, "vm-33 missing": 1,
		"vm-50 changed by script@pve": 3}
	began, ended := map[string]int{}, map[string]int{}
	titles := map[string]string{}
	for i, line := range c.lines {
		_, post, first := strings.Cut(line, " post ")
		if first {
			for title := range threads {
				if strings.Contains(c.lines[i+1], title) {
					began[title]++
					titles[post] = title
				}
			}
		}
		if _, to, reply := strings.Cut(line, "  reply to "); reply && strings.Contains(c.lines[i+1], "RESOLVED") {
			ended[titles[strings.TrimSuffix(to, ", in the channel too")]]++
		}
	}
	for title, ends := range threads {
		// The flapping field ends twice before it is flapping, and once at the end.
		if began[title] != 1 || ended[title] != ends {
			t.Errorf("%q began %d times and ended %d times, want 1 and %d", title, began[title], ended[title], ends)
		}
	}
	if roots := len(titles); roots != len(threads) {
		t.Errorf("%d threads, want %d", roots, len(threads))
	}
}

func (c *channel) transcript() string { return strings.Join(c.lines, "\n") + "\n" }

// shownBy returns the lines of blocks, in order.
func shownBy(blocks string) []string {
	var list []any
	if err := json.Unmarshal([]byte(blocks), &list); err != nil {
		return []string{"no blocks: " + err.Error()}
	}
	var lines []string
	for _, block := range list {
		for line := range strings.SplitSeq(textOf(block), "\n") {
			if strings.TrimSpace(line) != "" {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// textOf returns the text of a block and of its elements: the fallback of a date, and text
// between tildes.
func textOf(node any) string {
	var b strings.Builder
	switch n := node.(type) {
	case []any:
		for _, item := range n {
			b.WriteString(textOf(item))
		}
	case map[string]any:
		text, _ := n["text"].(string)
		if date, ok := n["fallback"].(string); ok {
			text = date
		}
		if style, ok := n["style"].(map[string]any); ok && style["strike"] == true {
			text = "~" + text + "~"
		}
		b.WriteString(text)
		if text == "" {
			b.WriteString(textOf(n["text"]))
		}
		for _, key := range []string{"fields", "elements", "accessory"} {
			b.WriteString(textOf(n[key]))
		}
		if n["type"] == "rich_text_section" || n["type"] == "button" {
			b.WriteString("\n")
		}
	}
	return b.String()
}
