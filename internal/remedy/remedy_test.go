package remedy_test

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy"
)

var update = flag.Bool("update", false, "write the golden files anew")

func value(t interface{ Fatal(...any) }, text string) *model.Value {
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

func str(s string) *model.Value {
	v := model.StringOf(s)
	return &v
}

func number(n int64) *model.Value {
	v := model.IntOf(n)
	return &v
}

func secret(s string) *model.Value {
	v := model.NewSealer([]byte("a key of these tests")).Seal(s)
	return &v
}

// disputed returns a field of a guest in which NetBox, Terraform and the live system have values.
func disputed(path, live, inventory string, has, intent, infra int64) model.Change {
	return model.Change{Path: path, LivePath: live, Live: number(has), Claims: []model.ClaimedValue{
		{Declaration: "infra", Address: "proxmox_virtual_environment_vm.db", Value: *number(infra)},
		{Declaration: "intent", Address: "virtual-machines/8", Path: inventory, Value: *number(intent)}}}
}

// patchedBy returns a finding on an object that other files of a kustomization determine.
func patchedBy(files ...string) *model.Finding {
	f := finding(model.Changed, "kubernetes/Deployment.apps", "shop/web", "shop/base/web.yaml:1", model.Change{Path: "spec.replicas", Declared: number(2), Live: number(3)})
	f.AlsoIn = files
	return f
}

// onNode places a guest on a node.
func onNode(f *model.Finding) *model.Finding {
	f.Place = "pve1"
	return f
}

func finding(verdict model.Verdict, kind, id, address string, changes ...model.Change) *model.Finding {
	place, name, ok := strings.Cut(id, "/")
	if !ok {
		place, name = "", id
	}
	return &model.Finding{ID: "3f2a00000000", Verdict: verdict, Severity: model.High, Key: model.Key{Source: "prod", Kind: kind, ID: id},
		Place: place, Name: name, Declaration: "shop", Address: address, Changes: changes, Owner: "team-shop",
		Actor: model.Actor{Name: "bob", At: time.Date(2026, 11, 20, 3, 0, 0, 0, time.UTC), Via: "audit log", Confidence: model.Exact}}
}

// text returns a suggestion as the golden files have it.
func text(s remedy.Suggestion) string {
	var b strings.Builder
	b.WriteString("next: " + s.Next + "\n")
	for _, section := range s.Sections() {
		b.WriteString("\n" + section.Name + ": " + section.Title + "\n")
		for _, block := range section.Blocks {
			b.WriteString("```" + block.Language + "\n" + block.Text + "\n```\n")
		}
		for _, note := range section.Notes {
			b.WriteString("- " + note + "\n")
		}
	}
	return b.String()
}

const web = `{"metadata":{"labels":{"a/b":"1"}},"spec":{"replicas":3,"template":{"spec":{"containers":[
	{"name":"proxy","image":"proxy:1"},
	{"name":"web","image":"web:1-hotfix","env":[{"name":"LEVEL","value":"info"},{"name":"DEBUG","value":"it's \u001b[31m"},{"name":"EXTRA","value":"1"}]}]}}}}`

const inWeb = "spec.template.spec.containers[name=web]."

func TestSuggestions(t *testing.T) {
	t.Parallel()
	const uuid = "0f6c6e3e-0000-4000-8000-000000000001"
	list := value(t, `["a","b"]`)
	guest := value(t, `{"cores":4,"onboot":false,"name":"db-01","net0":{"bridge":"vmbr1"},"memory":2048}`)
	off, on := model.BoolOf(false), model.BoolOf(true)
	infra := func(f *model.Finding) *model.Finding {
		f.Declaration, f.Place = "infra", "pve1"
		return f
	}
	for name, tc := range map[string]struct {
		finding *model.Finding
		facts   remedy.Facts
	}{
		"kubernetes-changed": {finding(model.Changed, "kubernetes/Deployment.apps", "shop/web", "deploy/web.yaml:12",
			model.Change{Path: inWeb + "image", Declared: str("web:1"), Recorded: str("web:1"), Live: str("web:1-hotfix")},
			model.Change{Path: "spec.replicas", Declared: number(2), Live: number(3)},
			model.Change{Path: `metadata.labels["a/b"]`, Declared: str("2"), Live: str("1")},
			model.Change{Path: inWeb + "env[name=PASSWORD].value", Declared: secret("hunter2"), Live: secret("hunter3"), Secret: true}), remedy.Facts{Live: value(t, web)}},
		"kubernetes-undeclared": {finding(model.Undeclared, "kubernetes/Deployment.apps", "shop/web", "deploy/web.yaml:12",
			model.Change{Path: inWeb + "env[name=DEBUG]", Live: value(t, `{"name":"DEBUG","value":"it's \u001b[31m"}`)},
			model.Change{Path: inWeb + "env[name=EXTRA]", Live: value(t, `{"name":"EXTRA","value":"1"}`)}), remedy.Facts{Live: value(t, web)}},
		"kubernetes-element-removed": {finding(model.Changed, "kubernetes/Deployment.apps", "shop/web", "deploy/web.yaml:12",
			model.Change{Path: inWeb + "env[name=MODE]", Declared: value(t, `{"name":"MODE","value":"x"}`)}), remedy.Facts{Live: value(t, web)}},
		"kubernetes-field-removed": {finding(model.Changed, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1",
			model.Change{Path: "data.currency", Declared: str("EUR")}), remedy.Facts{Live: value(t, `{"data":{}}`)}},
		"kubernetes-live-not-stored": {finding(model.Changed, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1",
			model.Change{Path: "data.currency", Declared: str("EUR"), Live: str("USD")}), remedy.Facts{}},
		"kubernetes-live-moved": {finding(model.Changed, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1",
			model.Change{Path: "data.currency", Declared: str("EUR"), Live: str("USD")}), remedy.Facts{Live: value(t, `{"data":{"currency":"GBP"}}`)}},
		"kubernetes-flux": {finding(model.Changed, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1",
			model.Change{Path: "data.currency", Declared: str("EUR"), Live: str("USD")}), remedy.Facts{Live: value(t, `{"data":{"currency":"USD"},"metadata":{"labels":{"kustomize.toolkit.fluxcd.io/name":"web","kustomize.toolkit.fluxcd.io/namespace":"flux-system"}}}`)}},
		"kubernetes-helm": {finding(model.Changed, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1",
			model.Change{Path: "data.currency", Declared: str("EUR"), Live: str("USD")}), remedy.Facts{Live: value(t, `{"data":{"currency":"USD"},"metadata":{"annotations":{"meta.helm.sh/release-name":"web"}}}`)}},
		"helm-release": {finding(model.Bypassed, "kubernetes/Release.helm", "shop/blog", "charts/blog/Chart.yaml",
			model.Change{Path: "values.replicas", Declared: number(2), Live: number(3)},
			model.Change{Path: "values.password", Live: secret("hunter2"), Secret: true}), remedy.Facts{Declared: "helm"}},
		"helm-release-unmanaged": {finding(model.Unmanaged, "kubernetes/Release.helm", "shop/redis", ""), remedy.Facts{}},
		"kubernetes-secret": {finding(model.Changed, "kubernetes/Secret", "shop/db", "deploy/config.yaml:13",
			model.Change{Path: "data.password", Declared: secret("hunter2"), Live: secret("hunter3")}), remedy.Facts{Live: &model.Value{}}},
		"kubernetes-missing":   {finding(model.Missing, "kubernetes/Service", "shop/web", "deploy/web.yaml:30"), remedy.Facts{}},
		"kubernetes-unmanaged": {finding(model.Unmanaged, "kubernetes/Pod", "shop/debug", ""), remedy.Facts{}},
		"kubernetes-pending": {finding(model.Pending, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1",
			model.Change{Path: "data.currency", Declared: str("EUR"), Recorded: str("USD"), Live: str("USD"), Unproven: true}), remedy.Facts{}},
		"kubernetes-conflict": {finding(model.Conflict, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1",
			model.Change{Path: "data.currency", Declared: str("EUR"), Recorded: str("CHF"), Live: str("USD")}), remedy.Facts{}},
		"terraform-guest": {infra(finding(model.Changed, "proxmox/qemu", "104", "proxmox_virtual_environment_vm.db",
			model.Change{Path: "cpu[0].cores", LivePath: "cores", Declared: number(2), Live: number(4)},
			model.Change{Path: "on_boot", LivePath: "onboot", Declared: &on, Live: &off},
			model.Change{Path: "memory[0].dedicated", LivePath: "memory", Declared: number(1), Live: number(2)},
			model.Change{Path: "network_device[0].bridge", LivePath: "net0.bridge", Declared: str("vmbr0"), Live: str("vmbr1")})), remedy.Facts{Live: guest}},
		"terraform-state-guest": {infra(finding(model.Changed, "proxmox/qemu", "104", "proxmox_virtual_environment_vm.db",
			model.Change{Path: "cpu[0].cores", LivePath: "cores", Recorded: number(2), Live: number(4)})), remedy.Facts{Live: guest}},
		"openstack-state": {finding(model.Changed, "openstack/server", uuid, "openstack_compute_instance_v2.web",
			model.Change{Path: "metadata.role", Recorded: str("web"), Live: str("db")}), remedy.Facts{}},
		"terraform-attributes": {finding(model.Changed, "aws/s3_bucket", "logs", "aws_s3_bucket.logs",
			model.Change{Path: "tags_all", Declared: list, Live: value(t, `["a","${b}\n"]`)}), remedy.Facts{}},
		"terraform-pending": {finding(model.Pending, "openstack/server", uuid, "openstack_compute_instance_v2.web",
			model.Change{Path: "name", Declared: str("web"), Recorded: str("old"), Live: str("old")}), remedy.Facts{}},
		"terraform-codified": {finding(model.Codified, "openstack/server", uuid, "openstack_compute_instance_v2.web",
			model.Change{Path: "name", Declared: str("web"), Recorded: str("old"), Live: str("web")}), remedy.Facts{}},
		"proxmox-restart": {infra(finding(model.PendingRestart, "proxmox/qemu", "104", "proxmox_virtual_environment_vm.db",
			model.Change{Path: "cpu[0].cores", LivePath: "cores", Declared: number(4), Live: number(4), Running: number(2)})), remedy.Facts{}},
		"proxmox-unmanaged": {infra(finding(model.Unmanaged, "proxmox/qemu", "350", "")),
			remedy.Facts{Import: "import {\n  to = proxmox_virtual_environment_vm.x\n  id = \"pve1/350\"\n}\n", Provider: "bpg/proxmox"}},
		"netbox-unmanaged": {onNode(finding(model.Unmanaged, "proxmox/qemu", "350", "")), remedy.Facts{Declared: "netbox",
			Live: value(t, `{"name":"it's new","memory":4096,"cores":2,"sockets":2,"net0":{"model":"virtio","macaddr":"BC:24:11:00:00:09","bridge":"vmbr0"}}`)}},
		"netbox-changed": {finding(model.Changed, "netbox/virtualization.virtualmachine", "8", "netbox_virtual_machine.app",
			model.Change{Path: "comments", Declared: str("it's declared"), Live: str("$(reboot)")},
			model.Change{Path: "cluster_id", LivePath: "cluster", Declared: number(1), Live: number(2)}), remedy.Facts{Live: value(t, `{"comments":"$(reboot)","cluster":2}`)}},
		"openstack-metadata": {finding(model.Changed, "openstack/server", uuid, "openstack_compute_instance_v2.web",
			model.Change{Path: "metadata.tier", Declared: str("back; rm -rf ~"), Live: str("front")},
			model.Change{Path: "metadata.extra", Live: str("1")},
			model.Change{Path: "name", Declared: str("web"), Live: str("")},
			model.Change{Path: "flavor", Declared: str("1"), Live: str("2")}), remedy.Facts{Live: value(t, `{"metadata":{"tier":"front","extra":"1"},"flavor":"2","name":""}`)}},
		"openstack-network": {finding(model.Changed, "openstack/network", uuid, "openstack_networking_network_v2.net",
			model.Change{Path: "admin_state_up", Declared: &on, Live: &off},
			model.Change{Path: "description", Declared: str("it's"), Live: str("x")}), remedy.Facts{Live: value(t, `{"admin_state_up":false,"description":"x"}`)}},
		"terraform-units": {infra(finding(model.Changed, "proxmox/qemu", "104", "proxmox_vm_qemu.db",
			model.Change{Path: "balloon", Declared: number(4), Live: number(0)})), remedy.Facts{Live: value(t, `{"balloon":0}`)}},
		"openstack-rule": {finding(model.Unmanaged, "openstack/security_group_rule", uuid, ""), remedy.Facts{}},
		"disputed": {finding(model.Disputed, "proxmox/qemu", "104", "",
			model.Change{Path: "memory", Live: number(2048), Claims: []model.ClaimedValue{
				{Declaration: "netbox", Address: "virtual-machines/8", Value: *number(4096)}, {Declaration: "infra", Address: "proxmox_virtual_environment_vm.db", Value: *number(2048)}}}), remedy.Facts{}},
		"kubernetes-patched": {patchedBy("shop/over/patch.yaml", "shop/over/kustomization.yaml"), remedy.Facts{Declared: "manifests"}},
		"disputed-guest": {onNode(finding(model.Disputed, "proxmox/qemu", "104", "",
			disputed("memory[0].dedicated", "memory", "memory", 8192, 16384, 4096),
			disputed("cpu[0].cores", "cores", "vcpus", 2, 4, 2),
			disputed("disk[0].size", "scsi0.size", "disk", 8, 9000, 8))), remedy.Facts{Live: value(t, `{"memory":8192,"cores":2,"scsi0":{"size":8}}`)}},
		"disputed-sockets": {onNode(finding(model.Disputed, "proxmox/qemu", "104", "",
			disputed("cpu[0].cores", "cores", "vcpus", 2, 8, 2))), remedy.Facts{Live: value(t, `{"cores":2,"sockets":2}`)}},
		"netbox-intent": {onNode(finding(model.Changed, "proxmox/qemu", "104", "virtual-machines/8",
			model.Change{Path: "memory", Declared: number(2048), Live: number(4096)}, model.Change{Path: "tags", Declared: value(t, `["a"]`), Live: value(t, `["b"]`)})),
			remedy.Facts{Declared: "netbox", Live: value(t, `{"memory":4096}`)}},
		"unchecked": {&model.Finding{ID: "1", Verdict: model.Unchecked, Reason: "the source did not answer"}, remedy.Facts{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, text(remedy.For(tc.finding, tc.facts)))
		})
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name+".txt")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

// TestSuggestionsAreOneLineCommands checks that hostile names and values cannot leave their
// quotes: a shell in which all programs are replaced reads the same words that driftd wrote, and
// runs nothing else.
func TestSuggestionsAreHarmless(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, program := range []string{"kubectl", "terraform", "pvesh", "openstack", "flux", "argocd", "driftd", "curl", "rm"} {
		script := "#!/bin/sh\nprintf '%s\\n' ran >>\"$LOG\"\n"
		if err := os.WriteFile(filepath.Join(dir, program), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	shell, err := exec.LookPath("sh")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(r *rapid.T) {
		hostile := hostileText()
		declared, live := hostile.Draw(r, "declared"), hostile.Draw(r, "live")
		kind := rapid.SampledFrom([]string{"kubernetes/ConfigMap", "kubernetes/" + hostile.Draw(r, "kind"), "proxmox/qemu", "netbox/ipam.prefix", "openstack/server"}).Draw(r, "of")
		field := rapid.SampledFrom([]string{"data.x", "name", "description", "metadata.tier", hostile.Draw(r, "field")}).Draw(r, "path")
		f := finding(rapid.SampledFrom(model.Verdicts()).Draw(r, "verdict"), kind, "x", hostile.Draw(r, "file")+".yaml:1",
			model.Change{Path: field, Declared: str(declared), Live: str(live)})
		f.Name, f.Place, f.Owner = hostile.Draw(r, "name"), hostile.Draw(r, "place"), hostile.Draw(r, "owner")
		f.Key.ID = rapid.SampledFrom([]string{"104", "0f6c6e3e-0000-4000-8000-000000000001", hostile.Draw(r, "id")}).Draw(r, "key")
		object := model.MapOf(model.Field{Name: "data", Value: model.MapOf(model.Field{Name: "x", Value: model.StringOf(live)})},
			model.Field{Name: "name", Value: model.StringOf(live)}, model.Field{Name: "description", Value: model.StringOf(live)})
		s := remedy.For(f, remedy.Facts{Live: &object})
		for _, section := range s.Sections() {
			for _, block := range section.Blocks {
				checkBlock(r, shell, dir, block)
			}
		}
	})
}

// checkBlock runs a block of commands with replaced programs, and counts those that ran.
func checkBlock(r *rapid.T, shell, dir string, block remedy.Block) {
	if strings.ContainsFunc(block.Text, func(c rune) bool { return c != '\n' && (c < ' ' || c == 0x7f || c == 0x202e) }) {
		r.Fatalf("the block has control characters: %q", block.Text)
	}
	if block.Language != "sh" {
		return
	}
	log := filepath.Join(dir, "log")
	if err := os.WriteFile(log, nil, 0o600); err != nil {
		r.Fatal(err)
	}
	cmd := exec.Command(shell, "-euc", block.Text)
	cmd.Dir, cmd.Env = dir, []string{"PATH=" + dir, "LOG=" + log, "NETBOX_URL=x", "NETBOX_AUTHORIZATION=x"}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		r.Fatalf("%s: %v: %s", block.Text, err, out)
	}
	ran, err := os.ReadFile(log)
	if err != nil {
		r.Fatal(err)
	}
	if lines, calls := strings.Count(block.Text, "\n")+1, strings.Count(string(ran), "\n"); calls != lines {
		r.Fatalf("%d lines ran %d programs: %s", lines, calls, block.Text)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		r.Fatal(err)
	}
	if len(files) != 10 {
		r.Fatalf("the block wrote a file: %s", block.Text)
	}
}

// hostileText generates texts that mean something to shells, terminals, YAML, JSON and Terraform.
func hostileText() *rapid.Generator[string] {
	parts := rapid.SampledFrom([]string{"a", "'", `"`, "`touch x`", "$(touch x)", "; touch x;", "&& touch x", "| touch x", ">x", "\\", "\n", "\x1b[31m", "\u202e",
		"\x00", "\xff", "${x}", "%{x}", "!", "*", "~", "#", "-", "--", "=", "é", "🙂", "]", "[", ".", "/", "\t", "\r"})
	return rapid.Custom(func(r *rapid.T) string { return strings.Join(rapid.SliceOfN(parts, 0, 6).Draw(r, "parts"), "") })
}

// nestedSecret returns a list with a sealed value inside.
func nestedSecret() *model.Value {
	v := model.ListOf(model.MapOf(model.Field{Name: "name", Value: model.StringOf("A")}, model.Field{Name: "value", Value: *secret("hunter3")}))
	return &v
}

// TestNoSecrets checks that neither a secret nor its digest is in any step, for every verdict.
func TestNoSecrets(t *testing.T) {
	t.Parallel()
	for _, verdict := range model.Verdicts() {
		for _, kind := range []string{"kubernetes/Secret", "proxmox/qemu", "netbox/ipam.prefix", "openstack/server", "aws/x"} {
			for _, address := range []string{"deploy/a.yaml:1", "aws_x.y", "virtual-machines/8", ""} {
				f := finding(verdict, kind, "7", address,
					model.Change{Path: "name", Declared: secret("hunter2"), Recorded: secret("hunter2"), Live: secret("hunter3")},
					model.Change{Path: "description", Declared: str("hunter2"), Live: str("hunter3"), Secret: true},
					model.Change{Path: "env", Declared: value(t, `[{"name":"A"}]`), Live: nestedSecret()},
					model.Change{Path: "data.x", Secret: true, Claims: []model.ClaimedValue{{Declaration: "a", Value: *str("hunter2")}, {Declaration: "b", Value: *secret("hunter3")}}, Live: secret("hunter2")})
				object := model.MapOf(model.Field{Name: "name", Value: *secret("hunter3")}, model.Field{Name: "description", Value: model.StringOf("hunter3")})
				got := text(remedy.For(f, remedy.Facts{Live: &object}))
				for _, word := range []string{"hunter2", "hunter3", secret("hunter2").Text(), secret("hunter3").Text()} {
					if strings.Contains(got, word) {
						t.Errorf("%s of %s at %q shows %q:\n%s", verdict, kind, address, word, got)
					}
				}
			}
		}
	}
}

func TestResolved(t *testing.T) {
	t.Parallel()
	f := finding(model.Changed, "kubernetes/ConfigMap", "shop/settings", "deploy/config.yaml:1", model.Change{Path: "data.x", Declared: str("a"), Live: str("b")})
	f.Resolved = time.Date(2026, 11, 20, 4, 0, 0, 0, time.UTC)
	s := remedy.For(f, remedy.Facts{Live: value(t, `{"data":{"x":"b"}}`)})
	for _, section := range s.Sections() {
		if len(section.Blocks)+len(section.Notes) > 0 || section.Title != "Nothing to do" {
			t.Errorf("%s: %v", section.Name, section.Step)
		}
	}
}

// TestEveryVerdictHasSteps checks that no verdict is without a next step.
func TestEveryVerdictHasSteps(t *testing.T) {
	t.Parallel()
	for _, verdict := range model.Verdicts() {
		s := remedy.For(finding(verdict, "kubernetes/ConfigMap", "a/b", "x.yaml:1"), remedy.Facts{})
		if s.Next == "" || slices.ContainsFunc(s.Sections(), func(section remedy.Section) bool { return section.Title == "" }) {
			t.Errorf("%s: a step has no title: %s", verdict, text(s))
		}
	}
}

func TestAdoptable(t *testing.T) {
	t.Parallel()
	deployment := func(changes ...model.Change) *model.Finding {
		return finding(model.Changed, "kubernetes/Deployment.apps", "shop/web", "deploy/web.yaml:1", changes...)
	}
	server := func(address string, change model.Change) *model.Finding {
		return finding(model.Changed, "proxmox/qemu", "104", address, change)
	}
	size := model.Change{Path: "size", Declared: number(1), Live: number(2)}
	over := deployment(size)
	over.Resolved = time.Unix(1, 0)
	lines := model.Change{Path: "data.motd", Declared: str("a\nb"), Live: str("a")}
	for name, tc := range map[string]struct {
		finding *model.Finding
		facts   remedy.Facts
		want    string
	}{
		"manifest":        {deployment(size), remedy.Facts{Declared: "manifests"}, ""},
		"over":            {over, remedy.Facts{Declared: "manifests"}, "is resolved"},
		"pending":         {finding(model.Pending, "kubernetes/Deployment.apps", "shop/web", "", size), remedy.Facts{Declared: "manifests"}, "the finding is pending"},
		"moved, perhaps":  {finding(model.Pending, "kubernetes/Deployment.apps", "shop/web", "deploy/web.yaml:1", model.Change{Path: "size", Declared: number(1), Live: number(2), Unproven: true}), remedy.Facts{Declared: "manifests"}, ""},
		"whole":           {deployment(), remedy.Facts{Declared: "manifests"}, "about the resource as a whole"},
		"missing":         {finding(model.Missing, "kubernetes/Deployment.apps", "shop/web", ""), remedy.Facts{Declared: "manifests"}, "the live system has nothing to adopt"},
		"conflict":        {finding(model.Conflict, "kubernetes/Deployment.apps", "shop/web", "", size), remedy.Facts{Declared: "manifests"}, "would undo a commit"},
		"inventory":       {server("virtual-machines/8", size), remedy.Facts{Declared: "netbox"}, "only manifests and Terraform roots"},
		"secret":          {deployment(model.Change{Path: "data.p", Declared: secret("a"), Live: secret("b"), Secret: true}), remedy.Facts{Declared: "manifests"}, "data.p is a secret"},
		"lines":           {deployment(lines), remedy.Facts{Declared: "manifests"}, "data.motd has several lines"},
		"lines in a root": {server("lab_server.web", lines), remedy.Facts{Declared: "terraform", Planned: true}, ""},
		"root":            {server("lab_server.web", size), remedy.Facts{Declared: "terraform", Planned: true}, ""},
		"state":           {server("lab_server.web", size), remedy.Facts{Declared: "terraform"}, "is a Terraform state"},
		"module":          {server("module.m.lab_server.web", size), remedy.Facts{Declared: "terraform", Planned: true}, "is in a module"},
		"instance":        {server("lab_server.web[0]", size), remedy.Facts{Declared: "terraform", Planned: true}, "one of several instances"},
		"unmanaged":       {finding(model.Unmanaged, "proxmox/qemu", "104", ""), remedy.Facts{Import: "import {}", Planned: true}, ""},
		"no import":       {finding(model.Unmanaged, "proxmox/qemu", "104", ""), remedy.Facts{Planned: true}, "no mapping table has the import ID"},
		"no root":         {finding(model.Unmanaged, "proxmox/qemu", "104", ""), remedy.Facts{Import: "import {}"}, "no Terraform root that driftd plans (engine: plan) governs prod"},
	} {
		why := remedy.Adoptable(tc.finding, tc.facts)
		if tc.want == "" && why != "" || !strings.Contains(why, tc.want) {
			t.Errorf("%s: got %q, want %q", name, why, tc.want)
		}
		offered := strings.Contains(text(remedy.For(tc.finding, tc.facts)), "driftd adopt 3f2a00000000 --to=FILE")
		if offered != (why == "") {
			t.Errorf("%s: the command is offered: %t, and adopt says %q", name, offered, why)
		}
	}
}

// TestUnprovenIsAdopted checks that a finding that is pending or bypassed can be adopted, and that
// this leaves the fields alone of which it is proven that the declaration moved.
func TestUnprovenIsAdopted(t *testing.T) {
	t.Parallel()
	f := finding(model.Pending, "kubernetes/ConfigMap", "shop/web", "web.yaml:1",
		model.Change{Path: "data.size", Declared: str("2"), Live: str("8"), Unproven: true}, model.Change{Path: "data.color", Declared: str("blue"), Live: str("red")})
	if adopted := remedy.Adopted(f); len(adopted.Changes) != 1 || adopted.Changes[0].Path != "data.size" || len(f.Changes) != 2 {
		t.Errorf("adopted: %+v", adopted.Changes)
	}
	s := remedy.For(f, remedy.Facts{Declared: "manifests"})
	want := remedy.Step{Title: "If the live system moved: edit the manifest web.yaml:1", Blocks: []remedy.Block{{Language: "yaml", Text: "data:\n  size: \"8\""},
		{Language: "sh", Text: "driftd adopt 3f2a00000000 --to=FILE"}}}
	if diff := cmp.Diff(want.Blocks, s.Adopt.Blocks); diff != "" || s.Adopt.Title != want.Title {
		t.Errorf("%s (-want +got):\n%s", s.Adopt.Title, diff)
	}
	f.Unproven = true
	if adopted := remedy.Adopted(f); len(adopted.Changes) != 2 {
		t.Errorf("all of an unproven finding: %+v", adopted.Changes)
	}
}

// TestInstead checks that a finding that is not adopted has the next step of its verdict.
func TestInstead(t *testing.T) {
	t.Parallel()
	for verdict, want := range map[model.Verdict]string{
		model.Pending:  "apply the declaration: see driftd suggest 3f2a",
		model.Missing:  "apply the declaration to create it again, or remove it from the declaration: see driftd suggest 3f2a",
		model.Conflict: "decide which of the three values is right, then commit it and apply: see driftd suggest 3f2a",
		model.Codified: "renew the record: apply, or refresh the state: see driftd suggest 3f2a",
		model.Changed:  "driftd suggest 3f2a says what to edit",
	} {
		if got := remedy.Instead(finding(verdict, "kubernetes/ConfigMap", "a/b", "x.yaml:1"), "driftd suggest 3f2a"); got != want {
			t.Errorf("%s: %q, want %q", verdict, got, want)
		}
	}
	over := finding(model.Changed, "kubernetes/ConfigMap", "a/b", "x.yaml:1")
	over.Resolved = time.Unix(1, 0)
	if got := remedy.Instead(over, "driftd suggest 3f2a"); got != "" {
		t.Errorf("a resolved finding: %q", got)
	}
}

// TestDangerIsNamed checks that the step that adopts an exposure begins with what it would declare,
// and that other findings have no such warning.
func TestDangerIsNamed(t *testing.T) {
	t.Parallel()
	open := model.Change{Path: "remote_ip_prefix", Declared: str("10.0.0.0/8"), Live: str("0.0.0.0/0"), Severity: model.Critical, Exposure: model.ExposesReach}
	f := finding(model.Changed, "openstack/security_group_rule", "r1", "openstack_networking_secgroup_rule_v2.ssh", open, model.Change{Path: "description", Live: str("x"), Severity: model.Low})
	f.Severity, f.Reason = model.Critical, "open to the world"
	facts := remedy.Facts{Declared: "terraform", Planned: true}
	s := remedy.For(f, facts)
	want := "This declares the critical finding to be right (open to the world): remote_ip_prefix = 0.0.0.0/0. Only if that is intended: edit the resource openstack_networking_secgroup_rule_v2.ssh"
	if s.Adopt.Title != want || s.Next != "Put it back; adopt or accept it only if it is intended" {
		t.Errorf("%q, next %q", s.Adopt.Title, s.Next)
	}
	secretly := *f
	secretly.Changes = []model.Change{{Path: "key", Live: secret("hunter2"), Secret: true, Severity: model.Critical}}
	if s := remedy.For(&secretly, facts); !strings.Contains(s.Adopt.Title, "key = (secret)") {
		t.Errorf("a secret: %q", s.Adopt.Title)
	}
	unmanaged := finding(model.Unmanaged, "openstack/security_group_rule", "r1", "")
	unmanaged.Severity, unmanaged.Reason = model.Critical, "open to the world"
	if s := remedy.For(unmanaged, remedy.Facts{}); !strings.HasPrefix(s.Adopt.Title, "This declares the critical finding to be right (open to the world). Only if") {
		t.Errorf("unmanaged: %q", s.Adopt.Title)
	}
	f.Severity, f.Changes[0].Exposure = model.Medium, ""
	if s := remedy.For(f, facts); strings.Contains(s.Adopt.Title, "Only if") {
		t.Errorf("medium: %q", s.Adopt.Title)
	}
}
