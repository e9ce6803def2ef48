package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// installer returns a resource with a record of objects, given by ID. The values are "applied".
func installer(id string, objects ...string) model.Resource {
	r := resource(id)
	r.Kind, r.Value = "test/Tool", model.StringOf("settings of "+id)
	r.Record = &model.Installation{Tool: "tool", Place: r.Place, Name: r.Name}
	var list []model.Installed
	for _, o := range objects {
		list = append(list, model.Installed{Ref: model.Ref{Kind: kind, ID: o}, Value: model.StringOf("applied")})
	}
	list = append(list, model.Installed{Ref: model.Ref{Kind: kind, ID: "p/unknown"}},
		model.Installed{Ref: model.Ref{Kind: kind, ID: "p/doubted"}, Value: model.StringOf("applied"), Attempted: model.StringOf("attempted")})
	r.Record.SetObjects(list)
	return r
}

// TestRecordedByAnInstallation matches claims whose record is in another live resource.
func TestRecordedByAnInstallation(t *testing.T) {
	t.Parallel()
	by := model.Ref{Kind: "test/Tool", ID: "p/tool"}
	s := model.Snapshot{Source: "s", Coverage: []model.Coverage{{Source: "s", Complete: true}},
		Resources: []model.Resource{resource("p/a"), installer("p/tool", "p/a", "p/gone")}}
	of := func(id string) model.Claim {
		c := claim("d", id)
		c.InstalledBy = by
		return c
	}
	own := of("p/tool")
	own.Kind = by.Kind
	d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{of("p/a"), of("p/b"), of("p/gone"), of("p/unknown"), of("p/doubted"), own}}
	got := map[string]string{}
	for _, subject := range Match(s, []model.Declaration{d}) {
		for _, c := range subject.Claims {
			got[c.ID] = "none"
			if c.Recorded != nil {
				got[c.ID] = c.Recorded.Str()
			}
		}
	}
	want := map[string]string{"p/a": "applied", "p/b": "none", "p/gone": "applied", "p/unknown": "none", "p/doubted": "none", "p/tool": "settings of p/tool"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if d.Claims[0].Recorded != nil {
		t.Error("the claim of the declaration was changed")
	}
	s.Resources = s.Resources[:1]
	for _, subject := range Match(s, []model.Declaration{d}) {
		if subject.Claims[0].Recorded != nil {
			t.Errorf("%s has a record without the installation", subject.Key)
		}
	}
}

// TestOnlyLive matches a claim that applies only to a live resource.
func TestOnlyLive(t *testing.T) {
	t.Parallel()
	c := claim("d", "p/a")
	c.OnlyLive, c.InstalledBy = true, model.Ref{Kind: "test/Tool", ID: "p/tool"}
	ref := model.Ref{Kind: kind, ID: "p/a"}
	doubted := installer("p/tool", "p/a")
	doubted.Record.Find(ref).Attempted = model.StringOf("attempted")
	for reason, tc := range map[string]struct {
		snapshot model.Snapshot
		want     string
	}{
		"live":   {model.Snapshot{Resources: []model.Resource{resource("p/a")}}, "s/test/Thing/p/a live claimed by d"},
		"absent": {model.Snapshot{Coverage: []model.Coverage{{Source: "s", Complete: true}}}, ""},
		"not covered": {
			model.Snapshot{}, "",
		},
		"recorded": {model.Snapshot{Coverage: []model.Coverage{{Source: "s", Complete: true}}, Resources: []model.Resource{installer("p/tool", "p/a")}},
			"s/test/Thing/p/a claimed by d\ns/test/Tool/p/tool live"},
		"recorded with a later value that failed": {model.Snapshot{Coverage: []model.Coverage{{Source: "s", Complete: true}}, Resources: []model.Resource{doubted}},
			"s/test/Thing/p/a claimed by d\ns/test/Tool/p/tool live"},
		"unreadable": {model.Snapshot{Unread: []model.Unread{{Ref: ref, Reason: "malformed"}}}, "s/test/Thing/p/a unread: malformed claimed by d"},
	} {
		tc.snapshot.Source = "s"
		got := show(Match(tc.snapshot, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{c}}}))
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
	}
}

// TestInstallers lists the installations of an unclaimed resource, in order.
func TestInstallers(t *testing.T) {
	t.Parallel()
	inventory := resource("p/x")
	inventory.Kind, inventory.Installs = "test/Tree.example.org", []model.Ref{{Kind: kind, ID: "p/c"}}
	s := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a"), resource("p/b"), resource("p/c"),
		installer("p/one", "p/a", "p/b"), installer("p/two", "p/a"), inventory}}
	got := map[string][]string{}
	for _, subject := range Match(s, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{claim("d", "p/b")}}}) {
		for i := range subject.InstalledBy {
			got[subject.Key.ID] = append(got[subject.Key.ID], subject.InstalledBy[i].String()+": "+subject.InstalledBy[i].Applied.Str())
		}
	}
	want := map[string][]string{"p/a": {"tool one in namespace p: applied", "tool two in namespace p: applied"}, "p/c": {"Tree x in namespace p: "}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestInstallationOfDeclaredObjects does not expect a declaration of an installation of which all
// objects are declared.
func TestInstallationOfDeclaredObjects(t *testing.T) {
	t.Parallel()
	tool := installer("p/tool")
	scopes := []model.Scope{{Place: "p"}, {Kind: "test/Tool"}}
	for reason, tc := range map[string]struct {
		objects, declared []string
		expected          bool
	}{
		"all are declared":   {objects: []string{"p/a", "p/b"}, declared: []string{"p/a", "p/b", "p/c"}},
		"one is not":         {objects: []string{"p/a", "p/b"}, declared: []string{"p/a"}, expected: true},
		"it has none":        {declared: []string{"p/a"}, expected: true},
		"nothing is claimed": {objects: []string{"p/a"}, expected: true},
	} {
		r := tool
		record := *tool.Record
		var list []model.Installed
		for _, id := range tc.objects {
			list = append(list, model.Installed{Ref: model.Ref{Kind: kind, ID: id}})
		}
		record.SetObjects(list)
		r.Record = &record
		s := model.Snapshot{Source: "s", Coverage: []model.Coverage{{Source: "s", Complete: true}}, Resources: []model.Resource{r}}
		d := model.Declaration{Name: "d", Governs: []string{"s"}, Scopes: scopes}
		for _, id := range tc.declared {
			d.Claims = append(d.Claims, claim("d", id))
		}
		for _, subject := range Match(s, []model.Declaration{d}) {
			if subject.Live != nil && (len(subject.UndeclaredBy) > 0) != tc.expected {
				t.Errorf("%s: undeclared by %v", reason, subject.UndeclaredBy)
			}
		}
	}
}
