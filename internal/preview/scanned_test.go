package preview_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

// servers returns the sample of servers with names and IDs.
func servers(ids ...string) model.ObjectSample {
	var claims []model.Claim
	for _, id := range ids {
		name, _, _ := strings.Cut(id, "-")
		claims = append(claims, model.Claim{Address: "lab_server." + name, Kind: "terraform/lab_server", Name: id})
	}
	return model.SampleObjects(claims)
}

// TestFromPlanUnscanned checks that a preview of a plan is complete only if a scan of the same root
// can have shown what was applied from elsewhere.
func TestFromPlanUnscanned(t *testing.T) {
	t.Parallel()
	const unknown = "bypassed changes (applied from elsewhere) are not known: "
	server := func(size int) object { return object{"id": "web-1", "name": "web", "size": size} }
	scan := func(change func(*preview.Known)) preview.Known {
		k := known()
		k.Objects = map[string]model.ObjectSample{"infra": servers("web-1", "db-1"), "other": servers("mail-1")}
		change(&k)
		return k
	}
	same := func(*preview.Known) {}
	for name, tc := range map[string]struct {
		reason      string
		actions     string
		live, after object
		declaration string
		known       preview.Known
		planOnly    bool
		want        []string
	}{
		"scanned":          {"the scan would have shown it", "update", server(2), server(4), "infra", scan(same), false, nil},
		"scanned, unnamed": {"the objects show which root it is", "update", server(2), server(4), "", scan(same), false, nil},
		"no scan": {"nothing shows it", "update", server(2), server(4), "", preview.Known{Missing: "no scan is stored"}, false,
			[]string{unknown + "no scan of this root is stored; run driftd scan, or accept it with --plan-only"}},
		"no scan, named": {"nothing shows it", "update", server(2), server(4), "infra", preview.Known{Missing: "no scan is stored"}, false,
			[]string{"infra " + unknown + "no scan of this root is stored; run driftd scan, or accept it with --plan-only"}},
		"accepted":      {"--plan-only says so", "update", server(2), server(4), "", preview.Known{Missing: "only the plan was read"}, true, nil},
		"nothing to do": {"the plan changes nothing, so it undoes nothing", "no-op", server(2), server(2), "", preview.Known{Missing: "no scan is stored"}, false, nil},
		"a new object":  {"there is nothing to undo", "create", nil, server(2), "", preview.Known{Missing: "no scan is stored"}, false, nil},
		"of another root": {"the scanned roots have other objects", "update", server(2), server(4), "",
			scan(func(k *preview.Known) { delete(k.Objects, "infra") }), false,
			[]string{unknown + "no scan of a root with its resources is stored; run driftd scan, or accept it with --plan-only"}},
		"same addresses, other objects": {"a root for another place has the same addresses", "update", server(2), server(4), "",
			scan(func(k *preview.Known) { k.Objects = map[string]model.ObjectSample{"infra": servers("web-7")} }), false,
			[]string{unknown + "no scan of a root with its resources is stored; run driftd scan, or accept it with --plan-only"}},
		"earlier version": {"it recorded no objects", "update", server(2), server(4), "infra",
			scan(func(k *preview.Known) { k.Objects, k.Run.Declaration("infra").Claims = nil, 2 }), false,
			[]string{"infra " + unknown + "the last scan did not record the objects of declaration infra; run driftd scan"}},
		"failed": {"the last scan read nothing", "update", server(2), server(4), "infra",
			scan(func(k *preview.Known) { delete(k.Objects, "infra"); k.Run.Declaration("infra").Err = "init: exit 1" }), false,
			[]string{"infra " + unknown + "the last scan could not read declaration infra: init: exit 1"}},
		"stale": {"the source of the plan was not read", "update", server(2), server(4), "infra",
			scan(func(k *preview.Known) {
				k.Run.Coverage = []model.Coverage{{Source: "plan:infra", Reason: "last read 3 days ago"}}
			}), false, []string{"infra lab_server.web " + unknown + "last read 3 days ago"}},
		"states": {"states show only what was applied", "update", server(2), server(4), "infra",
			scan(func(k *preview.Known) { k.Run.Declaration("infra").States = []model.StateRead{{Address: "a"}} }), false,
			[]string{"infra lab_server.web " + unknown + "it has engine: state, which does not read the configuration; set engine: plan"}},
		"planned from a state": {"the plan read both", "update", server(2), server(4), "infra",
			scan(func(k *preview.Known) {
				d := k.Run.Declaration("infra")
				d.States, d.Governs = []model.StateRead{{Address: "a"}}, []string{"plan:infra"}
			}), false, nil},
		"unchecked": {"the scan could not compare the object", "update", server(2), server(4), "infra",
			scan(func(k *preview.Known) {
				f := found(model.Unchecked, model.UnknownActor(""))
				f.Reason = "deferred"
				k.Findings = append(k.Findings, f)
			}), false, []string{"infra lab_server.web " + unknown + "its last scan could not check this resource: deferred"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var p planned
			p.resource("lab_server.web", tc.actions, tc.live, tc.live, tc.after, nil)
			o := options()
			o.Declaration, o.PlanOnly = tc.declaration, tc.planOnly
			got, err := preview.FromPlan(p.read(t, ""), tc.known, o)
			if err != nil {
				t.Fatal(err)
			}
			var gaps []string
			for _, g := range got.Gaps {
				gaps = append(gaps, strings.Join(strings.Fields(g.Declaration+" "+g.Address+" "+g.Reason), " "))
			}
			if diff := cmp.Diff(tc.want, gaps); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// TestFromPlanUnseenObject checks that an object that was created since the last scan is a gap.
func TestFromPlanUnseenObject(t *testing.T) {
	t.Parallel()
	var p planned
	p.resource("lab_server.web", "no-op", object{"id": "web-1"}, object{"id": "web-1"}, object{"id": "web-1"}, nil)
	p.resource("lab_server.new", "update", object{"id": "new-1", "size": 2}, object{"id": "new-1", "size": 2}, object{"id": "new-1", "size": 4}, nil)
	k := known()
	k.Objects = map[string]model.ObjectSample{"infra": servers("web-1")}
	got, err := preview.FromPlan(p.read(t, ""), k, options())
	if err != nil || len(got.Gaps) != 1 || got.Gaps[0].Address != "lab_server.new" || !strings.Contains(got.Gaps[0].Reason, "did not see this resource") {
		t.Errorf("%+v, %v", got.Gaps, err)
	}
}

// TestFromPlanOfAnotherRoot checks that a plan is compared with all objects of a declaration, also of
// one that is in sync, and that only Terraform roots have plans.
func TestFromPlanOfAnotherRoot(t *testing.T) {
	t.Parallel()
	var p planned
	p.resource("lab_server.web", "update", object{"id": "web-1", "size": 2}, object{"id": "web-1", "size": 2}, object{"id": "web-1", "size": 4}, nil)
	removed := planned{}
	removed.resource("lab_server.web", "create", object{"id": "web-1", "size": 2}, nil, object{"size": 2}, nil)
	partial := planned{more: object{"complete": false}}
	partial.resource("lab_server.api", "no-op", object{"id": "api-1"}, object{"id": "api-1"}, object{"id": "api-1"}, nil)
	for name, tc := range map[string]struct {
		plan    planned
		name    string
		objects model.ObjectSample
		want    string
	}{
		"in sync":         {p, "infra", servers("web-1", "db-1"), ""},
		"other resources": {p, "infra", servers("mail-1", "db-1"), "of another state than declaration infra: it has none of its resources; make the plan in the root of infra"},
		"other objects":   {p, "infra", servers("web-7", "db-1"), "of another state than declaration infra: its lab_server.web is another object than that of the last scan"},
		"removed by hand": {removed, "infra", servers("web-1"), ""},
		"part of a state": {partial, "infra", servers("web-1"), ""},
		"an empty plan":   {planned{}, "infra", servers("web-1"), "it has none of its resources"},
		"manifests":       {p, "shop", nil, "declaration shop is of type manifests, and a plan is of a Terraform root"},
		"an inventory":    {p, "intent", nil, "declaration intent is of type netbox, and a plan is of a Terraform root"},
	} {
		k := known()
		k.Objects = map[string]model.ObjectSample{tc.name: tc.objects}
		o := options()
		o.Declaration = tc.name
		_, err := preview.FromPlan(tc.plan.read(t, tc.name), k, o)
		if got := fmt.Sprint(err); (err == nil) != (tc.want == "") || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}
