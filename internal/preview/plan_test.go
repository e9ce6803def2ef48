package preview_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
	"github.com/driftd/driftd/internal/secret"
)

// object is the JSON of an object, by field.
type object map[string]any

// A planned is the content of a plan: the state before the refresh, the live attributes and the
// planned ones of each object.
type planned struct {
	drift, changes []any
	more           object
}

// resource adds an object. Before is nil if it was never applied, live if it is gone, and after if
// it is destroyed.
func (p *planned) resource(address, actions string, before, live, after object, more object) {
	typ, name, _ := strings.Cut(address, ".")
	entry := func(actions string, from, to object) object {
		change := object{"actions": strings.Fields(actions), "before": from, "after": to, "after_unknown": object{}, "before_sensitive": object{}, "after_sensitive": object{}}
		for key, v := range more {
			if key == "importing" || strings.HasPrefix(key, "after_") || strings.HasPrefix(key, "before_") {
				change[key] = v
			}
		}
		if from == nil {
			change["before"] = nil
		}
		if to == nil {
			change["after"] = nil
		}
		outer := object{"address": address, "mode": "managed", "type": typ, "name": name, "provider_name": "example.org/driftd/lab", "change": change}
		for _, key := range []string{"action_reason", "provider_name"} {
			if v, ok := more[key]; ok {
				outer[key] = v
			}
		}
		return outer
	}
	if before != nil && !cmp.Equal(before, live) {
		drifted := "update"
		if live == nil {
			drifted = "delete"
		}
		p.drift = append(p.drift, entry(drifted, before, live))
	}
	p.changes = append(p.changes, entry(actions, live, after))
}

// read reads the plan as the command does.
func (p *planned) read(t testing.TB, declaration string) preview.Plan {
	t.Helper()
	all := object{"format_version": "1.2", "terraform_version": "1.11.4", "resource_drift": p.drift, "resource_changes": p.changes,
		"configuration": object{"root_module": object{"resources": []any{object{"address": "lab_server.web", "mode": "managed", "type": "lab_server", "name": "web",
			"expressions": object{"name": object{}, "size": object{}}}}}}}
	for name, v := range p.more {
		all[name] = v
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	room := secret.New(model.NewSealer([]byte("a key for tests")), secret.Options{})
	plan, err := terraform.ReadPlan(bytes.NewReader(text), declaration, room.Sealer())
	if err != nil {
		t.Fatal(err)
	}
	plan.Declaration = room.Declaration(plan.Declaration)
	return plan
}

var now = time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC)

func options() preview.Options { return preview.Options{Now: now, Old: preview.DefaultOld} }

func by(name string, ago time.Duration) model.Actor {
	return model.Actor{Name: name, At: now.Add(-ago), Via: "audit log", Confidence: model.Exact}
}

func text(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

// found returns a finding of declaration infra on the web server.
func found(verdict model.Verdict, actor model.Actor, changes ...model.Change) model.Finding {
	return model.Finding{ID: string(verdict) + "-1", Verdict: verdict, Severity: verdict.UsualSeverity(),
		Key:  model.Key{Source: "plan:infra", Kind: "terraform/lab_server", ID: "lab_server.web"},
		Name: "web-1", Declaration: "infra", Address: "lab_server.web", Actor: actor, Changes: changes,
		FirstSeen: now.Add(-time.Hour), LastSeen: now.Add(-time.Minute)}
}

// known returns findings of a run with two declarations of Terraform, one of manifests and one
// inventory.
func known(findings ...model.Finding) preview.Known {
	run := &model.Run{ID: "1", Finished: now.Add(-time.Minute), Complete: true,
		Sources: []model.SourceRun{{Name: "plan:infra"}, {Name: "plan:other"}, {Name: "prod"}},
		Declarations: []model.DeclarationRun{{Name: "infra", Type: "terraform"}, {Name: "intent", Type: "netbox"},
			{Name: "other", Type: "terraform"}, {Name: "shop", Type: "manifests"}}}
	return preview.Known{Findings: findings, Run: run}
}

// lines returns the items, one line each, with the fields and their authors.
func lines(p *preview.Preview) []string {
	var all []string
	for i := range p.Items {
		it := &p.Items[i]
		line := fmt.Sprintf("%s %s %s", it.Effect, it.VerdictText(), it.Address)
		if len(it.Changes) == 0 {
			line += " by " + it.Actor.Name
		}
		for _, c := range it.Changes {
			actor := it.Actor
			if c.Actor != nil {
				actor = *c.Actor
			}
			line += " " + c.Path + " by " + actor.Name
		}
		if it.Old {
			line += " old"
		}
		all = append(all, line)
	}
	return all
}

func TestFromPlan(t *testing.T) {
	t.Parallel()
	server := func(size int, more ...any) object {
		o := object{"id": "web-1", "name": "web", "size": size}
		for i := 0; i+1 < len(more); i += 2 {
			o[more[i].(string)] = more[i+1]
		}
		return o
	}
	size := func(v string) model.Change {
		return model.Change{Path: "size", Declared: text("2"), Recorded: text("2"), Live: text(v)}
	}
	unproven := size("2")
	unproven.Unproven = true
	importing := object{"importing": object{"id": "web-1"}}
	for name, tc := range map[string]struct {
		reason              string
		actions             string
		before, live, after object
		more                object
		known               preview.Known
		want                []string
	}{
		"hand edit": {"the author of the same value is named", "update", server(2), server(8), server(2), nil,
			known(found(model.Changed, by("mara", time.Hour), size("8"))), []string{"overwrite changed lab_server.web size by mara"}},
		"another value": {"an author of another value is not named", "update", server(2), server(9), server(2), nil,
			known(found(model.Changed, by("mara", time.Hour), size("8"))), []string{"overwrite changed lab_server.web size by unknown"}},
		"old": {"a change of last month may be load-bearing", "update", server(2), server(8), server(2), nil,
			known(found(model.Changed, by("mara", 30*24*time.Hour), size("8"))), []string{"overwrite changed lab_server.web size by mara old"}},
		"no database": {"the plan itself shows the change", "update", server(2), server(8), server(2), nil,
			preview.Known{Missing: "no scan is stored"}, []string{"overwrite changed lab_server.web size by unknown"}},
		"all three differ": {"the configuration changed, too", "update", server(2), server(8), server(4), nil,
			known(), []string{"overwrite conflict lab_server.web size by unknown"}},
		"left alone": {"ignore_changes, or the configuration adopted the value", "no-op", server(2), server(8), server(8), nil,
			known(found(model.Changed, by("mara", time.Hour), size("8"))), nil},
		"one of two": {"the plan changes the name, and leaves the size alone", "update", server(2), server(8), server(8, "name", "www"), nil,
			known(found(model.Changed, by("mara", time.Hour), size("8"))), nil},
		"configuration": {"only the configuration changed", "update", server(2), server(2), server(4), nil, known(), nil},
		"bypassed": {"it was applied, and is in no commit: only driftd knows", "update", server(8), server(8), server(2), nil,
			known(found(model.Bypassed, by("ben", time.Hour), model.Change{Path: "size", Declared: text("2"), Recorded: text("8"), Live: text("8")})),
			[]string{"overwrite bypassed lab_server.web size by ben"}},
		"pending or bypassed": {"the doubt stays", "update", server(2), server(2), server(4), nil,
			known(found(model.Pending, by("ben", time.Hour), unproven)), []string{"overwrite pending or bypassed lab_server.web size by ben"}},
		"pending": {"a change of a commit is none by hand", "update", server(2), server(2), server(4), nil,
			known(found(model.Pending, by("lena", time.Hour), size("2"))), nil},
		"recorded since": {"a refresh wrote the hand edit into the state", "update", server(8), server(8), server(2), nil,
			known(found(model.Changed, by("mara", time.Hour), size("8"))), []string{"overwrite changed lab_server.web size by mara"}},
		"deleted": {"it is created again", "create", server(2), nil, server(2), nil,
			known(found(model.Missing, by("jonas", time.Hour))), []string{"create missing lab_server.web by jonas"}},
		"new": {"it never was", "create", nil, nil, server(2), nil, known(), nil},
		"replaced": {"everything that was changed by hand goes with it", "delete create", server(2), server(8), server(8, "name", "www"), nil,
			known(found(model.Changed, by("mara", time.Hour), size("8"))), []string{"replace changed lab_server.web size by mara"}},
		"tainted": {"nothing was changed by hand, and it goes all the same", "delete create", server(2), server(2), server(2),
			object{"action_reason": "replace_because_tainted"}, known(), []string{"replace pending lab_server.web by unknown"}},
		"destroyed": {"what an uncommitted apply changed goes with it", "delete", server(8), server(8), nil, nil,
			known(found(model.Bypassed, by("ben", time.Hour), model.Change{Path: "size", Recorded: text("8"), Live: text("8")})),
			[]string{"destroy bypassed lab_server.web size by ben"}},
		"destroyed, bypassed": {"an uncommitted apply created it", "delete", server(8), server(8), nil, nil,
			known(found(model.Bypassed, by("ben", time.Hour))), []string{"destroy bypassed lab_server.web by ben"}},
		"destroyed, gone": {"it was removed by hand before", "delete", server(8), server(8), nil, nil,
			known(found(model.Missing, by("ben", time.Hour))), []string{"destroy pending lab_server.web by unknown"}},
		"forgotten": {"a removed block destroys nothing", "forget", server(2), server(8), nil, nil, known(), nil},
		"unknown": {"a provider's own attribute is not erased", "update", server(2, "etag", "a"), server(2, "etag", "b"), server(4),
			object{"after_unknown": object{"etag": true}}, known(), nil},
		"another object": {"the finding at this address is about another server", "update", server(2), server(8), server(2), nil,
			known(func() model.Finding {
				f := found(model.Changed, by("mara", time.Hour), size("8"))
				f.Name = "web-7"
				return f
			}()), []string{"overwrite changed lab_server.web size by unknown"}},
		"two declarations": {"two roots have the same address", "update", server(2), server(8), server(2), nil,
			known(found(model.Changed, by("mara", time.Hour), size("8")), func() model.Finding {
				f := found(model.Changed, by("ben", time.Hour), size("8"))
				f.ID, f.Declaration, f.Source = "2", "other", "plan:other"
				return f
			}()), []string{"overwrite changed lab_server.web size by unknown"}},
		"imported": {"no configuration set the values that the import overwrites", "update", nil, server(8, "note", "by hand"), server(2), importing,
			known(), []string{"overwrite changed lab_server.web note by unknown size by unknown"}},
		"imported as it is": {"nothing is overwritten", "no-op", nil, server(8), server(8), importing, known(), nil},
		"imported, unknown": {"the value that replaces it is not known before the apply", "update", nil, server(8), object{"id": "web-1", "name": "web"},
			object{"importing": object{"id": "web-1"}, "after_unknown": object{"size": true, "etag": true}}, known(), []string{"overwrite changed lab_server.web size by unknown"}},
		"imported and replaced": {"the object goes", "delete create", nil, server(8), server(2), importing, known(), []string{"replace pending lab_server.web by unknown"}},
		"hidden": {"an ignore rule hides it", "update", server(2), server(8), server(2), nil,
			known(func() model.Finding {
				f := found(model.Changed, by("mara", time.Hour), size("8"))
				f.Hidden = "noise"
				return f
			}()), nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p planned
			p.resource("lab_server.web", tc.actions, tc.before, tc.live, tc.after, tc.more)
			got, err := preview.FromPlan(p.read(t, ""), tc.known, options())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, lines(&got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFromPlanKeepsStanding checks what an item takes from the stored finding.
func TestFromPlanKeepsStanding(t *testing.T) {
	t.Parallel()
	var p planned
	p.resource("lab_server.web", "update", object{"id": "web-1", "size": 2}, object{"id": "web-1", "size": 8}, object{"id": "web-1", "size": 2}, nil)
	f := found(model.Changed, by("mara", time.Hour), model.Change{Path: "size", Live: text("8")})
	f.Severity, f.Owner = model.Critical, "team-shop"
	f.Decision = &model.Decision{ID: "d1", Kind: model.Accept}
	got, err := preview.FromPlan(p.read(t, ""), known(f), options())
	if err != nil || len(got.Items) != 1 {
		t.Fatalf("%v, %v", got.Items, err)
	}
	it := got.Items[0]
	if it.ID != f.ID || it.Declaration != "infra" || it.Severity != model.Critical || it.Owner != "team-shop" || !it.Accepted() || it.AgeSeconds != 3600 {
		t.Errorf("the item lacks what the finding has: %+v", it)
	}
	low := f
	low.Severity, low.Rated = model.Low, &model.Rating{Reason: "a sandbox"}
	if got, err = preview.FromPlan(p.read(t, ""), known(low), options()); err != nil || got.Items[0].Severity != model.Low {
		t.Errorf("a rule of the configuration sets the severity: %v, %v", got.Items, err)
	}
}

// TestFromPlanImports checks that the author of an imported object is that of the finding on its
// live resource, and that rules on unmanaged resources do not hide what an import overwrites.
func TestFromPlanImports(t *testing.T) {
	t.Parallel()
	unmanaged := func(source, name string) model.Finding {
		return model.Finding{ID: source, Verdict: model.Unmanaged, Severity: model.Low, Key: model.Key{Source: source, Kind: "netbox/dcim.site", ID: "7"},
			Actor: by(name, 48*time.Hour), Hidden: "noise", Rated: &model.Rating{Reason: "a sandbox"}}
	}
	for name, tc := range map[string]struct {
		reason, actions string
		findings        []model.Finding
		want            []string
	}{
		"one":      {"the resource has the ID of the import", "update", []model.Finding{unmanaged("nb", "mara")}, []string{"overwrite changed netbox_site.fra description by mara old"}},
		"replaced": {"all of it was made by hand", "delete create", []model.Finding{unmanaged("nb", "mara")}, []string{"replace unmanaged netbox_site.fra by mara old"}},
		"two": {"either source may be the one", "update", []model.Finding{unmanaged("lab", "ben"), unmanaged("nb", "mara")},
			[]string{"overwrite changed netbox_site.fra description by unknown"}},
	} {
		var p planned
		p.resource("netbox_site.fra", tc.actions, nil, object{"id": "7", "slug": "fra", "description": "by hand"}, object{"id": "7", "slug": "fra", "description": "declared"},
			object{"importing": object{"id": "7"}, "provider_name": "registry.terraform.io/e-breuninger/netbox"})
		k := known(tc.findings...)
		k.Run.Sources = append(k.Run.Sources, model.SourceRun{Name: "nb"}, model.SourceRun{Name: "lab"})
		o := options()
		o.Declaration = "infra"
		got, err := preview.FromPlan(p.read(t, "infra"), k, o)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tc.want, lines(&got)); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, tc.reason, diff)
		}
		if got.Items[0].Declaration != "infra" || got.Items[0].Severity.Rank() > model.Medium.Rank() {
			t.Errorf("%s: declaration %q, severity %s", name, got.Items[0].Declaration, got.Items[0].Severity)
		}
	}
}

// TestFromPlanHidesNothingElse checks that an ignore rule, or an acceptance, for one field does not
// count for another one, nor for the whole object.
func TestFromPlanHidesNothingElse(t *testing.T) {
	t.Parallel()
	f := found(model.Changed, by("mara", time.Hour), model.Change{Path: "size", Live: text("8")})
	f.Hidden, f.Decision = "noise", &model.Decision{ID: "d1", Kind: model.Accept}
	state, live := object{"id": "web-1", "size": 2, "name": "web"}, object{"id": "web-1", "size": 8, "name": "byhand"}
	for actions, after := range map[string]object{"update": state, "delete": nil} {
		var p planned
		p.resource("lab_server.web", actions, state, live, after, nil)
		got, err := preview.FromPlan(p.read(t, ""), known(f), options())
		if err != nil || len(got.Items) != 1 || got.Items[0].Hidden != "" || got.Items[0].Accepted() || len(got.Items[0].Changes) != 2 {
			t.Errorf("%s: %+v, %v", actions, got.Items, err)
		}
	}
	var p planned
	p.resource("lab_server.web", "delete", object{"id": "web-1", "size": 2}, object{"id": "web-1", "size": 8}, nil, nil)
	if got, err := preview.FromPlan(p.read(t, ""), known(f), options()); err != nil || len(got.Items) != 1 || got.Hidden != 0 {
		t.Errorf("a rule hides that an object is destroyed: %+v, %v", got, err)
	}
}

func TestFromPlanOfAnotherState(t *testing.T) {
	t.Parallel()
	var p planned
	p.resource("lab_server.web", "update", object{"id": "web-1", "size": 2}, object{"id": "web-1", "size": 8}, object{"id": "web-1", "size": 2}, nil)
	stale, elsewhere := found(model.Changed, by("mara", time.Hour)), found(model.Changed, by("mara", time.Hour))
	stale.Name = "web-7"
	elsewhere.Address, elsewhere.Key.ID = "lab_server.db", "lab_server.db"
	o := options()
	o.Declaration = "infra"
	for name, tc := range map[string]struct {
		findings []model.Finding
		want     string
	}{
		"another object":    {[]model.Finding{stale}, "of another state than declaration infra: its lab_server.web is another object (web-1) than driftd knows (web-7)"},
		"no resource":       {[]model.Finding{elsewhere}, "has none of the resources with findings there, such as lab_server.db"},
		"one of them is it": {[]model.Finding{stale, elsewhere, found(model.Changed, by("mara", time.Hour))}, ""},
		"nothing is known":  {nil, ""},
	} {
		_, err := preview.FromPlan(p.read(t, "infra"), known(tc.findings...), o)
		if got := fmt.Sprint(err); (err == nil) != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
	o.Declaration = "infar"
	if _, err := preview.FromPlan(p.read(t, "infar"), known(), o); err == nil || !strings.Contains(err.Error(), `did you mean "infra"?`) {
		t.Errorf("an unknown declaration: %v", err)
	}
}

func TestFromPlanIncomplete(t *testing.T) {
	t.Parallel()
	p := planned{more: object{"errored": true}}
	got, err := preview.FromPlan(p.read(t, ""), known(), options())
	if err != nil || len(got.Items) != 0 || len(got.Gaps) == 0 {
		t.Errorf("a partial plan shows not everything: %+v, %v", got, err)
	}
}

// TestFromPlanSecrets checks that no secret is in the result, for each way to mark one.
func TestFromPlanSecrets(t *testing.T) {
	t.Parallel()
	const marked, named = "correct-horse-1", "battery-staple-2"
	with := func(a, b string) object { return object{"id": "web-1", "motto": a, "password": b} }
	var p planned
	p.resource("lab_server.web", "update", with(marked, named), with(marked+"x", named+"x"), with(marked, named),
		object{"before_sensitive": object{"motto": true}, "after_sensitive": object{"motto": true}})
	p.resource("lab_server.old", "delete", with(marked, named), with(marked+"x", named+"x"), nil,
		object{"before_sensitive": object{"motto": true}, "after_sensitive": object{"motto": true}})
	got, err := preview.FromPlan(p.read(t, ""), known(), options())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Items) != 2 {
		t.Errorf("%d items, want 2: %v", len(got.Items), lines(&got))
	}
	for _, it := range got.Items {
		if len(it.Changes) != 2 {
			t.Errorf("%d changes, want 2: %v", len(it.Changes), it.Changes)
		}
		shown, err := json.Marshal(it)
		if err != nil || bytes.Contains(shown, []byte(marked)) || bytes.Contains(shown, []byte(named)) {
			t.Errorf("a secret is in the item: %s, %v", shown, err)
		}
	}
}

// large returns a plan of n resources, every tenth of them edited by hand.
func large(n int) (planned, preview.Known) {
	var p planned
	var findings []model.Finding
	for i := range n {
		address := fmt.Sprintf("lab_server.s%04d", i)
		state := object{"id": fmt.Sprint(i), "name": address, "size": 2, "tags": object{"a": "b"}, "rules": []any{object{"port": 80}, object{"port": 443}}}
		if i%10 > 0 {
			p.resource(address, "no-op", state, state, state, nil)
			continue
		}
		edited := object{"id": fmt.Sprint(i), "name": address, "size": 8, "tags": object{"a": "b"}, "rules": []any{object{"port": 80}, object{"port": 443}}}
		p.resource(address, "update", state, edited, state, nil)
		f := found(model.Changed, by("mara", time.Hour), model.Change{Path: "size", Live: text("8")})
		f.ID, f.Address, f.Key.ID, f.Name = fmt.Sprint("f", i), address, address, fmt.Sprint(i)
		findings = append(findings, f)
	}
	return p, known(findings...)
}

// TestOrder checks that the order of the plan and of the findings does not matter.
func TestOrder(t *testing.T) {
	t.Parallel()
	p, k := large(60)
	want, err := preview.FromPlan(p.read(t, ""), k, options())
	if err != nil || len(want.Items) != 6 {
		t.Fatalf("%d items, %v", len(want.Items), err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		random.Shuffle(len(p.changes), func(i, j int) { p.changes[i], p.changes[j] = p.changes[j], p.changes[i] })
		random.Shuffle(len(p.drift), func(i, j int) { p.drift[i], p.drift[j] = p.drift[j], p.drift[i] })
		random.Shuffle(len(k.Findings), func(i, j int) { k.Findings[i], k.Findings[j] = k.Findings[j], k.Findings[i] })
		got, err := preview.FromPlan(p.read(t, ""), k, options())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(lines(&want), lines(&got)); diff != "" {
			t.Fatalf("in another order (-want +got):\n%s", diff)
		}
	}
	if !slices.IsSorted(lines(&want)) {
		t.Errorf("items of one severity are not sorted by address: %v", lines(&want))
	}
}

// BenchmarkFromPlan previews a plan of 1,000 resources, from its JSON on.
func BenchmarkFromPlan(b *testing.B) {
	p, k := large(1000)
	for b.Loop() {
		if got, err := preview.FromPlan(p.read(b, ""), k, options()); err != nil || len(got.Items) != 100 {
			b.Fatalf("%d items, %v", len(got.Items), err)
		}
	}
}
