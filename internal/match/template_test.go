package match

import (
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestNamedTemplate verifies that a name of several resources is that of no template.
func TestNamedTemplate(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		names map[string]string
		want  string
	}{
		"one":             {map[string]string{"p/a": "web", "p/b": "base"}, "p/b"},
		"none":            {map[string]string{"p/a": "web", "p/b": "other"}, ""},
		"two":             {map[string]string{"p/a": "web", "p/b": "base", "p/c": "base"}, ""},
		"three":           {map[string]string{"p/a": "web", "p/b": "base", "p/c": "base", "p/d": "base"}, ""},
		"of another kind": {map[string]string{"p/a": "web", "o/b": "base"}, ""},
	} {
		snapshot := model.Snapshot{Source: "s", Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		for id, name := range tc.names {
			r := resource(id)
			if r.Name = name; id[0] == 'o' {
				r.Kind = "test/Other"
			}
			snapshot.Resources = append(snapshot.Resources, r)
		}
		made := claim("d", "p/a")
		made.TemplateName = "base"
		got := ""
		for _, s := range Match(snapshot, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{made}}}) {
			if s.NamedTemplate != nil {
				got += s.NamedTemplate.ID
			}
			if s.Template != nil {
				t.Errorf("%s: the template is known by its ID", reason)
			}
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", reason, got, tc.want)
		}
	}
}

// TestTemplate finds the live resource of a claim's template.
func TestTemplate(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		live []string
		of   model.Ref
		want string
	}{
		"a live template":         {[]string{"p/a", "p/base"}, model.Ref{Kind: kind, ID: "p/base"}, "p/base"},
		"a template that is gone": {[]string{"p/a"}, model.Ref{Kind: kind, ID: "p/base"}, ""},
		"declared and gone":       {[]string{"p/a"}, model.Ref{Kind: kind, ID: "p/missing"}, ""},
		"of another kind":         {[]string{"p/a", "p/base"}, model.Ref{Kind: "test/Other", ID: "p/base"}, ""},
		"none":                    {[]string{"p/a", "p/base"}, model.Ref{}, ""},
	} {
		snapshot := model.Snapshot{Source: "s", Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		for _, id := range tc.live {
			snapshot.Resources = append(snapshot.Resources, resource(id))
		}
		made := claim("d", "p/a")
		made.Template = tc.of
		d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{made, claim("d", "p/missing")}}
		got := ""
		for _, s := range Match(snapshot, []model.Declaration{d}) {
			if s.Template != nil {
				got += s.ID + " from " + s.Template.ID
			}
		}
		want := tc.want
		if want != "" {
			want = "p/a from " + want
		}
		if got != want {
			t.Errorf("%s: got %q, want %q", reason, got, want)
		}
	}
}

// TestUnreadTemplate verifies that a template which may exist although it was not read is not taken for one that is gone.
func TestUnreadTemplate(t *testing.T) {
	t.Parallel()
	all := model.Coverage{Source: "s", Complete: true}
	gap := func(of, place string) []model.Coverage {
		return []model.Coverage{all, {Source: "s", Kind: of, Place: place, Reason: "403"}}
	}
	unread := func(id, name string) []model.Unread {
		return []model.Unread{{Ref: model.Ref{Kind: kind, ID: id}, Name: name, Reason: "node down"}}
	}
	entries := func(id string) []model.Unread {
		u := unread(id, "")
		u[0].All = true
		return u
	}
	const down, forbidden = ", which could not be read: node down", ", which could not be read: 403"
	for _, tc := range []struct {
		reason           string
		live             map[string]string
		unread           []model.Unread
		coverage         []model.Coverage
		byID, byName     string
		wantID, wantName string
	}{
		{reason: "gone", wantID: "", wantName: ""},
		{reason: "read", live: map[string]string{"p/base": "base"}, unread: unread("p/other", "other"), coverage: gap(kind, "q"), byID: "p/base", byName: "p/base"},
		{reason: "on a node that is down", unread: unread("p/base", "base"), wantID: "p/base (base)" + down, wantName: "base" + down},
		{reason: "without a name", unread: unread("p/base", ""), wantID: "p/base" + down, wantName: "base" + down},
		{reason: "another one was not read", unread: unread("p/other", "other")},
		{reason: "another one of another kind was not read", unread: []model.Unread{{Ref: model.Ref{Kind: "test/Other", ID: "p/other"}, Reason: "?"}}},
		{reason: "among entries that were not read", unread: entries("p/"), wantID: "p/base" + down, wantName: "base" + down},
		{reason: "two have the name, one was not read", live: map[string]string{"p/b": "base"}, unread: unread("p/base", "base"), wantID: "p/base (base)" + down},
		{reason: "the kind may not be read", coverage: gap(kind, ""), wantID: "p/base" + forbidden, wantName: "base" + forbidden},
		{reason: "a place may not be read", coverage: gap(kind, "q"), wantID: "p/base" + forbidden, wantName: "base" + forbidden},
		{reason: "another kind may not be read", coverage: gap("test/Other", "")},
		{reason: "no scope has a reason", coverage: []model.Coverage{{Source: "s"}}, wantID: "p/base, which could not be read: not read", wantName: "base, which could not be read: not read"},
	} {
		snapshot := model.Snapshot{Source: "s", Coverage: tc.coverage, Unread: tc.unread, Resources: []model.Resource{resource("p/a"), resource("p/c")}}
		if tc.coverage == nil {
			snapshot.Coverage = []model.Coverage{all}
		}
		for id, name := range tc.live {
			r := resource(id)
			r.Name = name
			snapshot.Resources = append(snapshot.Resources, r)
		}
		byID, byName := claim("d", "p/a"), claim("d", "p/c")
		byID.Template, byName.TemplateName = model.Ref{Kind: kind, ID: "p/base"}, "base"
		var template, named *model.Resource
		var unreadID, unreadName string
		for _, s := range Match(snapshot, []model.Declaration{{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{byID, byName}}}) {
			switch s.ID {
			case "p/a":
				template, unreadID = s.Template, s.TemplateUnread
			case "p/c":
				named, unreadName = s.NamedTemplate, s.NamedTemplateUnread
			}
		}
		const prefix = "it may come from the template "
		if got, want := idOf(template)+" "+unreadID, tc.byID+" "+prefixed(prefix, tc.wantID); got != want {
			t.Errorf("%s, by ID: got %q, want %q", tc.reason, got, want)
		}
		if got, want := idOf(named)+" "+unreadName, tc.byName+" "+prefixed(prefix, tc.wantName); got != want {
			t.Errorf("%s, by name: got %q, want %q", tc.reason, got, want)
		}
	}
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func idOf(r *model.Resource) string {
	if r == nil {
		return ""
	}
	return r.ID
}
