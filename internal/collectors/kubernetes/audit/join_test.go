package audit

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// writeAt returns a write by alice, at a time after noon, with changes.
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

func TestAddUsers(t *testing.T) {
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
		"the same second":      {"managedFields have whole seconds", owner, []Write{writeAt("1", 700*time.Millisecond, nil)}, alices},
		"a long request":       {"the entry's time is within the request", owner, []Write{writeAt("1", -20*time.Second, func(w *Write) { w.Ended = noon().Add(time.Second) })}, alices},
		"another clock":        {"an aggregated server has its own clock", owner, []Write{writeAt("1", 1900*time.Millisecond, nil)}, alices},
		"too late":             {"another write set the entry", owner, []Write{writeAt("1", 3*time.Second, nil)}, ""},
		"too early":            {"another write set the entry", owner, []Write{writeAt("1", -3*time.Second, nil)}, ""},
		"another manager":      {"the manager differs", owner, []Write{writeAt("1", 0, func(w *Write) { w.Manager = "kubectl-set" })}, ""},
		"two managers":         {"only one write has the owner's manager", owner, []Write{writeAt("0", 0, func(w *Write) { w.Manager, w.User = "kubectl-set", "bob" }), writeAt("1", 0, nil)}, alices},
		"nearer in time":       {"a write that spans the entry's time wins", owner, []Write{writeAt("1", 0, nil), writeAt("2", 1500*time.Millisecond, bob)}, alices},
		"two users":            {"the user is ambiguous", owner, []Write{writeAt("1", 0, nil), writeAt("2", 0, bob)}, ""},
		"two of one user":      {"the last write is used", owner, []Write{writeAt("0", 0, nil), writeAt("1", 10*time.Millisecond, nil)}, alices},
		"a deletion":           {"a deletion sets no entry", owner, []Write{writeAt("1", 0, func(w *Write) { w.Action = model.Deleted })}, ""},
		"a creation":           {"a creation sets an entry", owner, []Write{writeAt("1", 0, func(w *Write) { w.Action = model.Created })}, alices},
		"scale":                {"a write through scale has an entry of its own", owner, []Write{writeAt("1", 0, func(w *Write) { w.Subresource = "scale" })}, ""},
		"an apply":             {"an apply is a patch", model.Owner{Name: "kubectl-edit", At: noon(), Applies: true}, []Write{writeAt("1", 0, nil)}, alices},
		"an update":            {"an apply is not an update", model.Owner{Name: "kubectl-edit", At: noon(), Applies: true}, []Write{writeAt("1", 0, func(w *Write) { w.Patch = false })}, ""},
		"before creation":      {"the write was to another object", model.Owner{Name: "kubectl-edit", At: created}, []Write{writeAt("1", -time.Hour-1500*time.Millisecond, func(w *Write) { w.Ended = created.Add(-3 * time.Second) })}, ""},
		"without a time":       {"the last write is used", scaler, []Write{writeAt("1", -time.Minute, func(w *Write) { scale(w); bob(w) }), writeAt("2", -time.Second, scale)}, "alice: audit 2, kubectl through scale"},
		"no writes":            {"the user is unknown", scaler, nil, ""},
		"of an earlier object": {"the object was created again since", scaler, []Write{writeAt("1", -2*time.Hour, scale)}, ""},
		"several users": {"an entry has one time for all its fields", owner, []Write{writeAt("0", -time.Minute, bob), writeAt("1", 0, nil), writeAt("2", time.Minute, bob)},
			alices + " [bob]"},
		"several users of an earlier object": {"the earlier write was to another object", owner, []Write{writeAt("0", -2*time.Hour, bob), writeAt("1", 0, nil)}, alices},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			given := []model.Owner{tt.owner}
			signed := AddUsers(given, History{Writes: tt.writes, Since: created.Add(-maxSkew)}, created)
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
				t.Errorf("the time of an entry without one is %v, want that of the write", signed[0].At)
			}
			if diff := cmp.Diff([]model.Owner{tt.owner}, given, cmp.AllowUnexported(model.FieldSet{})); diff != "" {
				t.Errorf("the given owners were changed:\n%s", diff)
			}
		})
	}
}

func TestEvents(t *testing.T) {
	t.Parallel()
	action := func(d model.Action, change func(*Write)) func(*Write) {
		return func(w *Write) {
			w.Action = d
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
		"deleted": {"the user is reported", []Write{writeAt("1", 0, action(model.Deleted, nil))}, false, []string{"deleted alice 1 exact []"}},
		"deleted twice": {"the last deletion is reported", []Write{writeAt("1", 0, action(model.Deleted, nil)), writeAt("2", time.Minute, action(model.Created, nil)),
			writeAt("3", 2*time.Minute, action(model.Deleted, bob))}, false, []string{"deleted bob 3 exact []"}},
		"created again":             {"the last deletion is unknown", []Write{writeAt("1", 0, action(model.Deleted, nil)), writeAt("2", time.Minute, action(model.Created, bob))}, false, nil},
		"edits of a missing object": {"edits of a missing object are not reported", []Write{writeAt("1", 0, nil)}, false, nil},
		"created": {"the creation of the live object is reported", []Write{writeAt("0", -time.Hour, action(model.Created, bob)), writeAt("1", 0, action(model.Created, nil))}, true,
			[]string{"created alice 1 exact []"}},
		"edited": {"the field is unknown", []Write{writeAt("1", 0, nil)}, true, []string{"edited alice 1 likely []"}},
		"edited often": {"the last edit of each user is reported", []Write{writeAt("1", 0, nil), writeAt("2", time.Second, bob), writeAt("3", time.Minute, nil)}, true,
			[]string{"edited bob 2 likely []", "edited alice 3 likely []"}},
		"edited before":          {"the edit was of another object", []Write{writeAt("1", -time.Minute, nil)}, true, nil},
		"scaled":                 {"scale sets one field", []Write{writeAt("1", 0, scale)}, true, []string{"edited alice 1 exact [spec.replicas]"}},
		"custom resource scaled": {"scale may set any field", []Write{writeAt("1", 0, func(w *Write) { scale(w); w.Group = "example.org" })}, true, []string{"edited alice 1 likely []"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, event := range Events(ref(), tt.writes, tt.live, noon()) {
				if event.Ref != ref() || event.Writer == "" || event.Actor.Via != "audit log" || event.Actor.At.IsZero() {
					t.Errorf("an event without object, tool, source or time: %+v", event)
				}
				got = append(got, format(event))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// TestAccounts checks that the accounts of an owner are the authenticated users of all
// matching writes.
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
	owners := AddUsers([]model.Owner{{Name: "kubectl-edit", At: noon().Add(2 * time.Minute)}, {Name: "unknown"}}, History{Writes: writes}, noon().Add(-time.Hour))
	if diff := cmp.Diff([]string{"alice", "carol"}, owners[0].Accounts); diff != "" {
		t.Errorf("accounts (-want +got):\n%s", diff)
	}
	if len(owners[1].Accounts) > 0 {
		t.Errorf("accounts of an unknown manager: %v", owners[1].Accounts)
	}
}

// TestUsersAreProven checks that a user is certain only if the log contains every write to the object
// that may have set the owner's entry.
func TestUsersAreProven(t *testing.T) {
	t.Parallel()
	created := noon().Add(-time.Hour)
	create := func(w *Write) { bob(w); w.Action, w.Manager = model.Created, "kubectl-create" }
	owner := model.Owner{Name: "kubectl-edit", At: noon()}
	edits := []Write{writeAt("1", 0, nil)}
	creation := []Write{writeAt("0", -time.Hour, create), writeAt("1", 0, nil)}
	scaler, scales := model.Owner{Name: "kubectl", Through: "scale"}, []Write{writeAt("1", 0, scale)}
	tests := map[string]struct {
		reason  string
		owner   model.Owner
		writes  []Write
		since   time.Time
		created time.Time
		want    bool
	}{
		"whole log":              {"the log begins before the object", owner, edits, created.Add(-time.Minute), created, true},
		"cut log":                {"the log begins after the object", owner, edits, created.Add(time.Minute), created, false},
		"begins with the write":  {"earlier writes are lost", owner, edits, noon(), created, false},
		"begins at the creation": {"the clocks may differ", owner, edits, created, created, false},
		"begins with creation":   {"the log has the creation and everything after it", owner, creation, creation[0].Ended, created, true},
		"gap after the creation": {"writes after the creation are lost", owner, creation, creation[0].Ended.Add(1), created, false},
		"another creation":       {"the creation in the log is not that of the object", owner, creation, creation[0].Ended, created.Add(-time.Minute), false},
		"unknown beginning":      {"everything may be lost", owner, creation, time.Time{}, created, false},
		"unknown creation":       {"the log may begin after the object", owner, edits, created, time.Time{}, false},
		"scale":                  {"the last scaling in the log set the only field", scaler, scales, noon(), created, true},
		"scale before a gap":     {"a later scaling may be lost", scaler, scales, noon().Add(time.Minute), created, false},
		"scale, unknown":         {"a later scaling may be lost", scaler, scales, time.Time{}, created, false},
		"scale with time":        {"the scaling at that time set the only field", model.Owner{Name: "kubectl", Through: "scale", At: noon()}, scales, time.Time{}, created, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := AddUsers([]model.Owner{tt.owner}, History{tt.writes, tt.since}, tt.created)[0]
			who, ok := o.LoggedUser()
			if !ok || who.Name != "alice" || (who.Confidence == model.Exact) != tt.want {
				t.Errorf("%s: %s %s (%v), want exact: %v", tt.reason, who.Name, who.Confidence, ok, tt.want)
			}
			if after, note := strings.CutSuffix(who.Evidence, ", which others may have used before the log begins"); note == tt.want || !strings.HasPrefix(after, "audit 1, ") {
				t.Errorf("%s: evidence %q", tt.reason, who.Evidence)
			}
		})
	}
}

// TestManyWritesHideNoEarlierUser checks that an earlier user of a writer is reported although the
// index dropped his earlier writes, since he wrote often.
func TestManyWritesHideNoEarlierUser(t *testing.T) {
	t.Parallel()
	x := newIndex(time.Hour, 1000)
	x.add(writeAt("first", -time.Minute, bob), noon())
	x.add(writeAt("last", 0, nil), noon())
	for i := range 3 * maxOfWriter {
		x.add(writeAt(fmt.Sprint(i), time.Duration(i+10)*time.Second, bob), noon())
	}
	x.each(noon(), noon().Add(-time.Hour), func(_ Object, h History) {
		o := AddUsers([]model.Owner{{Name: "kubectl-edit", At: noon()}}, h, noon().Add(-time.Minute))[0]
		if o.User != "alice" || len(o.Before) != 1 || o.Before[0] != "bob" {
			t.Errorf("%s, used before by %v; want alice and bob", o.User, o.Before)
		}
	})
}
