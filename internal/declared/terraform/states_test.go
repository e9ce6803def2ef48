package terraform_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
)

// aState has a guest, a pool whose cluster is ambiguous, a resource without a live side, and a
// resource whose type no mapping table has.
const aState = `{"version": 4, "terraform_version": "1.11.4", "serial": 7, "lineage": "6d3a", "outputs": {}, "resources": [
 {"mode": "managed", "type": "proxmox_virtual_environment_vm", "name": "web", "provider": "provider[\"registry.terraform.io/bpg/proxmox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "401", "vm_id": 401, "name": "web-1", "node_name": "alpha", "pool_id": "blue"}}]},
 {"mode": "managed", "type": "proxmox_virtual_environment_pool", "name": "blue", "provider": "provider[\"registry.terraform.io/bpg/proxmox\"].west",
  "instances": [{"schema_version": 0, "attributes": {"id": "blue", "pool_id": "blue", "comment": "c"}}]},
 {"mode": "managed", "type": "null_resource", "name": "n", "provider": "provider[\"registry.terraform.io/hashicorp/null\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "1"}}]},
 {"mode": "managed", "type": "aws_glue_job", "name": "jobs", "provider": "provider[\"registry.terraform.io/hashicorp/aws\"]",
  "instances": [{"index_key": "a", "schema_version": 0, "attributes": {"id": "q"}}, {"index_key": "b", "schema_version": 0, "deposed": "0a1b2c3d", "attributes": {"id": "r"}}]},
 {"mode": "data", "type": "proxmox_virtual_environment_nodes", "name": "all", "provider": "provider[\"registry.terraform.io/bpg/proxmox\"]",
  "instances": [{"schema_version": 0, "attributes": {"id": "nodes"}}]}
]}`

func write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// load opens a declaration that governs the sources and loads it.
func load(t *testing.T, types map[string]string, change func(*terraform.Config)) (model.Declaration, error) {
	t.Helper()
	env := declared.Env{Name: "infra", Types: types, Sealer: model.NewSealer([]byte("key")), Log: slog.New(slog.DiscardHandler), CacheDir: t.TempDir()}
	for name := range types {
		env.Governs = append(env.Governs, name)
	}
	slices.Sort(env.Governs)
	loader, err := terraform.Definition().Open(env, func(into any) error {
		change(into.(*terraform.Config))
		return nil
	})
	if err != nil {
		return model.Declaration{}, err
	}
	return loader.Load(t.Context())
}

// claimed returns the claims as lines.
func claimed(d model.Declaration) []string {
	var lines []string
	for _, c := range d.Claims {
		line := c.Address + " = " + c.Source + "/" + c.Kind + "/" + c.ID
		if c.Unchecked != "" {
			line += " unchecked: " + c.Unchecked
		}
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines
}

func TestStateClaims(t *testing.T) {
	t.Parallel()
	file := write(t, "terraform.tfstate", aState)
	d, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) { c.State = []string{file} })
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`aws_glue_job.jobs["a"] = pve/terraform/aws_glue_job/aws_glue_job.jobs["a"] unchecked: no mapping table for type aws_glue_job: to write one, see docs/mapping.md`,
		`aws_glue_job.jobs["b"] = pve/terraform/aws_glue_job/aws_glue_job.jobs["b"] (deposed 0a1b2c3d) unchecked: no mapping table for type aws_glue_job: to write one, see docs/mapping.md`,
		`proxmox_virtual_environment_pool.blue = pve/proxmox/pool/blue`,
		`proxmox_virtual_environment_vm.web = pve/proxmox/qemu/401`,
	}
	if diff := cmp.Diff(want, claimed(d)); diff != "" {
		t.Error(diff)
	}
	tally := &model.Tally{Resources: 5, Compared: 2, Without: 1, Unmapped: map[string]int{"aws_glue_job": 2}}
	if diff := cmp.Diff(tally, d.Tally); diff != "" {
		t.Errorf("tally: %s", diff)
	}
	if diff := cmp.Diff([]model.Scope{{Kind: "proxmox/pool"}, {Kind: "proxmox/qemu"}}, d.Scopes); diff != "" {
		t.Errorf("scopes: %s", diff)
	}
	if len(d.States) != 1 || d.States[0].Serial != 7 || d.States[0].Lineage != "6d3a" || len(d.States[0].Hash) != 64 {
		t.Errorf("states read: %+v", d.States)
	}
	vm := d.Claims[slices.IndexFunc(d.Claims, func(c model.Claim) bool { return c.ID == "401" })]
	if diff := cmp.Diff([]model.Ref{{Kind: "proxmox/pool_member", ID: "blue/vm/401"}}, vm.Covers); diff != "" {
		t.Errorf("covers of the guest: %s", diff)
	}
	if !vm.RecordOnly || !vm.Complete || vm.Lens == nil || vm.Place != "alpha" || vm.Name != "web-1" {
		t.Errorf("claim %+v", vm)
	}
}

func TestStateSource(t *testing.T) {
	t.Parallel()
	file := write(t, "terraform.tfstate", aState)
	tests := []struct {
		reason    string
		types     map[string]string
		providers map[string]string
		want      string
	}{
		{"no governed source of the provider's type", map[string]string{"box": "netbox"}, nil,
			`proxmox_virtual_environment_vm.web = box/terraform/proxmox_virtual_environment_vm/proxmox_virtual_environment_vm.web unchecked: no governed source has type proxmox: add a source of this type to governs`},
		{"two sources, and no provider setting", map[string]string{"east": "proxmox", "west": "proxmox"}, map[string]string{"proxmox.west": "west"},
			`proxmox_virtual_environment_vm.web = east/terraform/proxmox_virtual_environment_vm/proxmox_virtual_environment_vm.web unchecked: several sources of type proxmox are governed (east, west): set under providers which of them proxmox manages`},
		{"a source set for an alias", map[string]string{"east": "proxmox", "west": "proxmox"}, map[string]string{"proxmox.west": "west"},
			`proxmox_virtual_environment_pool.blue = west/proxmox/pool/blue`},
		{"a source set for the alias's provider", map[string]string{"east": "proxmox", "west": "proxmox"}, map[string]string{"proxmox": "east"},
			`proxmox_virtual_environment_pool.blue = east/proxmox/pool/blue`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			d, err := load(t, test.types, func(c *terraform.Config) { c.State, c.Providers = []string{file}, test.providers })
			if err != nil {
				t.Fatal(err)
			}
			if got := claimed(d); !slices.Contains(got, test.want) {
				t.Errorf("claimed\n%s\nwant\n%s", strings.Join(got, "\n"), test.want)
			}
		})
	}
}

func TestStateUnchecked(t *testing.T) {
	t.Parallel()
	state := func(instance string) string {
		return write(t, "terraform.tfstate", `{"version": 4, "serial": 1, "lineage": "x", "resources": [
 {"mode": "managed", "type": "proxmox_virtual_environment_vm", "name": "web", "provider": "provider[\"registry.terraform.io/bpg/proxmox\"]",
  "instances": [`+instance+`]}]}`)
	}
	tests := []struct {
		reason, instance, claimed string
		problems                  int
	}{
		{"a deposed guest exists until it is destroyed", `{"deposed": "0a1b2c3d", "attributes": {"id": "401", "vm_id": 401}}`, "proxmox/qemu", 0},
		{"a guest that Terraform 0.11 recorded exists", `{"attributes_flat": {"id": "401", "vm_id": "401"}}`, "proxmox/qemu", 0},
		{"a guest without an ID may be any live guest", `{"attributes": {"name": "web"}}`, "terraform/proxmox_virtual_environment_vm", 1},
	}
	for _, test := range tests {
		file := state(test.instance)
		d, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) { c.State = []string{file} })
		if err != nil {
			t.Fatal(err)
		}
		if c := d.Claims[0]; c.Kind != test.claimed || c.Unchecked == "" || len(d.Problems) != test.problems || d.Tally.Unchecked != 1 {
			t.Errorf("%s: claim %+v, problems %v", test.reason, c, d.Problems)
		}
	}
}

func TestSeveralStates(t *testing.T) {
	t.Parallel()
	good, bad := write(t, "a.tfstate", aState), write(t, "b.tfstate", aState[:200])
	d, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) { c.State = []string{good, bad, good + ".gone"} })
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Problems) != 2 || d.Problems[0].Address != bad {
		t.Errorf("problems %v, want one for the broken and one for the missing state", d.Problems)
	}
	if d.Tally.Resources != 5 {
		t.Errorf("tally %+v, want none of the broken state's instances", d.Tally)
	}
	if _, err := load(t, map[string]string{"pve": "proxmox"}, func(c *terraform.Config) { c.State = []string{bad} }); err == nil {
		t.Error("no error although no state can be read")
	}
}

func TestConfigErrors(t *testing.T) {
	t.Parallel()
	pve := map[string]string{"pve": "proxmox"}
	tests := []struct {
		reason string
		types  map[string]string
		change func(*terraform.Config)
		want   string
	}{
		{"nothing to read", pve, func(*terraform.Config) {}, "neither dir nor git"},
		{"an engine that does not exist", pve, func(c *terraform.Config) { c.Engine = "apply" }, `engine "apply": want plan or state`},
		{"state with engine plan", pve, func(c *terraform.Config) { c.Engine, c.Dir, c.State = "plan", "/x", []string{"a"} }, "state is set, but engine is plan"},
		{"state and dir", pve, func(c *terraform.Config) { c.Dir, c.State = "/x", []string{"a"} }, "state cannot be combined with dir or git"},
		{"engine state without locations or root", pve, func(c *terraform.Config) { c.Engine = "state" }, "engine state needs locations"},
		{"engine state without governs", nil, func(c *terraform.Config) { c.State = []string{"a"} }, "such as governs: [pve]"},
		{"a negative deploy window", pve, func(c *terraform.Config) { c.DeployWindow = -1 }, `deploy_window -1ns: want 0 or more`},
		{"apply_before_merge without git", pve, func(c *terraform.Config) { c.ApplyBeforeMerge = true }, `apply_before_merge requires git`},
		{"a provider of a source that is not governed", pve, func(c *terraform.Config) {
			c.Dir, c.Providers = "/x", map[string]string{"proxmox": "west"}
		}, `source "west" is not governed`},
	}
	for _, test := range tests {
		t.Run(test.reason, func(t *testing.T) {
			t.Parallel()
			_, err := load(t, test.types, test.change)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want one with %q", err, test.want)
			}
		})
	}
}

func TestCover(t *testing.T) {
	t.Parallel()
	settings := terraform.Defaults()
	settings.State = []string{write(t, "terraform.tfstate", aState)}
	covers, err := terraform.Cover(t.Context(), settings)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range covers {
		c := &covers[i]
		mapped := "unmapped"
		if c.Mapped() {
			mapped = "mapped to " + c.Kind
		}
		got = append(got, c.Provider+" "+c.Type+" "+mapped)
	}
	want := []string{
		"bpg/proxmox proxmox_virtual_environment_pool mapped to proxmox/pool",
		"bpg/proxmox proxmox_virtual_environment_vm mapped to proxmox/qemu",
		"hashicorp/aws aws_glue_job unmapped",
		"hashicorp/null null_resource mapped to ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestIsRoot(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{"main.tf": true, "main.tf.json": true, "main.tofu": true, "terragrunt.hcl": true, ".main.tf": false, "web.yaml": false, "notes.tfvars": false}
	for name, want := range tests {
		dir := filepath.Dir(write(t, name, ""))
		if got, err := terraform.IsRoot(dir); got != want || err != nil {
			t.Errorf("IsRoot with %s = %v, %v", name, got, err)
		}
	}
	if got, err := terraform.IsRoot(filepath.Join(t.TempDir(), "gone")); got || err != nil {
		t.Errorf("IsRoot of a missing folder = %v, %v", got, err)
	}
}
