package audit

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// by alice, at a time after noon, with what a test changes.
func writeAt(id string, after time.Duration, change func(*Write)) Write {
	w := edited()
	w.ID, w.Began, w.Ended = id, noon().Add(after), noon().Add(after+4*time.Millisecond)
	if change != nil {
		change(&w)
	}
	return w
}

func bob(w *Write)   { w.User = "bob" }
func scale(w *Write) { w.Manager, w.Subresource = "kubectl", "scale" }

func TestSign(t *testing.T) {
	t.Parallel()
	owner := model.Owner{Name: "kubectl-edit", At: noon()}
	scaler := model.Owner{Name: "kubectl", Through: "scale"}
	created := noon().Add(-time.Hour)
	const alices = "alice: audit 1, kubectl-edit"
	tests := map[string]struct {
		reason string
		owner  model.Owner
		writes []Write
		want   string
	}{
		"the same second":  {"managedFields count in seconds", owner, []Write{writeAt("1", 700*time.Millisecond, nil)}, alices},
		"a long request":   {"the entry is made on the way", owner, []Write{writeAt("1", -20*time.Second, func(w *Write) { w.Ended = noon().Add(time.Second) })}, alices},
		"another clock":    {"an aggregated server has its own", owner, []Write{writeAt("1", 1900*time.Millisecond, nil)}, alices},
		"too late":         {"that was another write", owner, []Write{writeAt("1", 3*time.Second, nil)}, ""},
		"too early":        {"so was this", owner, []Write{writeAt("1", -3*time.Second, nil)}, ""},
		"another manager":  {"somebody else's tool", owner, []Write{writeAt("1", 0, func(w *Write) { w.Manager = "kubectl-set" })}, ""},
		"one of two tools": {"the tool decides", owner, []Write{writeAt("0", 0, func(w *Write) { w.Manager, w.User = "kubectl-set", "bob" }), writeAt("1", 0, nil)}, alices},
		"nearer in time":   {"the entry lies within the request", owner, []Write{writeAt("1", 0, nil), writeAt("2", 1500*time.Millisecond, bob)}, alices},
		"two people":       {"it may have been either", owner, []Write{writeAt("1", 0, nil), writeAt("2", 0, bob)}, ""},
		"two of one":       {"the last one", owner, []Write{writeAt("0", 0, nil), writeAt("1", 10*time.Millisecond, nil)}, alices},
		"a deletion":       {"it leaves no entry", owner, []Write{writeAt("1", 0, func(w *Write) { w.Deed = model.Deleted })}, ""},
		"a creation":       {"it leaves one", owner, []Write{writeAt("1", 0, func(w *Write) { w.Deed = model.Created })}, alices},
		"another door":     {"scale owns what it wrote", owner, []Write{writeAt("1", 0, func(w *Write) { w.Subresource = "scale" })}, ""},
		"an apply":         {"is a patch", model.Owner{Name: "kubectl-edit", At: noon(), Applies: true}, []Write{writeAt("1", 0, nil)}, alices},
		"no apply":         {"an update applies nothing", model.Owner{Name: "kubectl-edit", At: noon(), Applies: true}, []Write{writeAt("1", 0, func(w *Write) { w.Patch = false })}, ""},
		"before it came":   {"that was another object", model.Owner{Name: "kubectl-edit", At: created}, []Write{writeAt("1", -time.Hour-1500*time.Millisecond, func(w *Write) { w.Ended = created.Add(-3 * time.Second) })}, ""},
		"without a time":   {"the last one counts", scaler, []Write{writeAt("1", -time.Minute, func(w *Write) { scale(w); bob(w) }), writeAt("2", -time.Second, scale)}, "alice: audit 2, kubectl through scale"},
		"without any":      {"nothing is known", scaler, nil, ""},
		"of one long gone": {"it was made anew since", scaler, []Write{writeAt("1", -2*time.Hour, scale)}, ""},
		"a tool of many": {"an entry has one time for all its fields", owner, []Write{writeAt("0", -time.Minute, bob), writeAt("1", 0, nil), writeAt("2", time.Minute, bob)},
			alices + " [bob]"},
		"of one long gone too": {"they wrote another object", owner, []Write{writeAt("0", -2*time.Hour, bob), writeAt("1", 0, nil)}, alices},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := []model.Owner{tt.owner}
			signed := Sign(given, tt.writes, created)
			got := ""
			if signed[0].User != "" {
				got = signed[0].User + ": " + signed[0].Evidence
			}
			if len(signed[0].Before) > 0 {
				got += fmt.Sprint(" ", signed[0].Before)
			}
			if got != tt.want {
				t.Errorf("%s: %q, want %q", tt.reason, got, tt.want)
			}
			if tt.owner.At.IsZero() && tt.want != "" && !signed[0].At.Equal(noon().Add(-time.Second)) {
				t.Errorf("the log's time is not taken where there is no other: %v", signed[0].At)
			}
			if diff := cmp.Diff([]model.Owner{tt.owner}, given, cmp.AllowUnexported(model.FieldSet{})); diff != "" {
				t.Errorf("the given owners were changed:\n%s", diff)
			}
		})
	}
}

func TestTraces(t *testing.T) {
	t.Parallel()
	deed := func(d model.Action, change func(*Write)) func(*Write) {
		return func(w *Write) {
			w.Deed = d
			if change != nil {
				change(w)
			}
		}
	}
	tests := map[string]struct {
		reason string
		writes []Write
		live   bool
		want   []string
	}{
		"deleted": {"who did it", []Write{writeAt("1", 0, deed(model.Deleted, nil))}, false, []string{"deleted alice 1 exact []"}},
		"deleted twice": {"the last time counts", []Write{writeAt("1", 0, deed(model.Deleted, nil)), writeAt("2", time.Minute, deed(model.Created, nil)),
			writeAt("3", 2*time.Minute, deed(model.Deleted, bob))}, false, []string{"deleted bob 3 exact []"}},
		"made again":   {"nobody says who deleted that one", []Write{writeAt("1", 0, deed(model.Deleted, nil)), writeAt("2", time.Minute, deed(model.Created, bob))}, false, nil},
		"edits of one": {"gone, they tell nothing", []Write{writeAt("1", 0, nil)}, false, nil},
		"created": {"who made what is there", []Write{writeAt("0", -time.Hour, deed(model.Created, bob)), writeAt("1", 0, deed(model.Created, nil))}, true,
			[]string{"created alice 1 exact []"}},
		"edited": {"which field, it does not say", []Write{writeAt("1", 0, nil)}, true, []string{"edited alice 1 likely []"}},
		"edited often": {"the last word of each", []Write{writeAt("1", 0, nil), writeAt("2", time.Second, bob), writeAt("3", time.Minute, nil)}, true,
			[]string{"edited bob 2 likely []", "edited alice 3 likely []"}},
		"edited before":   {"that was another object", []Write{writeAt("1", -time.Minute, nil)}, true, nil},
		"scaled":          {"that door leads to one field", []Write{writeAt("1", 0, scale)}, true, []string{"edited alice 1 exact [spec.replicas]"}},
		"scaled a custom": {"there it may be any", []Write{writeAt("1", 0, func(w *Write) { scale(w); w.Group = "example.org" })}, true, []string{"edited alice 1 likely []"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, trace := range Traces(ref(), tt.writes, tt.live, noon()) {
				if trace.Ref != ref() || trace.Writer == "" || trace.Actor.Via != "audit log" || trace.Actor.At.IsZero() {
					t.Errorf("a trace without object, tool, log or time: %+v", trace)
				}
				got = append(got, say(trace))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestAccounts collects who is known to have used an owner's writer, whoever was
// impersonated and whenever it was.
func TestAccounts(t *testing.T) {
	t.Parallel()
	by := func(account string, more ...func(*Write)) func(*Write) {
		return func(w *Write) {
			w.User, w.Account = account, account
			for _, change := range more {
				change(w)
			}
		}
	}
	writes := []Write{
		writeAt("0", -2*time.Hour, by("before")),
		writeAt("1", 0, by("carol", func(w *Write) { w.User = "system:kube-controller-manager (by carol)" })),
		writeAt("2", time.Minute, by("alice")),
		writeAt("3", 2*time.Minute, by("alice")),
		writeAt("4", 3*time.Minute, by("other", func(w *Write) { w.Manager = "kubectl-patch" })),
		writeAt("5", 4*time.Minute, by("scaler", scale)),
	}
	owners := Sign([]model.Owner{{Name: "kubectl-edit", At: noon().Add(2 * time.Minute)}, {Name: "unknown"}}, writes, noon().Add(-time.Hour))
	if diff := cmp.Diff([]string{"alice", "carol"}, owners[0].Accounts); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	if len(owners[1].Accounts) > 0 {
		t.Errorf("of an unknown writer: %v", owners[1].Accounts)
	}
}
