package bus

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/openstackapi/normalize"
)

func now() time.Time { return time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC) }

const keep = 24 * time.Hour

func router(id string) model.Ref { return model.Ref{Kind: normalize.Router, ID: id} }

// event returns an event from the given number of minutes ago.
func event(id string, minutes int, fields ...string) Event {
	return Event{Ref: router(id), At: now().Add(-time.Duration(minutes) * time.Minute), User: "bob", Fields: fields, Evidence: fmt.Sprintf("m-%d", minutes)}
}

func TestEventLogLimits(t *testing.T) {
	t.Parallel()
	many := func(n int, of func(i int) Event) []Event {
		events := make([]Event, n)
		for i := range events {
			events[i] = of(i)
		}
		return events
	}
	tests := map[string]struct {
		events        []Event
		want          int
		first, newest string
	}{
		"twice the same":     {[]Event{event("r", 1), event("r", 1)}, 1, "m-1", "m-1"},
		"out of order":       {[]Event{event("r", 1), event("s", 2)}, 2, "m-2", "m-1"},
		"too old":            {[]Event{event("r", 24*60+1), event("r", 2)}, 1, "m-2", "m-2"},
		"too much of one":    {append(many(maxPerObject+5, func(i int) Event { return event("r", 100+i) }), event("s", 500)), maxPerObject + 1, "m-500", "m-100"},
		"too much of others": {many(maxEvents+5, func(i int) Event { a := event(fmt.Sprint(i), 1, "name"); a.At = a.At.Add(time.Duration(i)); return a }), maxEvents, "m-1", "m-1"},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newEventLog(keep, "")
			b.add(test.events, now())
			b.prune(now())
			if len(b.Events) != test.want || len(b.known) > test.want || b.Events[0].Evidence != test.first || b.Events[len(b.Events)-1].Evidence != test.newest {
				t.Errorf("%d events from %s to %s, want %d from %s to %s", len(b.Events), b.Events[0].Evidence, b.Events[len(b.Events)-1].Evidence, test.want, test.first, test.newest)
			}
		})
	}
}

func TestEventLogJoinsUpdateWithRequest(t *testing.T) {
	t.Parallel()
	of := func(request string, fields ...string) Event {
		a := event("r", 1, fields...)
		a.Request, a.Evidence = request, "of "+request
		return a
	}
	b := newEventLog(keep, "")
	b.addPending([]Event{of("req-1", "name"), of("req-2", "routes")})
	b.add([]Event{of("req-1"), of("req-3"), of("req-2", "tags")}, now())
	got := map[string][]string{}
	for _, a := range b.Events {
		got[a.Request] = a.Fields
	}
	if diff := cmp.Diff(map[string][]string{"req-1": {"name"}, "req-2": {"tags"}, "req-3": nil}, got); diff != "" || len(b.pending) != 0 {
		t.Errorf("%d still waiting, fields (-want +got):\n%s", len(b.pending), diff)
	}
	for i := range maxPending + 1 {
		b.addPending([]Event{of(fmt.Sprint(i))})
	}
	if len(b.pending) > maxPending {
		t.Errorf("%d requests wait for their end, want %d at most", len(b.pending), maxPending)
	}
}

// TestEventLogWithWrongClock tests that a notification from the future does not stay the last
// one, and that a clock that is less than maxClockSkew ahead is accepted.
func TestEventLogWithWrongClock(t *testing.T) {
	t.Parallel()
	b := newEventLog(keep, "")
	b.add([]Event{event("r", -30), event("s", -60*24*365)}, now())
	if a := b.Events[0]; !a.At.Equal(now().Add(30*time.Minute)) || a.Doubtful {
		t.Errorf("a clock that is a little ahead: %+v", a)
	}
	if a := b.Events[1]; !a.At.Equal(now()) || !a.Doubtful {
		t.Errorf("an event from the future, want the time of its arrival: %+v", a)
	}
	if b.prune(now().Add(2 * keep)); len(b.Events) != 0 {
		t.Errorf("%d events are never removed", len(b.Events))
	}
}

// TestMergeIsInOneOrder merges the same change by two users in one second.
func TestMergeIsInOneOrder(t *testing.T) {
	t.Parallel()
	var events []Event
	for i := range 40 {
		for _, user := range []string{"u-1", "u-2", "u-3"} {
			a := event(fmt.Sprint(i), 1, "vm_state")
			a.UserID, a.Request = user, "req of "+user
			events = append(events, a)
		}
	}
	want := Merge(events)
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
		if diff := cmp.Diff(want, Merge(events)); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	}
}

func TestMergeOfOneChange(t *testing.T) {
	t.Parallel()
	of := func(a Event, request, via string) Event { a.Request, a.Via = request, via; return a }
	broad := of(event("r", 2, "description", "name"), "req-1", "audit")
	broad.Broad, broad.UserID = true, "u-1"
	tests := map[string]struct {
		events []Event
		want   []string
	}{
		"the one with the field":       {[]Event{of(event("r", 2), "req-1", "audit"), of(event("r", 1, "name"), "req-1", "nova")}, []string{"nova: name"}},
		"the field before what may be": {[]Event{broad, of(event("r", 1, "name"), "req-1", "nova")}, []string{"nova: name"}},
		"what may be before anything":  {[]Event{of(event("r", 3), "req-1", "nova"), broad}, []string{"audit: description name"}},
		"two fields of one request":    {[]Event{of(event("r", 2, "tags"), "req-1", "a"), of(event("r", 1, "name", "tags"), "req-1", "b")}, []string{"a: name tags"}},
		"two requests":                 {[]Event{of(event("r", 2), "req-1", "a"), of(event("r", 1), "req-2", "b")}, []string{"a: ", "b: "}},
		"requests without an id":       {[]Event{of(event("r", 2), "", "a"), of(event("r", 1), "", "b")}, []string{"a: ", "b: "}},
		"two objects of one request":   {[]Event{of(event("s", 2), "req-1", "b"), of(event("r", 1), "req-1", "a")}, []string{"a: ", "b: "}},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, a := range Merge(test.events) {
				got = append(got, a.Via+": "+strings.Join(a.Fields, " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
		})
	}
	if got := Merge([]Event{broad, of(event("r", 1, "name"), "req-1", "nova")})[0]; got.UserID != "u-1" || got.User != "bob" || !got.At.Equal(broad.At) || got.Uncertain() {
		t.Errorf("merged %+v: want all fields of the user, and the time of the first", got)
	}
}

// newBus returns a bus with a cache directory.
func newBus(dir string) *Bus {
	return New(Options{Keep: keep, CacheDir: dir, Queue: "driftd", Exchanges: []string{"neutron", "nova"}, Log: slog.New(slog.DiscardHandler)})
}

func TestBusKeepsNoSecretAndSurvivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := newBus(dir)
	messages := [][]byte{
		sent(t, "router.update.start", `{"router": {"name": "hunter2"}, "id": "ro-1"}`),
		sent(t, "router.update.end", `{"router": {"id": "ro-1", "name": "hunter2", "description": "hunter2"}}`),
		sent(t, "compute.instance.rebuild.end", `{"instance_id": "srv-1", "adminPass": "hunter2", "user_data": "aHVudGVyMg==", "metadata": {"password": "hunter2"}}`),
		sent(t, audit, audited("/v2.1/servers/srv-1/metadata", "create", "success")),
		[]byte("hunter2"),
	}
	if err := b.record(t.Context(), messages, now()); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "notifications.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"hunter2", "aHVudGVyMg", "gAAA", "Confirmed"} {
		if strings.Contains(string(text), secret) {
			t.Errorf("%q was kept:\n%s", secret, text)
		}
	}
	want := b.Events(now())
	again := newBus(dir)
	if err := again.record(t.Context(), messages, now()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again.Events(now())); len(want) != 3 || diff != "" {
		t.Errorf("%d events, want 3 that a restart does not change (-want +got):\n%s", len(want), diff)
	}
}

func TestBusForgetsADamagedFile(t *testing.T) {
	t.Parallel()
	for reason, text := range map[string]string{"cut off": `{"Since": "2026-11-22T03:00:00Z", "Acts": [{"ID": "r`, "of another kind": `[1]`, "no times": `{"Acts": [{"At": 5}]}`} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			file := filepath.Join(dir, "notifications.json")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			b := newBus(dir)
			if len(b.Events(now())) != 0 || !b.log.Since.IsZero() {
				t.Errorf("unexpected events: %+v", b.log.savedEvents)
			}
			if err := b.record(t.Context(), [][]byte{sent(t, "router.delete.end", `{"router_id": "ro-1"}`)}, now()); err != nil {
				t.Fatal(err)
			}
			if got := newBus(dir).Events(now()); len(got) != 1 {
				t.Errorf("%d events after a restart, want 1", len(got))
			}
		})
	}
}

func TestBusReportsUnwritableCache(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// Messages that were not kept must be delivered again.
	if err := newBus(filepath.Join(file, "dir")).record(t.Context(), [][]byte{sent(t, "router.delete.end", `{"router_id": "r"}`)}, now()); err == nil {
		t.Error("no error where nothing can be written")
	}
}
