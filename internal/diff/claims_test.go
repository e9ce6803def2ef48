package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestUnclaimed checks that a resource without claims is unmanaged if a declaration is expected
// to declare it, and unchecked if it could not be read.
func TestUnclaimed(t *testing.T) {
	t.Parallel()
	live := &model.Resource{Value: value(t, `{"a":1}`)}
	one, two := [][]string{{"infra"}}, [][]string{{"infra"}, {"intent"}}
	for _, tc := range []struct {
		reason  string
		subject model.Subject
		want    string
	}{
		{"no declaration is expected", model.Subject{Live: live}, ""},
		{"one is", model.Subject{Live: live, UndeclaredBy: one}, "unmanaged: "},
		{"and why", model.Subject{Live: live, UndeclaredBy: one, Outside: "grants rights in the whole cluster"}, "unmanaged: grants rights in the whole cluster"},
		{"two are", model.Subject{Live: live, UndeclaredBy: two}, "unmanaged: neither infra nor intent speaks of it"},
		{"two are, and why", model.Subject{Live: live, UndeclaredBy: two, Outside: "it is new"}, "unmanaged: neither infra nor intent speaks of it"},
		{"one of the group is enough", model.Subject{Live: live, UndeclaredBy: [][]string{{"infra", "more"}}}, "unmanaged: "},
		{"a part of another one could not be read", model.Subject{Live: live, UndeclaredBy: one, Partial: "page 2 could not be read"},
			"unmanaged: not in infra; page 2 could not be read"},
		{"a controller makes it", model.Subject{Live: live, UndeclaredBy: two, SystemOwned: "owned by ReplicaSet web"}, ""},
		{"it could not be read", model.Subject{UndeclaredBy: one, Unread: "forbidden"}, "unchecked: exists and is not in infra; could not be read: forbidden"},
		{"it could not be read, and a controller makes it", model.Subject{UndeclaredBy: one, Unread: "forbidden", SystemOwned: "owned"}, ""},
		{"nothing is known of it", model.Subject{Unread: "forbidden"}, ""},
	} {
		var got []string
		for _, o := range Compare(&tc.subject, Options{}) {
			got = append(got, string(o.Verdict)+": "+o.Reason)
		}
		if d := cmp.Diff(tc.want, strings.Join(got, "\n")); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestUndeclaredElsewhere checks that each group of declarations that should declare the
// resource and does not is reported, also if a claim of another group agrees.
func TestUndeclaredElsewhere(t *testing.T) {
	t.Parallel()
	live := &model.Resource{Value: value(t, `{"a":1}`)}
	claim := &model.Claim{Declaration: "infra", Address: "vm.web", Value: value(t, `{"a":1}`)}
	for _, tc := range []struct {
		reason    string
		silent    [][]string
		automatic string
		live      *model.Resource
		want      []string
	}{
		{"all that are expected have it", nil, "", live, nil},
		{"one lacks it", [][]string{{"intent"}}, "", live, []string{"unmanaged intent: live, and in infra (vm.web), but not in intent"}},
		{"a group lacks it", [][]string{{"intent", "more"}}, "", live, []string{"unmanaged : live, and in infra (vm.web), but not in intent or more"}},
		{"two groups lack it", [][]string{{"intent"}, {"cmdb"}}, "", live, []string{"unmanaged intent: live, and in infra (vm.web), but not in intent",
			"unmanaged cmdb: live, and in infra (vm.web), but not in cmdb"}},
		{"a controller makes it", [][]string{{"intent"}}, "owned by ReplicaSet web", live, nil},
		{"it is not live", [][]string{{"intent"}}, "", nil, []string{"missing : "}},
	} {
		s := &model.Subject{Live: tc.live, Claims: []*model.Claim{claim}, UndeclaredBy: tc.silent, SystemOwned: tc.automatic}
		var got []string
		for _, o := range Compare(s, Options{}) {
			got = append(got, fmt.Sprintf("%s %s: %s", o.Verdict, o.Declaration, o.Reason))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestOtherVersion checks that two versions of a kind may have other fields unless one of them
// is unknown, or the kind has the same fields in all versions.
func TestOtherVersion(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind     model.Kind
		declared string
		want     bool
	}{
		{model.Kind{}, "", false},
		{model.Kind{}, "v1", false},
		{model.Kind{Version: "v1"}, "", false},
		{model.Kind{Version: "v1"}, "v1", false},
		{model.Kind{Version: "v1"}, "v2", true},
		{model.Kind{Version: "v1", CompatibleVersions: []string{"v2"}}, "v2", false},
		{model.Kind{Version: "v1", CompatibleVersions: []string{"v2"}}, "v3", true},
		{model.Kind{Version: "v1", CompatibleVersions: []string{""}}, "v3", true},
	} {
		if got := otherVersion(&tc.kind, tc.declared); got != tc.want {
			t.Errorf("declared in %q, read in %q (alike %v): %v, want %v", tc.declared, tc.kind.Version, tc.kind.CompatibleVersions, got, tc.want)
		}
	}
}

// A misfit is a lens that reads a field that no resource has.
type misfit struct{ model.Lens }

func (misfit) Misfit(*model.Schema) string { return "plann (did you mean plan?)" }

// TestCheckable checks that a claim that cannot be compared is unchecked, that the others are
// compared, and that nothing is missing because of a failed read.
func TestCheckable(t *testing.T) {
	t.Parallel()
	good := &model.Claim{Declaration: "good", Version: "v1", Value: value(t, `{"a":2}`)}
	sealed := &model.Claim{Declaration: "sealed", Unchecked: "encrypted", Value: value(t, `{"a":3}`)}
	newer := &model.Claim{Declaration: "newer", Version: "v2", Value: value(t, `{"a":2}`)}
	live, kind := &model.Resource{Value: value(t, `{"a":1}`)}, &model.Kind{Version: "v1"}
	for _, tc := range []struct {
		reason  string
		subject model.Subject
		want    []string
	}{
		{"one of two cannot be compared", model.Subject{Live: live, Kind: kind, Claims: []*model.Claim{good, sealed}},
			[]string{"unchecked sealed: encrypted", "changed good: "}},
		{"none can be compared", model.Subject{Live: live, Kind: kind, Claims: []*model.Claim{sealed, newer}},
			[]string{"unchecked sealed: encrypted", "unchecked newer: declared in version v2, read in version v1; declare it in v1"}},
		{"without a kind versions say nothing", model.Subject{Live: live, Claims: []*model.Claim{newer}}, []string{"changed newer: "}},
		{"its mapping does not fit", model.Subject{Key: model.Key{Kind: "kumo/server"}, Live: live, Kind: kind, Claims: []*model.Claim{{Declaration: "good", Lens: misfit{}}}},
			[]string{"unchecked good: the mapping reads fields that kumo/server does not have: plann (did you mean plan?)"}},
		{"the read failed", model.Subject{Unread: "forbidden", Claims: []*model.Claim{good}}, []string{"unchecked good: forbidden"}},
		{"the read failed, and the claim has a reason of its own", model.Subject{Unread: "forbidden", Claims: []*model.Claim{sealed}}, []string{"unchecked sealed: encrypted"}},
		{"a part of the read failed, and it was seen", model.Subject{Live: live, Unread: "forbidden", Claims: []*model.Claim{good}}, []string{"changed good: "}},
		{"absent in a full read", model.Subject{Claims: []*model.Claim{good, sealed}}, []string{"unchecked sealed: encrypted", "missing good: "}},
		{"absent, declared in another version", model.Subject{Kind: kind, Claims: []*model.Claim{newer}}, []string{"missing newer: "}},
	} {
		var got []string
		for _, o := range Compare(&tc.subject, Options{}) {
			reason := o.Reason
			if strings.HasPrefix(reason, "nothing records") {
				reason = ""
			}
			got = append(got, fmt.Sprintf("%s %s: %s", o.Verdict, o.Claim.Declaration, reason))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestJudgeAbsent checks the outcomes of claims on a missing resource. Several declarations of
// it are reported once.
func TestJudgeAbsent(t *testing.T) {
	t.Parallel()
	claim := func(declaration, address string) *model.Claim {
		return &model.Claim{Declaration: declaration, Address: address, Value: value(t, `{"a":1}`)}
	}
	recorded := claim("infra", "vm.web")
	recorded.Value, recorded.Recorded = model.Value{}, pointer(value(t, `{"a":1}`))
	waits := claim("infra", "vm.web")
	waits.Pending = "to be made"
	optional := claim("infra", "vm.web")
	optional.MayBeAbsent = true
	fresh := claim("infra", "vm.web")
	first := by(t, "c1", "ann", `{"a":1}`)
	first.From.When = hour(9.5)
	fresh.Evidence = &model.Evidence{Now: hour(10), DeployWindow: hour(1).Sub(created), Past: model.Past{Versions: []model.Version{first, {}}}}
	for _, tc := range []struct {
		reason string
		claims []*model.Claim
		want   []string
	}{
		{"declared", []*model.Claim{claim("infra", "vm.web")}, []string{"missing infra vm.web: "}},
		{"declared no longer, and gone", []*model.Claim{recorded}, []string{"codified infra vm.web: "}},
		{"to be made by the next apply", []*model.Claim{waits}, []string{"pending infra vm.web: to be made"}},
		{"it may be absent", []*model.Claim{optional}, nil},
		{"declared within the deploy window", []*model.Claim{fresh}, []string{"pending infra vm.web: first declared within the deploy window"}},
		{"two declarations miss it", []*model.Claim{claim("infra", "vm.web"), claim("intent", "vm/1")}, []string{"missing infra vm.web: intent (vm/1) claims it, too"}},
		{"the second of three is named", []*model.Claim{claim("infra", "vm.web"), claim("intent", "vm/1"), claim("more", "x")},
			[]string{"missing infra vm.web: intent (vm/1) claims it, too"}},
		{"one declaration misses it at two addresses", []*model.Claim{claim("infra", "vm.web"), claim("infra", "ip.web")},
			[]string{"missing infra vm.web: ", "missing infra ip.web: "}},
		{"one claim that was listed twice", []*model.Claim{claim("infra", "vm.web"), claim("infra", "vm.web")}, []string{"missing infra vm.web: "}},
		{"the one that may be absent says nothing of the other", []*model.Claim{optional, claim("intent", "vm/1")}, []string{"missing intent vm/1: "}},
		{"one declares it no longer", []*model.Claim{recorded, claim("intent", "vm/1")}, []string{"codified infra vm.web: ", "missing intent vm/1: "}},
	} {
		var got []string
		for _, o := range Compare(&model.Subject{Claims: tc.claims}, Options{}) {
			got = append(got, fmt.Sprintf("%s %s %s: %s", o.Verdict, o.Claim.Declaration, o.Claim.Address, o.Reason))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestWithPending checks that the reason of a claim that is pending as a whole is added to its
// pending fields only.
func TestWithPending(t *testing.T) {
	t.Parallel()
	claim, other := &model.Claim{Declaration: "infra", ClaimApply: model.ClaimApply{Pending: "to be replaced"}, Value: model.MapOf()}, &model.Claim{Declaration: "intent"}
	s := &model.Subject{Live: &model.Resource{}, Claims: []*model.Claim{claim}}
	for _, tc := range []struct {
		reason string
		claim  *model.Claim
		before []model.Outcome
		want   []string
	}{
		{"it does not wait", other, []model.Outcome{{Verdict: model.Pending, Claim: other}}, []string{"pending intent: "}},
		{"nothing else is found", claim, nil, []string{"pending infra: to be replaced"}},
		{"its fields wait", claim, []model.Outcome{{Verdict: model.Pending, Claim: claim}}, []string{"pending infra: to be replaced"}},
		{"its fields changed", claim, []model.Outcome{{Verdict: model.Changed, Claim: claim}}, []string{"changed infra: ", "pending infra: to be replaced"}},
		{"fields of another claim wait", claim, []model.Outcome{{Verdict: model.Pending, Claim: other}}, []string{"pending intent: ", "pending infra: to be replaced"}},
		{"fields changed and others wait", claim, []model.Outcome{{Verdict: model.Changed, Claim: claim}, {Verdict: model.Pending, Claim: claim}},
			[]string{"changed infra: ", "pending infra: to be replaced"}},
	} {
		var got []string
		for _, o := range withPending(s, tc.claim, tc.before) {
			got = append(got, fmt.Sprintf("%s %s: %s", o.Verdict, o.Claim.Declaration, o.Reason))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestEditedAndDropped checks that what was edited since the last apply is shown of a resource that is declared no longer.
func TestEditedAndDropped(t *testing.T) {
	t.Parallel()
	sized := func(n int64) model.Value { return model.MapOf(model.Field{Name: "size", Value: model.IntOf(n)}) }
	recorded := sized(1)
	claim := &model.Claim{Declaration: "infra", Recorded: &recorded, Complete: true, ClaimApply: model.ClaimApply{Pending: "the next apply destroys it"}}
	for live, want := range map[int64][]string{1: {"pending []"}, 8: {"changed [size]", "pending []"}} {
		var got []string
		for _, o := range Compare(&model.Subject{Live: &model.Resource{Value: sized(live)}, Claims: []*model.Claim{claim}}, Options{}) {
			var paths []string
			for _, c := range o.Changes {
				paths = append(paths, c.Path)
			}
			got = append(got, fmt.Sprint(o.Verdict, " ", paths))
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("live %d (-want +got):\n%s", live, d)
		}
	}
}

// TestDeduplicate checks that of several claims in the same form the first one reports a field,
// unless both are pending and the later one is worse. A disputed field is reported by none.
func TestDeduplicate(t *testing.T) {
	t.Parallel()
	one, other := newRenamedLens(map[string]string{"port": "port"}, ""), newRenamedLens(map[string]string{"port": "port"}, "")
	of := func(lines ...string) []difference {
		var all []difference
		for _, line := range lines {
			verdict, at, _ := strings.Cut(line, " ")
			name, unproven := strings.CutSuffix(verdict, "?")
			all = append(all, difference{verdict: model.Verdict(name), change: model.Change{Path: at, Unproven: unproven}})
		}
		return all
	}
	for _, tc := range []struct {
		reason        string
		lenses        [2]model.Lens
		first, second []difference
		disputes      []dispute
		want          string
	}{
		{"the first one", [2]model.Lens{}, of("changed port"), of("changed port"), nil, "changed port | "},
		{"each its own field", [2]model.Lens{}, of("changed port"), of("changed cpu"), nil, "changed port | changed cpu"},
		{"the later one is worse and waits", [2]model.Lens{}, of("pending port"), of("bypassed port"), nil, " | bypassed port"},
		{"the later one may be worse", [2]model.Lens{}, of("pending port"), of("pending? port"), nil, " | pending port"},
		{"the later one is as bad", [2]model.Lens{}, of("pending port"), of("pending port"), nil, "pending port | "},
		{"the later one waits and the first does not", [2]model.Lens{}, of("changed port"), of("bypassed port"), nil, "changed port | "},
		{"the later one is worse and does not wait", [2]model.Lens{}, of("pending port"), of("changed port"), nil, "pending port | "},
		{"other words", [2]model.Lens{one, other}, of("changed port"), of("changed port"), nil, "changed port | changed port"},
		{"a disputed field", [2]model.Lens{}, of("changed port", "changed cpu"), of("bypassed port"), []dispute{{field: fieldRef{nil, "port"}}}, "changed cpu | "},
		{"a field that is disputed in other words", [2]model.Lens{one, one}, of("changed port"), nil, []dispute{{field: fieldRef{other, "port"}}}, "changed port | "},
	} {
		differs := [][]difference{tc.first, tc.second}
		deduplicate([]*model.Claim{{Lens: tc.lenses[0]}, {Lens: tc.lenses[1]}}, differs, tc.disputes)
		var got [2][]string
		for i, all := range differs {
			for _, f := range all {
				got[i] = append(got[i], string(f.verdict)+" "+f.change.Path)
			}
		}
		if line := strings.Join(got[0], ", ") + " | " + strings.Join(got[1], ", "); line != tc.want {
			t.Errorf("%s: %s, want %s", tc.reason, line, tc.want)
		}
	}
}

// TestSameFormValues returns the values of the other claims in the same form, without the
// claim's own.
func TestSameFormValues(t *testing.T) {
	t.Parallel()
	one, other := newRenamedLens(nil, ""), newRenamedLens(nil, "")
	claims := []*model.Claim{{Value: model.IntOf(0)}, {Value: model.IntOf(1)}, {Value: model.IntOf(2), Lens: one}, {Value: model.IntOf(3), Lens: other},
		{Value: model.IntOf(4), Lens: one}}
	for i, want := range []string{"1", "0", "4", "", "2"} {
		if got := texts(sameFormValues(claims, i)...); got != want {
			t.Errorf("claim %d: %q, want %q", i, got, want)
		}
	}
}

// TestByVerdict groups changes by verdict, the worst first, each with its first reason.
// Unchecked fields keep all reasons, since each names a next step.
func TestByVerdict(t *testing.T) {
	t.Parallel()
	of := func(verdict model.Verdict, at, reason string) difference {
		return difference{verdict: verdict, reason: reason, change: model.Change{Path: at, Actor: &model.Actor{}}}
	}
	for _, tc := range []struct {
		reason string
		all    []difference
		want   []string
	}{
		{"nothing", nil, nil},
		{"sorted by path", []difference{of(model.Changed, "b", ""), of(model.Changed, "a", "")}, []string{"changed [a b]: "}},
		{"the worst first", []difference{of(model.Pending, "a", ""), of(model.Changed, "b", ""), of(model.Conflict, "c", "")},
			[]string{"conflict [c]: ", "changed [b]: ", "pending [a]: "}},
		{"the first reason", []difference{of(model.Changed, "a", ""), of(model.Changed, "b", "one"), of(model.Changed, "c", "two")}, []string{"changed [a b c]: one"}},
		{"a reason of another verdict", []difference{of(model.Changed, "a", "one"), of(model.Pending, "b", "")}, []string{"changed [a]: one", "pending [b]: "}},
		{"all reasons of what was not checked", []difference{of(model.Unchecked, "a", "one"), of(model.Unchecked, "b", "two"), of(model.Unchecked, "c", "one")},
			[]string{"unchecked [a b c]: one; two"}},
	} {
		var got []string
		for _, o := range byVerdict(&model.Claim{}, tc.all) {
			var paths []string
			for _, c := range o.Changes {
				paths = append(paths, c.Path)
			}
			got = append(got, fmt.Sprintf("%s %v: %s", o.Verdict, paths, o.Reason))
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
}
