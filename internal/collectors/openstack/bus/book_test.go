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

	"github.com/driftd/driftd/internal/collectors/openstack/normalize"
	"github.com/driftd/driftd/internal/model"
)

func now() time.Time { return time.Date(2026, 11, 22, 3, 0, 0, 0, time.UTC) }

const keep = 24 * time.Hour

func router(id string) model.Ref { return model.Ref{Kind: normalize.Router, ID: id} }

// act is what a notice tells that came so many minutes ago.
func act(id string, minutes int, fields ...string) Act {
	return Act{Ref: router(id), At: now().Add(-time.Duration(minutes) * time.Minute), User: "bob", Fields: fields, Evidence: fmt.Sprintf("m-%d", minutes)}
}

func TestBookKeepsWithinBounds(t *testing.T) {
	t.Parallel()
	many := func(n int, of func(i int) Act) []Act {
		acts := make([]Act, n)
		for i := range acts {
			acts[i] = of(i)
		}
		return acts
	}
	tests := map[string]struct {
		acts          []Act
		want          int
		first, newest string
	}{
		"twice the same":     {[]Act{act("r", 1), act("r", 1)}, 1, "m-1", "m-1"},
		"out of order":       {[]Act{act("r", 1), act("s", 2)}, 2, "m-2", "m-1"},
		"too old":            {[]Act{act("r", 24*60+1), act("r", 2)}, 1, "m-2", "m-2"},
		"too much of one":    {append(many(maxOfObject+5, func(i int) Act { return act("r", 100+i) }), act("s", 500)), maxOfObject + 1, "m-500", "m-100"},
		"too much of others": {many(maxActs+5, func(i int) Act { a := act(fmt.Sprint(i), 1, "name"); a.At = a.At.Add(time.Duration(i)); return a }), maxActs, "m-1", "m-1"},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			b := newBook(keep, "")
			b.add(test.acts, now())
			b.prune(now())
			if len(b.Acts) != test.want || len(b.known) > test.want || b.Acts[0].Evidence != test.first || b.Acts[len(b.Acts)-1].Evidence != test.newest {
				t.Errorf("%d acts from %s to %s, want %d from %s to %s", len(b.Acts), b.Acts[0].Evidence, b.Acts[len(b.Acts)-1].Evidence, test.want, test.first, test.newest)
			}
		})
	}
}

func TestBookJoinsAnUpdateWithItsRequest(t *testing.T) {
	t.Parallel()
	of := func(request string, fields ...string) Act {
		a := act("r", 1, fields...)
		a.Request, a.Evidence = request, "of "+request
		return a
	}
	b := newBook(keep, "")
	b.begin([]Act{of("req-1", "name"), of("req-2", "routes")})
	b.add([]Act{of("req-1"), of("req-3"), of("req-2", "tags")}, now())
	got := map[string][]string{}
	for _, a := range b.Acts {
		got[a.Request] = a.Fields
	}
	if diff := cmp.Diff(map[string][]string{"req-1": {"name"}, "req-2": {"tags"}, "req-3": nil}, got); diff != "" || len(b.begun) != 0 {
		t.Errorf("%d still waiting, fields (-want +got):\n%s", len(b.begun), diff)
	}
	for i := range maxBegun + 1 {
		b.begin([]Act{of(fmt.Sprint(i))})
	}
	if len(b.begun) > maxBegun {
		t.Errorf("%d requests wait for their end, want %d at most", len(b.begun), maxBegun)
	}
}

// TestBookOfAWrongClock holds that a notice from the future does not name somebody
// for ever, and that what a clock may be ahead by counts as it is.
func TestBookOfAWrongClock(t *testing.T) {
	t.Parallel()
	b := newBook(keep, "")
	b.add([]Act{act("r", -30), act("s", -60*24*365)}, now())
	if a := b.Acts[0]; !a.At.Equal(now().Add(30*time.Minute)) || a.Doubtful {
		t.Errorf("a clock that is a little ahead: %+v", a)
	}
	if a := b.Acts[1]; !a.At.Equal(now()) || !a.Doubtful {
		t.Errorf("of the future, want it when it was heard: %+v", a)
	}
	if b.prune(now().Add(2 * keep)); len(b.Acts) != 0 {
		t.Errorf("%d acts are kept for ever", len(b.Acts))
	}
}

// TestMergeIsInOneOrder has two users do the same in one second.
func TestMergeIsInOneOrder(t *testing.T) {
	t.Parallel()
	var acts []Act
	for i := range 40 {
		for _, user := range []string{"u-1", "u-2", "u-3"} {
			a := act(fmt.Sprint(i), 1, "vm_state")
			a.UserID, a.Request = user, "req of "+user
			acts = append(acts, a)
		}
	}
	want := Merge(acts)
	for seed := range uint64(20) {
		rand.New(rand.NewPCG(seed, seed)).Shuffle(len(acts), func(i, j int) { acts[i], acts[j] = acts[j], acts[i] })
		if diff := cmp.Diff(want, Merge(acts)); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	}
}

func TestMergeTellsOneDeedOnce(t *testing.T) {
	t.Parallel()
	of := func(a Act, request, via string) Act { a.Request, a.Via = request, via; return a }
	broad := of(act("r", 2, "description", "name"), "req-1", "audit")
	broad.Broad, broad.UserID = true, "u-1"
	tests := map[string]struct {
		acts []Act
		want []string
	}{
		"the one that knows the field":  {[]Act{of(act("r", 2), "req-1", "audit"), of(act("r", 1, "name"), "req-1", "nova")}, []string{"nova: name"}},
		"the field before what may be":  {[]Act{broad, of(act("r", 1, "name"), "req-1", "nova")}, []string{"nova: name"}},
		"what may be before anything":   {[]Act{of(act("r", 3), "req-1", "nova"), broad}, []string{"audit: description name"}},
		"two fields of one request":     {[]Act{of(act("r", 2, "tags"), "req-1", "a"), of(act("r", 1, "name", "tags"), "req-1", "b")}, []string{"a: name tags"}},
		"two requests":                  {[]Act{of(act("r", 2), "req-1", "a"), of(act("r", 1), "req-2", "b")}, []string{"a: ", "b: "}},
		"requests that nobody numbered": {[]Act{of(act("r", 2), "", "a"), of(act("r", 1), "", "b")}, []string{"a: ", "b: "}},
		"two objects of one request":    {[]Act{of(act("s", 2), "req-1", "b"), of(act("r", 1), "req-1", "a")}, []string{"a: ", "b: "}},
	}
	for reason, test := range tests {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, a := range Merge(test.acts) {
				got = append(got, a.Via+": "+strings.Join(a.Fields, " "))
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("acts (-want +got):\n%s", diff)
			}
		})
	}
	if got := Merge([]Act{broad, of(act("r", 1, "name"), "req-1", "nova")})[0]; got.UserID != "u-1" || got.User != "bob" || !got.At.Equal(broad.At) || got.Vague() {
		t.Errorf("merged %+v: want all that is known of the user, and the time of the first", got)
	}
}

// newBus returns a bus that keeps what it hears in a folder.
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
	if err := b.note(t.Context(), messages, now()); err != nil {
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
	want := b.Acts(now())
	again := newBus(dir)
	if err := again.note(t.Context(), messages, now()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, again.Acts(now())); len(want) != 3 || diff != "" {
		t.Errorf("%d acts, want 3 that a restart does not change (-want +got):\n%s", len(want), diff)
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
			if len(b.Acts(now())) != 0 || !b.book.Since.IsZero() {
				t.Errorf("something is known: %+v", b.book.kept)
			}
			if err := b.note(t.Context(), [][]byte{sent(t, "router.delete.end", `{"router_id": "ro-1"}`)}, now()); err != nil {
				t.Fatal(err)
			}
			if got := newBus(dir).Acts(now()); len(got) != 1 {
				t.Errorf("%d acts after a restart, want 1", len(got))
			}
		})
	}
}

func TestBusSaysThatItCannotKeep(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	// What is not kept must come again.
	if err := newBus(filepath.Join(file, "dir")).note(t.Context(), [][]byte{sent(t, "router.delete.end", `{"router_id": "r"}`)}, now()); err == nil {
		t.Error("no error where nothing can be written")
	}
}
