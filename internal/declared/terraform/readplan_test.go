package terraform_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

func TestReadPlanErrors(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ reason, text, want string }{
		"empty":     {"nothing was written", "", "read plan: it is empty: write it with: terraform show -json tfplan"},
		"plan file": {"the file itself is a zip archive", "PK\x03\x04", "it is a plan file, and not its JSON"},
		"state":     {"a state is shown in the same form", `{"format_version":"1.0","values":{"root_module":{}}}`, "it is the JSON of a state"},
		"tfstate":   {"a state as it is stored", `{"version":4,"serial":1,"lineage":"a"}`, "not the JSON of a plan"},
		"stream":    {"the messages of plan -json", `{"@level":"info","type":"version"}`, "not the JSON of a plan"},
		"cut off":   {"the disk was full", `{"format_version":"1.2","resource_changes":[`, "not the JSON of a plan"},
		"newer":     {"a format of the future", `{"format_version":"9.0","configuration":{}}`, "unsupported"},
	} {
		_, err := terraform.ReadPlan(strings.NewReader(tc.text), "", model.Sealer{})
		if err == nil || !strings.Contains(err.Error(), tc.want) || !strings.Contains(err.Error(), "terraform show -json") {
			t.Errorf("%s: %s: %v, want %q", name, tc.reason, err, tc.want)
		}
	}
	broken := errors.New("broken pipe")
	if _, err := terraform.ReadPlan(iotest.ErrReader(broken), "", model.Sealer{}); !errors.Is(err, broken) {
		t.Errorf("a broken pipe: %v", err)
	}
}

// TestReadPlan reads objects with and without a mapping table, a deposed one, one that a plan
// deferred, and a data source.
func TestReadPlan(t *testing.T) {
	t.Parallel()
	const text = `{"format_version":"1.2","complete":false,"configuration":{"root_module":{}},
"deferred_changes":[{"reason":"provider_config_unknown","resource_change":{"address":"lab_server.late","mode":"managed","type":"lab_server","name":"late","change":{"actions":["create"]}}}],
"resource_changes":[
{"address":"netbox_site.fra","mode":"managed","type":"netbox_site","name":"fra","provider_name":"registry.terraform.io/e-breuninger/netbox",
 "change":{"actions":["no-op"],"before":{"id":"7","slug":"fra"},"after":{"id":"7","slug":"fra"}}},
{"address":"lab_server.web","deposed":"0ff1ce","mode":"managed","type":"lab_server","name":"web","provider_name":"example.org/driftd/lab",
 "change":{"actions":["delete"],"before":{"id":"w"},"after":null}},
{"address":"lab_server.web","mode":"managed","type":"lab_server","name":"web","provider_name":"example.org/driftd/lab",
 "change":{"actions":["update"],"before":{"id":"w"},"after":{"id":"w"}}},
{"address":"data.lab_lookup.a","mode":"data","type":"lab_lookup","name":"a","change":{"actions":["read"]}}]}`
	plan, err := terraform.ReadPlan(strings.NewReader(text), "infra", model.NewSealer([]byte("key")))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]preview.Object{
		"netbox_site.fra":                 {Address: "netbox_site.fra", Type: "netbox_site", Name: "fra", ID: "7", Action: "no-op", Live: model.Ref{Kind: "netbox/dcim.site", ID: "7"}},
		"lab_server.web":                  {Address: "lab_server.web", Type: "lab_server", Name: "web", ID: "w", Action: "update"},
		"lab_server.web (deposed 0ff1ce)": {Address: "lab_server.web", Type: "lab_server", Name: "web", ID: "w", Action: "delete", Reason: "deposed object 0ff1ce, left over from a replacement: the next apply destroys it"},
	}
	if diff := cmp.Diff(want, plan.Objects); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
	gaps := []preview.Gap{{Declaration: "infra", Address: "lab_server.late", Reason: "deferred by the plan (provider config unknown)"},
		{Declaration: "infra", Reason: "the plan is incomplete, because of -target or deferred changes: plan the whole root"}}
	if diff := cmp.Diff(gaps, plan.Gaps); diff != "" {
		t.Errorf("gaps (-want +got):\n%s", diff)
	}
	if n := len(plan.Declaration.Claims); n != 3 || plan.Declaration.Live.Source != "plan:infra" {
		t.Errorf("%d claims of %s, want 3 of plan:infra", n, plan.Declaration.Live.Source)
	}
}

// TestReadCraftedPlan checks that content that Terraform does not print hides no change.
func TestReadCraftedPlan(t *testing.T) {
	t.Parallel()
	change := func(address, mode, actions, before, after string) string {
		return fmt.Sprintf(`{"address":%q,"mode":%q,"type":"lab_server","name":"web","provider_name":"example.org/driftd/lab","change":{"actions":[%s],"before":%s,"after":%s}}`,
			address, mode, actions, before, after)
	}
	const web, managed, update, one, hand = "lab_server.web", "managed", `"update"`, `{"id":"w","size":1}`, `{"id":"w","size":8}`
	deep := func(text string) string {
		return `{"id":"w","size":` + strings.Repeat("[", 201) + text + strings.Repeat("]", 201) + "}"
	}
	drift, planned := change(web, managed, update, one, hand), change(web, managed, update, hand, one)
	for name, tc := range map[string]struct{ reason, drift, changes, err, gap string }{
		"plain":          {"as Terraform prints it", drift, planned, "", ""},
		"two changes":    {"the second one replaces the first one", drift, planned + "," + change(web, managed, `"no-op"`, hand, hand), "it has two changes of lab_server.web", ""},
		"two drifts":     {"the second one replaces the first one", drift + "," + change(web, managed, update, hand, hand), planned, "it has two changes of lab_server.web", ""},
		"data drift":     {"drift of data sources is left out", change(web, "data", update, one, hand), planned, "lab_server.web has the mode data", ""},
		"data change":    {"changes of data sources are left out", drift, change(web, "data", update, hand, one), "lab_server.web has the mode data", ""},
		"managed data":   {"a data source is no object", "", change("module.a[\"x.y\"].data.lab_server.web", managed, `"read"`, "null", one), "has the mode managed", ""},
		"data source":    {"it is left out", "", change("module.a[\"x.y\"].data.lab_server.web", "data", `"read"`, "null", one), "", ""},
		"only drift":     {"the plan has no action, and does not say why", drift, "", "", "the plan has no action for it"},
		"another change": {"the drift is that of the previous address", change("lab_server.old", managed, update, one, hand), planned, "", "the plan has no action for it"},
		"gone":           {"nothing is left that an apply could erase", change(web, managed, `"delete"`, one, "null"), "", "", ""},
		"deep":           {"a value that is cut", change(web, managed, update, deep("1"), deep("8")), change(web, managed, update, deep("8"), deep("1")), "", "a value is nested more than 200 levels deep"},
		"deep, planned":  {"a planned value that is cut", drift, change(web, managed, update, hand, deep("1")), "", "a value is nested more than 200 levels deep"},
	} {
		text := `{"format_version":"1.2","configuration":{"root_module":{}},"resource_drift":[` + tc.drift + `],"resource_changes":[` + tc.changes + `]}`
		plan, err := terraform.ReadPlan(strings.NewReader(text), "", model.NewSealer([]byte("key")))
		if (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %s: got error %v, want %q", name, tc.reason, err, tc.err)
		}
		if len(plan.Gaps) > 0 != (tc.gap != "") || len(plan.Gaps) > 0 && !strings.Contains(plan.Gaps[0].Reason, tc.gap) {
			t.Errorf("%s: %s: got gaps %v, want %q", name, tc.reason, plan.Gaps, tc.gap)
		}
	}
}

// TestReadPlanIsExact checks that an apply that sets an empty value to null changes it: a plan shows what it does, and
// no schema is needed to distinguish an empty value from an absent one.
func TestReadPlanIsExact(t *testing.T) {
	t.Parallel()
	const change = `{"address":"lab_server.web","mode":"managed","type":"lab_server","name":"web","provider_name":"example.org/driftd/lab","change":{"actions":["update"],"before":%s,"after":%s}}`
	one, hand := `{"id":"w","labels":{"a":"1"}}`, `{"id":"w","labels":{"a":"1","keep":""},"public":false,"size":0,"tags":[]}`
	text := `{"format_version":"1.2","configuration":{"root_module":{}},"resource_drift":[` + fmt.Sprintf(change, one, hand) + `],"resource_changes":[` + fmt.Sprintf(change, hand, one) + `]}`
	plan, err := terraform.ReadPlan(strings.NewReader(text), "", model.NewSealer([]byte("key")))
	if err != nil {
		t.Fatal(err)
	}
	p, err := preview.FromPlan(plan, preview.Known{Missing: "no scan"}, preview.Options{PlanOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, it := range p.Items {
		for _, c := range it.Changes {
			paths = append(paths, c.Path)
		}
	}
	if d := cmp.Diff([]string{"labels.keep", "public", "size", "tags"}, paths); d != "" {
		t.Error(d)
	}
}
