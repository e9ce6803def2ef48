package diff

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// TestNames checks that an event names a field by its path, one above it, or one below it.
func TestNames(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		fields []string
		path   string
		want   bool
	}{
		{[]string{"net0"}, "net0", true},
		{[]string{"net0"}, "net0.bridge", true},
		{[]string{"net0.bridge"}, "net0", true},
		{[]string{"net0"}, "net01", false},
		{[]string{"net01"}, "net0", false},
		{[]string{"cores", "net0"}, "net0", true},
		{[]string{"net0"}, "", false},
		{nil, "net0", false},
	} {
		if got := names(&model.AuditEvent{Fields: tc.fields}, tc.path); got != tc.want {
			t.Errorf("an entry of %v names %q: %v, want %v", tc.fields, tc.path, got, tc.want)
		}
	}
}

// TestTouchesBoth checks events on elements that were added or removed between two values.
func TestTouchesBoth(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason         string
		of             []string
		declared, live string
		want           bool
	}{
		{"of anything", nil, `"a"`, `"b"`, true},
		{"what came", []string{"b"}, `["a"]`, `["a","b"]`, true},
		{"what went", []string{"b"}, `["a","b"]`, `["a"]`, true},
		{"what stayed", []string{"a"}, `["a"]`, `["a","b"]`, false},
		{"what never was", []string{"z"}, `["a"]`, `["b"]`, false},
		{"a text that came", []string{"b"}, `"a"`, `"b"`, true},
		{"a number is no text", []string{"1"}, `"a"`, `1`, false},
		{"one became another", []string{"a", "b"}, `"a"`, `"b"`, true},
		{"one became another, before somebody else's", []string{"a", "b"}, `"a"`, `"c"`, false},
		{"one became another, as it is declared", []string{"a", "b"}, `"b"`, `"b"`, false},
		{"one of many came", []string{"x", "y", "b"}, `["a"]`, `["a","b"]`, true},
		{"none of many came", []string{"x", "y", "z"}, `["a"]`, `["a","b"]`, false},
	} {
		if got := touches(&model.AuditEvent{Texts: tc.of}, value(t, tc.declared), value(t, tc.live)); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestLoggedActorAt checks that the last event that names the field takes precedence over the
// last one that names the resource only.
func TestLoggedActorAt(t *testing.T) {
	t.Parallel()
	entry := func(deed model.Action, who string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: deed, Fields: fields, Actor: model.Actor{Name: who}}
	}
	for _, tc := range []struct {
		reason string
		events []model.AuditEvent
		want   string
	}{
		{"nothing", nil, "unknown"},
		{"who edited the field", []model.AuditEvent{entry(model.Edited, "ann", "net0")}, "ann"},
		{"the last one of these", []model.AuditEvent{entry(model.Edited, "ann", "net0"), entry(model.Edited, "bob", "net0.bridge")}, "bob"},
		{"who edited something", []model.AuditEvent{entry(model.Edited, "ann")}, "ann"},
		{"who edited the field goes before a later one who edited something", []model.AuditEvent{entry(model.Edited, "ann", "net0"), entry(model.Edited, "bob")}, "ann"},
		{"who edited another field", []model.AuditEvent{entry(model.Edited, "ann", "cores")}, "unknown"},
		{"who made it", []model.AuditEvent{entry(model.Created, "ann")}, "unknown"},
		{"who made it with the field", []model.AuditEvent{entry(model.Created, "ann", "net0")}, "unknown"},
		{"who deleted it", []model.AuditEvent{entry(model.Deleted, "ann")}, "unknown"},
	} {
		if got := loggedActorAt(&model.Subject{Live: &model.Resource{}, AuditEvents: tc.events}, "net0"); got.Name != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got.Name, tc.want)
		}
	}
}

// TestRemover names the actor that deleted a resource.
func TestRemover(t *testing.T) {
	t.Parallel()
	entry := func(deed model.Action, who string, at time.Time) model.AuditEvent {
		return model.AuditEvent{Action: deed, Actor: model.Actor{Name: who, At: at, Confidence: model.Exact}}
	}
	gone := entry(model.Deleted, "ann", later)
	for _, tc := range []struct {
		reason  string
		subject model.Subject
		claim   model.Claim
		want    string
	}{
		{"the log names it", model.Subject{AuditEvents: []model.AuditEvent{entry(model.Deleted, "bob", created), gone}}, model.Claim{}, "ann"},
		{"made again since", model.Subject{Key: model.Key{Source: "pve"}, AuditEvents: []model.AuditEvent{gone, entry(model.Created, "eve", later.Add(time.Hour))}}, model.Claim{},
			"unknown: created again after the last deletion in pve's logs: its removal is not in them yet"},
		{"nothing tells", model.Subject{}, model.Claim{}, "unknown: never created, or deleted: the source keeps no record of deletions"},
		{"the kind tells why", model.Subject{Kind: &model.Kind{WriterUnknown: "no audit log"}}, model.Claim{}, "unknown: no audit log"},
		{"the claim tells why", model.Subject{Kind: &model.Kind{WriterUnknown: "no audit log"}}, model.Claim{ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{WriterUnknown: "no changelog"}}, "unknown: no changelog"},
		{"the claim's reason is of identities alone", model.Subject{}, model.Claim{ClaimHistory: model.ClaimHistory{WriterUnknown: "no changelog"}}, "unknown: never created, or deleted: the source keeps no record of deletions"},
		{"deleted after it was declared", model.Subject{AuditEvents: []model.AuditEvent{gone}},
			model.Claim{ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry(model.Created, "eve", created)}}}, "ann"},
		{"deleted when it was declared", model.Subject{AuditEvents: []model.AuditEvent{gone}},
			model.Claim{ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry(model.Created, "eve", later)}}}, "ann"},
		{"deleted before it was declared", model.Subject{Key: model.Key{Source: "pve"}, AuditEvents: []model.AuditEvent{gone}},
			model.Claim{ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry(model.Created, "eve", later.Add(time.Hour))}}},
			"unknown: never made, or removed and not found in pve's logs: it was declared by eve at 2026-01-01 02:00 UTC"},
		{"only declared", model.Subject{Key: model.Key{Source: "pve"}}, model.Claim{ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry(model.Created, "eve", time.Time{})}}},
			"unknown: never made, or removed and not found in pve's logs: it was declared by eve"},
		{"a claim by address says nothing of when it was declared", model.Subject{AuditEvents: []model.AuditEvent{gone}},
			model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: []model.AuditEvent{entry(model.Created, "eve", later.Add(time.Hour))}}}, "ann"},
	} {
		a := remover(&tc.subject, &tc.claim)
		got := a.Name
		if a.Reason != "" {
			got += ": " + a.Reason
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
}

// TestDescribeActor formats an actor with the time and the evidence.
func TestDescribeActor(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 4, 5, 6, 0, 0, time.FixedZone("", 3600))
	for _, tc := range []struct {
		actor model.Actor
		want  string
	}{
		{model.Actor{Name: "ann"}, "ann"},
		{model.Actor{Name: "ann", At: at}, "ann at 2026-03-04 04:06 UTC"},
		{model.Actor{Name: "ann", Via: "NetBox"}, "ann (NetBox)"},
		{model.Actor{Name: "ann", Evidence: "change 7"}, "ann (change 7)"},
		{model.Actor{Name: "ann", At: at, Via: "NetBox", Evidence: "change 7"}, "ann at 2026-03-04 04:06 UTC (NetBox, change 7)"},
	} {
		if got := describeActor(tc.actor); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

// TestWaitingForRestart joins the differences of the stored value and those of the value in
// effect.
func TestWaitingForRestart(t *testing.T) {
	t.Parallel()
	differs := func(verdict model.Verdict, path, declared, recorded, live string) difference {
		f := difference{verdict: verdict, change: model.Change{Path: path, Actor: &model.Actor{}}}
		for at, text := range map[**model.Value]string{&f.change.Declared: declared, &f.change.Recorded: recorded, &f.change.Live: live} {
			if text != "" {
				*at = pointer(value(t, text))
			}
		}
		return f
	}
	for _, tc := range []struct {
		reason          string
		held, effective []difference
		want            []string
	}{
		{"nothing differs", nil, nil, nil},
		{"held and in effect", []difference{differs(model.Changed, "cores", "1", "1", "2")}, []difference{differs(model.Changed, "cores", "1", "1", "2")},
			[]string{"changed cores live 2"}},
		{"held, and another value in effect", []difference{differs(model.Changed, "cores", "1", "1", "2")}, []difference{differs(model.Changed, "cores", "1", "1", "3")},
			[]string{"changed cores live 2 running 3"}},
		{"held, and gone in effect", []difference{differs(model.Changed, "cores", "1", "1", "2")}, []difference{differs(model.Changed, "cores", "1", "1", "")},
			[]string{"changed cores live 2"}},
		{"held only", []difference{differs(model.Changed, "cores", "1", "4", "2")}, nil, []string{"pending-restart cores live 2 running 4"}},
		{"held only, and nothing is recorded", []difference{differs(model.Changed, "cores", "1", "", "2")}, nil, []string{"pending-restart cores live 2 running 1"}},
		{"undeclared and held only", []difference{differs(model.Undeclared, "cores", "", "", "2")}, nil, []string{"pending-restart cores live 2"}},
		{"pending and held only stays so", []difference{differs(model.Pending, "cores", "1", "2", "2")}, nil, []string{"pending cores live 2 running 2"}},
		{"in effect only", nil, []difference{differs(model.Changed, "cores", "1", "1", "2")}, []string{"pending-restart cores live 1 running 2"}},
		{"one of each", []difference{differs(model.Changed, "a", "1", "1", "2")}, []difference{differs(model.Changed, "b", "1", "1", "2")},
			[]string{"pending-restart a live 2 running 1", "pending-restart b live 1 running 2"}},
	} {
		var got []string
		for _, f := range mergeRunning(tc.held, tc.effective) {
			line := string(f.verdict) + " " + f.change.Path
			if f.change.Live != nil {
				line += " live " + texts(*f.change.Live)
			}
			if f.change.Running != nil {
				line += " running " + texts(*f.change.Running)
			}
			got = append(got, line)
		}
		if len(got) != len(tc.want) {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%s: %s, want %s", tc.reason, got[i], tc.want[i])
			}
		}
	}
}

// TestHashes checks that commits are named by the beginning of their hash, or else by the time
// when driftd saw their change.
func TestHashes(t *testing.T) {
	t.Parallel()
	seen := model.Commit{Seen: created}
	hash := model.Commit{Hash: "0123456789abcdef0123456789abcdef01234567", Seen: created}
	for got, want := range map[string]string{
		shortHash(hash.Hash):              "0123456789ab",
		shortHash("abc"):                  "abc",
		shortHash(""):                     "",
		hashInParentheses(hash):           "(0123456789ab) ",
		hashInParentheses(seen):           "",
		supersederText(hash):              "0123456789ab",
		supersederText(seen):              "another one was declared at 2026-01-01 00:00 UTC",
		supersederText(model.Commit{}):    "another one was declared at 0001-01-01 00:00 UTC",
		hashInParentheses(model.Commit{}): "",
		shortHash("  abc        z"):       "abc",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestFieldAt returns the field of an earlier value: a value has every field, perhaps an absent
// one; no value has none.
func TestFieldAt(t *testing.T) {
	t.Parallel()
	at := path{fieldSegment("probe"), fieldSegment("path")}
	for _, tc := range []struct {
		reason string
		of     *model.Value
		held   string
		ok     bool
	}{
		{"no value", nil, "-", false},
		{"null", pointer(model.Value{}), "-", false},
		{"the field", pointer(value(t, `{"probe":{"path":"/"}}`)), `"/"`, true},
		{"without the field", pointer(value(t, `{"probe":{}}`)), "-", true},
		{"without the map", pointer(value(t, `{}`)), "-", true},
		{"with something else in its place", pointer(value(t, `{"probe":1}`)), "-", true},
	} {
		held, ok := fieldAt(tc.of, at)
		if texts(held) != tc.held || ok != tc.ok {
			t.Errorf("%s: %s, %v, want %s, %v", tc.reason, texts(held), ok, tc.held, tc.ok)
		}
	}
}
