package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestHoldsWith reports whether a claim would agree if its live field had a value, and whether
// that is known.
func TestHoldsWith(t *testing.T) {
	t.Parallel()
	lens := newRenamedLens(map[string]string{"ram": "memory", "half": "cores"}, "half")
	at := func(name, live, says, view, means string, known bool) statement {
		return statement{claim: &model.Claim{Lens: lens}, path: name, livePath: live, viewPath: path{fieldSegment(name)},
			declared: value(t, says), live: value(t, view), implied: value(t, means), known: known}
	}
	for _, tc := range []struct {
		reason string
		voice  statement
		held   string
		want   string
	}{
		{"it means the same", at("ram", "memory", `4`, `8`, `4`, true), `4`, "true true"},
		{"it means the same in another spelling", at("ram", "memory", `4`, `8`, `4`, true), `"4"`, "true true"},
		{"it means something else", at("ram", "memory", `4`, `8`, `4`, true), `2`, "false true"},
		{"it would be seen as declared", at("half", "cores", `"4/2"`, `"6/2"`, ``, false), `4`, "true true"},
		{"it would be seen as something else", at("half", "cores", `"4/2"`, `"6/2"`, ``, false), `5`, "false true"},
		{"it would be seen as it is: the claim does not see the field itself", at("half", "other", `"4/2"`, `"6/2"`, ``, false), `5`, "false false"},
		{"its meaning is known, and it would be seen as it is", at("half", "other", `"4/2"`, `"6/2"`, `4`, true), `5`, "false true"},
		{"the path leads through a list", at("ram", "disks[0].size", `4`, `8`, `4`, true), `2`, "false true"},
	} {
		suits, told := tc.voice.holdsWith(value(t, `{"memory":8,"cores":6}`), value(t, tc.held))
		if got := fmt.Sprint(suits, " ", told); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
		}
	}
	plain := statement{claim: &model.Claim{}, livePath: "memory", declared: model.IntOf(4), live: model.IntOf(8)}
	if suits, told := plain.holdsWith(value(t, `{"memory":8}`), model.IntOf(4)); suits || !told {
		t.Errorf("without a lens: %v, %v, want false, true", suits, told)
	}
}

// TestReplacedFields replaces the value of a field; a path through a list has none.
func TestReplacedFields(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, live, path, held, want string
		ok                             bool
	}{
		{"a field", `{"a":1,"b":2}`, "a", `3`, `{"a":3,"b":2}`, true},
		{"a new field", `{"b":2}`, "a", `3`, `{"a":3,"b":2}`, true},
		{"no field any more", `{"a":1,"b":2}`, "a", ``, `{"b":2}`, true},
		{"a field of a map", `{"a":{"x":1,"y":2}}`, "a.x", `3`, `{"a":{"x":3,"y":2}}`, true},
		{"a field of a new map", `{}`, "a.x", `3`, `{"a":{"x":3}}`, true},
		{"of nothing", ``, "a", `3`, `{"a":3}`, true},
		{"a field of a text", `{"a":"t"}`, "a.x", `3`, `{"a":"t"}`, false},
		{"an element", `{"a":[1]}`, "a[0]", `3`, `{"a":[1]}`, false},
		{"a name in quotes", `{"a":1}`, `["a.b"]`, `3`, `{"a":1}`, false},
		{"a text as a whole", `"t"`, "a", `3`, `"t"`, false},
	} {
		got, ok := withValueAt(value(t, tc.live), tc.path, value(t, tc.held))
		if texts(got) != tc.want || ok != tc.ok {
			t.Errorf("%s: %s, %v, want %s, %v", tc.reason, texts(got), ok, tc.want, tc.ok)
		}
	}
}

// TestEqualInSomeFormat compares the values of two claims in different forms.
func TestEqualInSomeFormat(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, a, b string
		want         bool
	}{
		{"equal", `"x"`, `"x"`, true},
		{"other texts", `"x"`, `"y"`, false},
		{"a number and its text", `4`, `"4"`, true},
		{"a number and another text", `4`, `"5"`, false},
		{"names in another case", `"DB"`, `"db"`, true},
		{"addresses in another spelling", `"2001:db8:0::5/64"`, `"2001:DB8::5/64"`, true},
		{"addresses of another length", `"10.0.0.1/24"`, `"10.0.0.1/25"`, false},
		{"lists in another order", `["20","30"]`, `[30,20]`, true},
		{"lists with another element", `["20","30"]`, `[30,21]`, false},
		{"a list and its element", `["20"]`, `"20"`, false},
		{"nothing and an empty list", ``, `[]`, true},
		{"true and yes", `true`, `"yes"`, false},
	} {
		a, b := value(t, tc.a), value(t, tc.b)
		if equalInSomeFormat(a, b) != tc.want || equalInSomeFormat(b, a) != tc.want {
			t.Errorf("%s: %s and %s: want %v", tc.reason, tc.a, tc.b, tc.want)
		}
	}
}

// TestCompatible checks whether one live field can satisfy two claims: one of them would agree
// with the value of the other.
func TestCompatible(t *testing.T) {
	t.Parallel()
	says := func(text string, agrees, known bool) statement {
		v := value(t, text)
		return statement{claim: &model.Claim{}, livePath: "memory", declared: v, implied: v, agrees: agrees, known: known}
	}
	for _, tc := range []struct {
		reason string
		a, b   statement
		want   string
	}{
		{"both agree", says(`8`, true, true), says(`8`, true, true), "true true"},
		{"one agrees, the other one does not", says(`8`, true, true), says(`4`, false, true), "false true"},
		{"one agrees, the other one has no known meaning", says(`8`, true, true), says(`4`, false, false), "false true"},
		{"none agrees, and they mean the same", says(`4`, false, true), says(`"4"`, false, true), "true true"},
		{"none agrees, and they mean something else", says(`4`, false, true), says(`2`, false, true), "false true"},
		{"none has a known meaning", says(`4`, false, false), says(`4`, false, false), "false false"},
	} {
		for _, pair := range [][2]statement{{tc.a, tc.b}, {tc.b, tc.a}} {
			can, known := compatible(value(t, `{"memory":8}`), pair[0], pair[1])
			if got := fmt.Sprint(can, " ", known); got != tc.want {
				t.Errorf("%s: %s, want %s", tc.reason, got, tc.want)
			}
		}
	}
}

// TestRepeats checks that a claim of another declaration with the same difference is reported
// once.
func TestRepeats(t *testing.T) {
	t.Parallel()
	says := func(declaration, text string, agrees bool) statement {
		v := value(t, text)
		return statement{claim: &model.Claim{Declaration: declaration}, livePath: "memory", declared: v, implied: v, agrees: agrees, known: true}
	}
	for _, tc := range []struct {
		reason string
		a, b   statement
		want   bool
	}{
		{"both differ in the same way", says("tool", `4`, false), says("inventory", `4`, false), true},
		{"both differ in another way", says("tool", `4`, false), says("inventory", `2`, false), false},
		{"one declaration says it twice", says("tool", `4`, false), says("tool", `4`, false), false},
		{"both agree with live", says("tool", `8`, true), says("inventory", `8`, true), false},
		{"only the first agrees", says("tool", `8`, true), says("inventory", `8`, false), false},
		{"only the second agrees", says("tool", `8`, false), says("inventory", `8`, true), false},
	} {
		if got := repeats(value(t, `{"memory":8}`), tc.a, tc.b); got != tc.want {
			t.Errorf("%s: %v, want %v", tc.reason, got, tc.want)
		}
	}
}

// TestMarkMoved changes a difference in the statement's own field to a move, and no other one.
func TestMarkMoved(t *testing.T) {
	t.Parallel()
	claim, other := &model.Claim{}, &model.Claim{}
	differs := [][]difference{
		{{verdict: model.Changed, change: model.Change{Path: "name"}}, {verdict: model.Changed, change: model.Change{Path: "memory"}}},
		{{verdict: model.Changed, change: model.Change{Path: "name"}}, {verdict: model.Pending, change: model.Change{Path: "cores"}}},
	}
	claims := []*model.Claim{claim, other}
	markMoved(claims, differs, statement{claim: claim, path: "name"})
	markMoved(claims, differs, statement{claim: other, path: "cores"})
	var got []string
	for _, all := range differs {
		for _, f := range all {
			got = append(got, string(f.verdict)+" "+f.change.Path)
		}
	}
	if d := cmp.Diff([]string{"moved name", "changed memory", "changed name", "pending cores"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDropDifferences removes the differences of statements from their own claims only.
func TestDropDifferences(t *testing.T) {
	t.Parallel()
	claim, other := &model.Claim{}, &model.Claim{}
	of := func(names ...string) []difference {
		var all []difference
		for _, name := range names {
			all = append(all, difference{change: model.Change{Path: name}})
		}
		return all
	}
	differs := [][]difference{of("memory", "cores"), of("memory", "cores")}
	dropDifferences([]*model.Claim{claim, other}, differs, []statement{{claim: claim, path: "memory"}, {claim: other, path: "cores"}})
	for i, want := range []string{"cores", "memory"} {
		if len(differs[i]) != 1 || differs[i][0].change.Path != want {
			t.Errorf("claim %d differs in %+v, want %s", i, differs[i], want)
		}
	}
}

// TestMinority returns the side that differs from all others, or none.
func TestMinority(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason     string
		statements string
		want       string
	}{
		{"one of two", "tool+ inventory-", "inventory differs, tool and pve agree"},
		{"the other of two", "tool- inventory+", "tool differs, inventory and pve agree"},
		{"one of three", "tool+ inventory- cmdb+", "inventory differs, cmdb and tool and pve agree"},
		{"two of three", "tool+ inventory- cmdb-", ""},
		{"no two agree", "tool- inventory-", "tool, inventory and pve all differ"},
		{"three that differ", "tool- inventory- cmdb-", ""},
		{"one declaration twice against live", "tool- tool-", "tool differs from pve"},
		{"one declaration for and against", "tool+ tool- inventory+", "tool differs, inventory and pve agree"},
		{"one declaration twice with live", "tool+ tool+ inventory-", "inventory differs, tool and pve agree"},
		{"nobody is against", "tool+ inventory+", ""},
	} {
		var statements []statement
		for _, text := range strings.Fields(tc.statements) {
			statements = append(statements, statement{claim: &model.Claim{Declaration: text[:len(text)-1]}, agrees: strings.HasSuffix(text, "+")})
		}
		s := &model.Subject{}
		s.Source = "pve"
		if got := minority(s, statements); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
	}
}

// TestWithoutPartialAgreement removes the agreeing statements of a claim that has differing
// ones.
func TestWithoutPartialAgreement(t *testing.T) {
	t.Parallel()
	tool, inventory := &model.Claim{Declaration: "tool"}, &model.Claim{Declaration: "inventory"}
	statements := []statement{
		{claim: tool, path: "flavor", agrees: true},
		{claim: inventory, path: "ram"},
		{claim: inventory, path: "cpu", agrees: true},
		{claim: inventory, path: "disk"},
	}
	var got []string
	for _, v := range withoutPartialAgreement(statements) {
		got = append(got, v.path)
	}
	if d := cmp.Diff([]string{"flavor", "ram", "disk"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if wrong := contradicted(statements); len(wrong) != 1 || wrong[0] != inventory {
		t.Errorf("against: %+v, want the inventory once", wrong)
	}
}

// TestMergeDisputes keeps a dispute in the same form unless one in different forms has its
// field.
func TestMergeDisputes(t *testing.T) {
	t.Parallel()
	one := newRenamedLens(nil, "")
	about := func(lens model.Lens, name string, statements ...fieldRef) dispute {
		return dispute{field: fieldRef{lens, name}, statements: statements}
	}
	same := []dispute{about(nil, "memory"), about(nil, "cores"), about(one, "memory")}
	var got []string
	for _, d := range mergeDisputes(same, []dispute{about(nil, "x", fieldRef{nil, "memory"}, fieldRef{one, "ram"})}) {
		got = append(got, fmt.Sprint(d.field.path, " ", d.field.lens == nil))
	}
	if d := cmp.Diff([]string{"cores true", "memory false", "x true"}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestDelegatedIsNoDispute checks that claims in different forms do not dispute a field that
// another object decides.
func TestDelegatedIsNoDispute(t *testing.T) {
	t.Parallel()
	decided := []model.Delegation{{Path: "memory_mb", To: "Scaler s"}}
	for _, tc := range []struct {
		reason    string
		delegated []model.Delegation
		want      []string
	}{
		{"decided by another object", decided, nil},
		{"decided by nobody else", nil, []string{"disputed memory_mb - 8"}},
	} {
		s := model.Subject{Live: &model.Resource{Value: value(t, `{"memory":8}`)}, Claims: []*model.Claim{
			{Declaration: "tool", Value: value(t, `{"memory_mb":4}`), Lens: newRenamedLens(map[string]string{"memory_mb": "memory"}, ""),
				RecordOnly: true, Delegated: tc.delegated},
			{Declaration: "inventory", Value: value(t, `{"memory":8}`), Lens: newRenamedLens(map[string]string{"memory": "memory"}, ""), ClaimMatching: model.ClaimMatching{ByIdentity: true}},
		}}
		if d := cmp.Diff(tc.want, sketch(Compare(&s, Options{}))); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestUnsignedDispute checks that the reason for a missing audit event is added to the only
// claim that differs, and only if the actor is unknown.
func TestUnsignedDispute(t *testing.T) {
	t.Parallel()
	edit := model.AuditEvent{Fields: []string{"memory"}, Actor: model.Actor{Name: "root@pam", At: later, Confidence: model.Exact}}
	for _, tc := range []struct {
		reason          string
		live            string
		events          []model.AuditEvent
		inventory, tool string
		want            string
	}{
		{"nobody is known, and its log is silent", `{"memory":4}`, nil, "the changelog is not read", "", "unknown: the changelog is not read"},
		{"somebody is known", `{"memory":4}`, []model.AuditEvent{edit}, "the changelog is not read", "", "root@pam"},
		{"both stand against live", `{"memory":16}`, nil, "the changelog is not read", "the state has none", "unknown: the cluster log is silent"},
		{"the other one's log is silent", `{"memory":4}`, nil, "", "the state has none", "unknown: the cluster log is silent"},
	} {
		s := model.Subject{Live: &model.Resource{Value: value(t, tc.live), WriterUnknown: "the cluster log is silent"}, AuditEvents: tc.events, Claims: []*model.Claim{
			{Declaration: "tool", Value: value(t, `{"memory_mb":4}`), Lens: newRenamedLens(map[string]string{"memory_mb": "memory"}, ""), RecordOnly: true, ClaimHistory: model.ClaimHistory{WriterUnknown: tc.tool}},
			{Declaration: "inventory", Value: value(t, `{"memory":8}`), Lens: newRenamedLens(map[string]string{"memory": "memory"}, ""), ClaimMatching: model.ClaimMatching{ByIdentity: true}, ClaimHistory: model.ClaimHistory{WriterUnknown: tc.inventory}},
		}}
		outcomes := Compare(&s, Options{})
		if len(outcomes) != 1 || who(outcomes[0].Actor) != tc.want {
			t.Errorf("%s: %+v, want one by %q", tc.reason, outcomes, tc.want)
		}
	}
}

func TestMinorityInTheSameForm(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, live string
		declared     []string
		want         string
	}{
		{"one agrees with what is live", `{"a":1}`, []string{`{"a":1}`, `{"a":2}`}, "d1 differs, d0 and prod agree"},
		{"none does", `{"a":3}`, []string{`{"a":1}`, `{"a":2}`}, "d0, d1 and prod all differ"},
		{"two of three agree, and not with what is live", `{"a":3}`, []string{`{"a":1}`, `{"a":2}`, `{"a":1}`}, ""},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			s := model.Subject{Key: model.Key{Source: "prod"}, Live: &model.Resource{Value: value(t, tc.live)}}
			for i, declared := range tc.declared {
				s.Claims = append(s.Claims, &model.Claim{Declaration: "d" + string(rune('0'+i)), Value: value(t, declared)})
			}
			outcomes := Compare(&s, Options{})
			if len(outcomes) != 1 || outcomes[0].Verdict != model.Disputed || outcomes[0].Reason != tc.want {
				t.Errorf("outcomes %+v, want a dispute: %q", outcomes, tc.want)
			}
		})
	}
}
