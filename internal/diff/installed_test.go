package diff

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestInstalled compares an unmanaged resource with the records that list it.
func TestInstalled(t *testing.T) {
	t.Parallel()
	one, two := model.Ref{Kind: "tool", ID: "p/one"}, model.Ref{Kind: "tool", ID: "p/two"}
	by := func(ref model.Ref, applied string) model.Installer {
		i := model.Installer{Ref: ref, Tool: "Helm release", Place: "p", Name: ref.ID[2:]}
		if applied != "" {
			i.Applied = value(t, applied)
		}
		return i
	}
	failed := func(ref model.Ref, applied, attempted string) model.Installer {
		i := by(ref, applied)
		i.Attempted = value(t, attempted)
		return i
	}
	var owned model.FieldSet
	owned.Put(model.Step{Text: "b"}, model.FieldSet{Self: true})
	for reason, tc := range map[string]struct {
		live       string
		installers []model.Installer
		want       model.Ref
		why        string
	}{
		"no record":               {live: `{"a":1}`},
		"as applied":              {`{"a":1}`, []model.Installer{by(one, `{"a":1}`)}, one, ""},
		"a record without values": {`{"a":1}`, []model.Installer{by(one, "")}, one, ""},
		"changed":                 {`{"a":2}`, []model.Installer{by(one, `{"a":1}`)}, model.Ref{}, "in the record of Helm release one in namespace p, and differs from it: a"},
		"a long name": {`{"b":1}`, []model.Installer{by(one, `{"`+strings.Repeat("a", 1<<20)+`":1}`)}, model.Ref{},
			"in the record of Helm release one in namespace p, and differs from it: " + strings.Repeat("a", 200) + "…"},
		"extended":                             {`{"a":1,"b":2}`, []model.Installer{by(one, `{"a":1}`)}, model.Ref{}, "in the record of Helm release one in namespace p, and differs from it: b"},
		"a second record that is forged":       {`{"a":2}`, []model.Installer{by(one, `{"a":2}`), by(two, `{"a":1}`)}, model.Ref{}, "in the record of Helm release two in namespace p, and differs from it: a"},
		"as applied before one that failed":    {`{"a":1}`, []model.Installer{failed(one, `{"a":1}`, `{"a":2}`)}, one, ""},
		"as the one that failed has it":        {`{"a":2}`, []model.Installer{failed(one, `{"a":1}`, `{"a":2}`)}, one, ""},
		"as neither has it":                    {`{"a":3}`, []model.Installer{failed(one, `{"a":1}`, `{"a":2}`)}, model.Ref{}, "in the record of Helm release one in namespace p, and differs from it: a"},
		"only in one that failed, and changed": {`{"a":3}`, []model.Installer{failed(one, "", `{"a":2}`)}, model.Ref{}, "in the record of Helm release one in namespace p, and differs from it: a"},
		"many fields": {`{"a":2,"b":2,"c":2,"d":2,"e":2,"f":2,"g":2}`, []model.Installer{by(one, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1}`)}, model.Ref{},
			"in the record of Helm release one in namespace p, and differs from it: a, b, c, d, e, 2 more fields"},
	} {
		live := &model.Resource{Value: value(t, tc.live)}
		if reason == "extended" {
			live.Owners = []model.Owner{{Name: "kubectl-edit", Edits: true, Fields: owned}}
		}
		s := &model.Subject{Key: model.Key{Kind: "k", ID: "p/a"}, Live: live, UndeclaredBy: [][]string{{"git"}}, InstalledBy: tc.installers}
		out := Compare(s, Options{})
		if len(out) != 1 || out[0].Verdict != model.Unmanaged || out[0].InstalledBy != tc.want || out[0].Reason != tc.why {
			t.Errorf("%s: got %+v", reason, out)
		}
	}
}

// TestLeftBehind checks that the reason names the tool that does not remove a resource.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	s := &model.Subject{Key: model.Key{Kind: "k", ID: "p/a"}, Live: &model.Resource{}, UndeclaredBy: [][]string{{"git"}}, LeftBy: "Kustomization flux-system/apps"}
	out := Compare(s, Options{})
	if want := "its labels name Kustomization flux-system/apps, whose inventory lacks it: it is not removed with the declaration"; len(out) != 1 || out[0].Reason != want {
		t.Errorf("got %+v", out)
	}
}

// TestForgedInstallation proves that no record makes a difference between the live and the declared
// value silent.
func TestForgedInstallation(t *testing.T) {
	t.Parallel()
	for _, recorded := range []string{`{"a":1}`, `{"a":2}`, `{"a":3}`, `{}`, `{"a":null}`, `[]`, `"x"`} {
		s := subject(value(t, `{"a":1}`), &model.Resource{Value: value(t, `{"a":2}`)})
		s.Claims[0].Recorded = pointer(value(t, recorded))
		out := Compare(s, Options{})
		if len(out) != 1 || len(out[0].Changes) != 1 || out[0].Changes[0].Path != "a" || out[0].Verdict == model.Codified {
			t.Errorf("%s: got %+v", recorded, out)
		}
	}
}
