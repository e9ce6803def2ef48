package mapping_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// value reads the JSON form of a tree.
func value(t testing.TB, text string) model.Value {
	t.Helper()
	var v model.Value
	if err := v.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return v
}

// folder returns a folder with one table.
func folder(t testing.TB, table string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(table), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestLoadRefuses(t *testing.T) {
	t.Parallel()
	typ := func(body string) string { return "provider: acme/lab\ntypes:\n  lab_server:\n" + body }
	attribute := func(spec string) string {
		return typ("    kind: lab/server\n    id: \"{id}\"\n    attributes:\n      size: " + spec + "\n")
	}
	cases := map[string]struct {
		reason string
		table  string
		says   string
	}{
		"Syntax":       {"broken YAML has a line", "provider: [", "line 1"},
		"NotMapping":   {"a table is a mapping", "- a", "mine.yaml:1: a table must be a mapping"},
		"NoProvider":   {"a table is a provider's", "types: {}", "mine.yaml:1: provider must be namespace/name"},
		"NoProviders":  {"none of several providers has a host", "provider: [acme/lab, registry.example.org/acme/lab]", "or a list of such"},
		"FillsBlock":   {"a block is filled with templates", typ("    kind: a/b\n    id: x\n    fills: [{kind: a/b, id: x, attributes: [c], block: {d: [e]}}]\n"), "a text is expected"},
		"Host":         {"a host is not part of the provider's name", "provider: registry.example.org/acme/lab", "provider must be namespace/name"},
		"UnknownKey":   {"a mistyped key is named with the right one", typ("    knd: lab/server\n"), `mine.yaml:4: type lab_server has no key "knd"; it has aliases, `},
		"Twice":        {"a key stands once", typ("    kind: a/b\n    kind: a/c\n"), `mine.yaml:5: duplicate key "kind"`},
		"NoKind":       {"a type has a kind or says why not", typ("    id: x\n"), "kind must be system/kind"},
		"BadKind":      {"a kind names its system", typ("    kind: server\n    id: x\n"), "kind must be system/kind"},
		"NoID":         {"a type says what names the resource", typ("    kind: a/b\n"), "id is missing"},
		"Both":         {"a type without live side has no kind", typ("    kind: a/b\n    none: why\n"), "not both"},
		"Unlisted":     {"a type with unlisted instances has identities only", typ("    kind: a/b\n    id: x\n    unlisted: {if: c, reason: why}\n"), "unlisted needs if, reason, and a type with by_identity: true"},
		"UnlistedWhy":  {"an unlisted instance has a reason", typ("    kind: a/b\n    id: x\n    by_identity: true\n    unlisted: {if: c}\n"), "unlisted needs if, reason"},
		"CompareBy":    {"only a plan can compare", typ("    kind: a/b\n    id: x\n    compare: state\n"), "compare must be plan"},
		"ComparePlan":  {"a plan compares all attributes", typ("    kind: a/b\n    id: x\n    compare: plan\n    attributes: {c: d}\n"), "has an identity only"},
		"Children":     {"a table compares children by covers", typ("    kind: a/b\n    id: x\n    children: {c: a/d}\n"), "children and stands_for are for types with compare: plan"},
		"Template":     {"a template is closed", typ("    kind: a/b\n    id: \"{id\"\n"), "lacks a }"},
		"TemplateName": {"a template names an attribute", typ("    kind: a/b\n    id: \"{}\"\n"), "attribute's name is missing"},
		"TemplateCut":  {"a template cuts at a number", typ("    kind: a/b\n    id: \"{id:x}\"\n"), "want a number after the colon"},
		"Conversion":   {"conversions are a closed set", attribute("{live: size, as: gb}"), `mine.yaml:7: no conversion "gb"`},
		"NoArgument":   {"a conversion that takes text gets some", attribute("{live: size, as: join()}"), `no conversion "join()"`},
		"Argument":     {"one that takes none gets none", attribute("{live: size, as: gib(2)}"), `no conversion "gib(2)"`},
		"Compare":      {"ways to compare are a closed set", attribute("{live: size, compare: numbr}"), "want address, boolean, "},
		"Order":        {"order counts or not", attribute("{live: size, order: maybe}"), `no order "maybe"`},
		"Block":        {"blocks are a closed set", attribute("{block: onee, attributes: {a: b}}"), "want many, named, object, one"},
		"NoBlock":      {"attributes belong to a block", attribute("{attributes: {a: b}}"), "block and attributes need each other"},
		"EmptyBlock":   {"a block has attributes", attribute("{block: one}"), "block and attributes need each other"},
		"Slots":        {"slots belong to repeated blocks", attribute("{live: size, slots: [net]}"), "belong to block many or named"},
		"Gaps":         {"gaps are between numbers of one name", attribute("{block: many, slots: [a, b], gaps: true, attributes: {a: b}}"), "gaps needs exactly one of slots"},
		"Search":       {"a search is written under find", attribute("$drive.size"), `no search "drive" stands under find`},
		"Path":         {"a live path has no empty step", attribute("a..b"), "a step is empty"},
		"Flag":         {"a flag is true or false", attribute("{live: size, optional: perhaps}"), "true or false is expected"},
		"Text":         {"a text is a text", attribute("{live: [a]}"), "a text is expected"},
		"Scalar":       {"a default is a scalar or a list of them", attribute("{live: a, default: {b: c}}"), "a scalar is expected"},
		"Number":       {"a number is decimal", attribute("{live: a, default: 0x10}"), "not a decimal number"},
		"Pattern":      {"a pattern is well formed", typ("    kind: a/b\n    id: x\n    local: \"[\"\n"), "syntax error in pattern"},
		"Covers":       {"covers is a list", typ("    kind: a/b\n    id: x\n    covers: x\n"), "covers must be a list"},
		"Forms":        {"forms is a list", typ("    kind: a/b\n    id: x\n    forms: x\n"), "forms must be a list"},
		"FormsWith":    {"only the last form fits always", typ("    kind: a/b\n    id: x\n    forms: [{attributes: {a: b}}, {attributes: {a: b}}]\n"), "every form but the last needs with"},
		"Identities":   {"identities is a list", typ("    kind: a/b\n    id: x\n    identities: x\n"), "identities must be a list"},
		"Identity":     {"an identity says by what, and what", typ("    kind: a/b\n    id: x\n    identities: [{by: slug, was: x}]\n"), `an identity has no key "was"`},
		"Fills":        {"fills is a list", typ("    kind: a/b\n    id: x\n    fills: x\n"), "fills must be a list"},
		"Sealed":       {"sealed is a flag, or of URLs", attribute("{live: a, sealed: uri}"), "true or false is expected"},
		"While":        {"a condition on the instance is a template", attribute("{live: a, while: {b: \"{c\"}}"), "lacks a }"},
		"Relative":     {"a block is not read in the light of the instance", attribute("{block: one, granted: true, attributes: {a: b}}"), "belong to attributes without a block"},
		"RelativeIn":   {"nor is what is in it", attribute("{block: one, attributes: {a: {live: b, without: c}}}"), "belong to the resource's own attributes"},
		"Extend":       {"what is extended exists", typ("    extend: true\n"), "no earlier table has a type lab_server"},
		"Cycle":        {"an alias within itself ends", "provider: acme/lab\ntypes: &t\n  a:\n    attributes: &a\n      x: {block: one, attributes: *a}\n", "too deep or too large"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := mapping.Load(folder(t, tc.table))
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.says)
			}
		})
	}
}

func TestLoadReportsEveryMistake(t *testing.T) {
	t.Parallel()
	_, err := mapping.Load(folder(t, "provider: acme/lab\ntypes:\n  a: {kind: x}\n  b: {none: why, id: y, typo: z}\n"), filepath.Join(t.TempDir(), "nowhere"))
	for _, says := range []string{"mine.yaml:3: kind must be", `mine.yaml:4: type b has no key "typo"`, "read mapping tables of ", "nowhere"} {
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("got %v, want it to say %q", err, says)
		}
	}
}

func TestLoadTakesOtherFoldersLast(t *testing.T) {
	t.Parallel()
	mine := folder(t, `
provider: Bpg/Proxmox
types:
  proxmox_virtual_environment_pool:
    extend: true
    local: [comment]
    attributes:
      owner: {live: comment, default: nobody}
  proxmox_virtual_environment_role:
    none: roles are another team's
  proxmox_virtual_environment_time:
    kind: proxmox/node_time
    id: "{node_name}"
    attributes: {time_zone: timezone}
---
provider: acme/lab
types:
  lab_server:
    aliases: [lab_machine]
    kind: lab/server
    id: "{id}"
    attributes: {size: size}
`)
	if err := os.WriteFile(filepath.Join(mine, "README.md"), []byte("no table"), 0o600); err != nil {
		t.Fatal(err)
	}
	tables := load(t, mine)

	pool, _ := tables.Find("example.org/bpg/proxmox", "proxmox_virtual_environment_pool")
	mapped, err := pool.Claim(value(t, `{"pool_id":"team","comment":"x","owner":"y"}`), sealer())
	if err != nil {
		t.Fatal(err)
	}
	if got := string(mapped.Value.AppendJSON(nil)); got != `{"owner":"y"}` || mapped.ID != "team" {
		t.Errorf("extended: id %s, value %s, want what was there, and the new attribute in place of comment", mapped.ID, got)
	}
	role, _ := tables.Find("bpg/proxmox", "proxmox_virtual_environment_role")
	if why, none := role.NoLiveSide(); !none || why != "roles are another team's" {
		t.Errorf("replaced: got %q, %v", why, none)
	}
	clock, _ := tables.Find("bpg/proxmox", "proxmox_virtual_environment_time")
	if got := clock.Unmapped(value(t, `{"node_name":"a","time_zone":"UTC","utc_time":"x"}`)); gocmp.Diff([]string{"node_name", "utc_time"}, got) != "" {
		t.Errorf("a replaced type keeps nothing of the old one, got %v unmapped", got)
	}
	machine, ok := tables.Find("acme/lab", "lab_machine")
	if !ok || machine.Name() != "lab_machine" || machine.Like() != "lab_server" || machine.Kind() != "lab/server" {
		t.Errorf("an alias is a name of its own, got %+v", machine)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tables := load(t)
	for _, tc := range []struct {
		reason, provider, typ string
		found                 bool
	}{
		{"Terraform's registry", "registry.terraform.io/bpg/proxmox", "proxmox_vm", true},
		{"OpenTofu's registry", "registry.opentofu.org/Telmate/proxmox", "proxmox_vm_qemu", true},
		{"a mirror", "mirror.example.org:8443/bpg/proxmox", "proxmox_virtual_environment_vm", true},
		{"a builtin provider", "terraform.io/builtin/terraform", "terraform_data", true},
		{"another provider", "registry.terraform.io/acme/proxmox", "proxmox_vm", false},
		{"a type of another provider", "registry.terraform.io/bpg/proxmox", "proxmox_vm_qemu", false},
		{"a type without a table", "registry.terraform.io/bpg/proxmox", "proxmox_download_file", false},
		{"nothing", "", "", false},
	} {
		if _, ok := tables.Find(tc.provider, tc.typ); ok != tc.found {
			t.Errorf("%s: got %v", tc.reason, ok)
		}
	}
}
