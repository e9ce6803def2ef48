package classify

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

var release = model.Ref{Kind: "test/Release", ID: "p/redis"}

// installation is a scan of a release and of unmanaged objects that it installed. declared
// reports whether a declaration has the release.
func installation(declared bool, ids ...string) Input {
	in := input()
	subject := &model.Subject{Key: model.Key{Source: "s", Kind: release.Kind, ID: release.ID}, Place: "p", Name: "redis", Live: &model.Resource{}}
	j := model.Judged{Subject: subject}
	if !declared {
		j.Outcomes = []model.Outcome{{Verdict: model.Unmanaged}}
	}
	in.Judged = []model.Judged{j}
	for _, id := range ids {
		kind := &model.Kind{}
		if strings.Contains(id, "role") {
			kind.Severities = []model.SeverityRule{{Severity: model.High}}
		}
		s := &model.Subject{Key: model.Key{Source: "s", Kind: "test/Thing", ID: id}, Place: "p", Name: id, Live: &model.Resource{}, Kind: kind}
		in.Judged = append(in.Judged, model.Judged{Subject: s, Outcomes: []model.Outcome{{Verdict: model.Unmanaged, InstalledBy: release}}})
	}
	return in
}

func show(findings []model.Finding) string {
	var lines []string
	for _, f := range findings {
		lines = append(lines, fmt.Sprintf("%s %s %s: %s", f.Verdict, f.Severity, f.Key.ID, f.Reason))
	}
	return strings.Join(lines, "\n")
}

func TestInstalledObjectsAreOneFinding(t *testing.T) {
	t.Parallel()
	many := []string{"p/a", "p/b", "p/c", "p/d", "p/e", "p/f", "p/g", "p/h", "p/i", "p/j", "p/k", "p/l"}
	for reason, tc := range map[string]struct {
		in   func() Input
		want string
	}{
		"an undeclared release": {func() Input { return installation(false, "p/b", "p/a") },
			"unmanaged low p/redis: installed 2 objects that no declaration has: Thing p/a, Thing p/b"},
		"a declared release":   {func() Input { return installation(true, "p/a") }, "unmanaged low p/redis: installed an object that no declaration has: Thing p/a"},
		"a dangerous object":   {func() Input { return installation(false, "p/role") }, "unmanaged high p/role: \nunmanaged low p/redis: "},
		"more than are listed": {func() Input { return installation(false, many...) }, "unmanaged low p/redis: installed 12 objects that no declaration has: Thing p/a, Thing p/b, Thing p/c, Thing p/d, Thing p/e, Thing p/f, Thing p/g, Thing p/h, Thing p/i, Thing p/j and 2 more"},
		"an object that a rule of the configuration rates": {func() Input {
			in := installation(false, "p/a")
			in.Severities = []SeverityRule{{Selector: model.Selector{Kinds: []string{"test/Thing"}}, Set: model.Critical}}
			return in
		}, "unmanaged critical p/a: \nunmanaged low p/redis: "},
		"an object that a rule of the configuration rates medium": {func() Input {
			in := installation(false, "p/a")
			in.Severities = []SeverityRule{{Selector: model.Selector{Kinds: []string{"test/Thing"}}, Set: model.Medium}}
			return in
		}, "unmanaged medium p/redis: installed an object that no declaration has: Thing p/a"},
		"an object in another namespace than the record": {func() Input {
			in := installation(true, "p/a", "q/b")
			in.Judged[0].Subject.Live.Record, in.Judged[2].Subject.Place = &model.Installation{}, "q"
			return in
		}, "unmanaged low p/redis: installed an object that no declaration has: Thing p/a\nunmanaged low q/b: "},
		"an inventory of several namespaces": {func() Input {
			in := installation(true, "q/b")
			in.Judged[1].Subject.Place = "q"
			return in
		}, "unmanaged low p/redis: installed an object that no declaration has: Thing q/b"},
		"an object of another owner": {func() Input {
			in := installation(true, "p/a")
			in.Owners = []OwnerRule{{Selector: model.Selector{Kinds: []string{"test/Thing"}}, Owner: "network"}}
			return in
		}, "unmanaged low p/a: "},
		"a release that a rule hides": {func() Input {
			in := installation(false, "p/a")
			in.Rules = []Rule{{Resource: "p/redis", Reason: "x"}}
			return in
		}, "unmanaged low p/redis: \nunmanaged low p/a: "},
	} {
		if diff := cmp.Diff(tc.want, show(Findings(tc.in()).Current)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestInstalledObjectKeepsItsHistory proves that an earlier finding about an object ends in the one
// about its release, unless it was accepted, and that another object ends the acceptance of the
// release.
func TestInstalledObjectKeepsItsHistory(t *testing.T) {
	t.Parallel()
	single := installation(true, "p/a")
	single.Judged[1].Outcomes[0].InstalledBy = model.Ref{}
	in := installation(true, "p/a")
	in.Earlier = Findings(single).Current
	got := Findings(in)
	if len(got.Resolved) != 1 || got.Resolved[0].MergedInto != got.Current[0].ID || got.Current[0].Key.ID != "p/redis" {
		t.Errorf("got %+v", got)
	}
	in.Earlier[0].Decision = &model.Decision{Kind: model.Accept}
	if got := Findings(in); len(got.Current) != 1 || got.Current[0].Key.ID != "p/a" {
		t.Errorf("an accepted finding: got %s", show(got.Current))
	}
	one, two := Findings(installation(false, "p/a")).Current[0], Findings(installation(false, "p/a", "p/b")).Current[0]
	if one.ID != two.ID || one.Basis == two.Basis {
		t.Errorf("got %s and %s, basis %s and %s", one.ID, two.ID, one.Basis, two.Basis)
	}
}

// TestInstalledContent proves that an acceptance of the finding about a release is about the contents of
// its objects.
func TestInstalledContent(t *testing.T) {
	t.Parallel()
	scaler := model.Ref{Kind: "test/Thing", ID: "p/b"}
	of := func(replicas, image string, delegated ...model.Delegation) model.Finding {
		in := installation(false, "p/a", "p/b")
		in.Judged[1].Outcomes[0].Content = model.MapOf(model.Field{Name: "spec", Value: model.MapOf(
			model.Field{Name: "image", Value: model.StringOf(image)}, model.Field{Name: "replicas", Value: model.StringOf(replicas)})})
		in.Judged[1].Subject.Live.Delegated = delegated
		slices.Reverse(in.Judged)
		return Findings(in).Current[0]
	}
	first := of("1", "web:1")
	accepted := model.Decision{Kind: model.Accept, Finding: first.ID, Basis: first.Basis, Severity: first.Severity}
	replicas := func(by model.Ref) model.Delegation { return model.Delegation{Path: "spec.replicas", By: by} }
	for reason, tc := range map[string]struct {
		before, after model.Finding
		want          bool
	}{
		"the same":                         {first, of("1", "web:1"), true},
		"another image":                    {first, of("1", "evil:1"), false},
		"another number":                   {first, of("2", "web:1"), false},
		"a number that an object sets":     {of("1", "web:1", replicas(scaler)), of("2", "web:1", replicas(scaler)), true},
		"a number that an object may add":  {of("1", "web:1", model.Delegation{Path: "spec.replicas", By: scaler, Adds: true}), of("2", "web:1", model.Delegation{Path: "spec.replicas", By: scaler, Adds: true}), false},
		"a number that another object has": {of("1", "web:1", replicas(release)), of("2", "web:1", replicas(release)), false},
		"an image and the number":          {of("1", "web:1", replicas(scaler)), of("2", "evil:1", replicas(scaler)), false},
	} {
		accepted.Basis = tc.before.Basis
		if got := accepted.Holds(&tc.after, now); got != tc.want {
			t.Errorf("%s: the acceptance holds: %t", reason, got)
		}
	}
	byHand := model.Decision{Kind: model.Accept, Subject: model.Target{Key: first.Key}}
	if byHand.Holds(&first, now) {
		t.Error("an acceptance without a basis holds for any objects")
	}
}

// TestInstallationsThatListInstallations proves that each unmanaged object stays in exactly one finding,
// for any lists in the records of installations.
func TestInstallationsThatListInstallations(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		// by are the installers of objects, by ID.
		by   map[string]string
		want string
	}{
		"it lists itself": {map[string]string{"p/a": "p/a", "p/x": "p/a"},
			"unmanaged low p/a: installed an object that no declaration has: Thing p/x"},
		"it lists only itself": {map[string]string{"p/a": "p/a"}, "unmanaged low p/a: "},
		"two list each other": {map[string]string{"p/a": "p/b", "p/b": "p/a", "p/x": "p/a"},
			"unmanaged low p/a: installed an object that no declaration has: Thing p/x\nunmanaged low p/b: "},
		"three list each other": {map[string]string{"p/a": "p/b", "p/b": "p/c", "p/c": "p/a"},
			"unmanaged low p/a: \nunmanaged low p/b: \nunmanaged low p/c: "},
		"one lists one that lists others": {map[string]string{"p/a": "", "p/b": "p/a", "p/x": "p/b", "p/y": "p/a"},
			"unmanaged low p/a: installed an object that no declaration has: Thing p/y\nunmanaged low p/b: installed an object that no declaration has: Thing p/x"},
	} {
		in := input()
		for _, id := range slices.Sorted(maps.Keys(tc.by)) {
			o := model.Outcome{Verdict: model.Unmanaged}
			if by := tc.by[id]; by != "" {
				o.InstalledBy = model.Ref{Kind: "test/Thing", ID: by}
			}
			s := &model.Subject{Key: model.Key{Source: "s", Kind: "test/Thing", ID: id}, Place: "p", Name: id, Live: &model.Resource{}, Kind: &model.Kind{}}
			in.Judged = append(in.Judged, model.Judged{Subject: s, Outcomes: []model.Outcome{o}})
		}
		lines := strings.Split(show(Findings(in).Current), "\n")
		slices.Sort(lines)
		if diff := cmp.Diff(tc.want, strings.Join(lines, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}
