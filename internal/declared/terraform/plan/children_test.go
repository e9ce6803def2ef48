package plan

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// A fixture is a plan after one apply, as from terraform show -json. A refresh has added to each
// parent the elements that its children declare.
type fixture struct {
	t       *testing.T
	plan    map[string]any
	schemas []byte
	ignores map[string]syntax.Ignored
}

func newFixture(t *testing.T, name string) *fixture {
	t.Helper()
	f := &fixture{t: t, ignores: map[string]syntax.Ignored{}}
	text, err := os.ReadFile("testdata/fresh_" + name + "_plan.json")
	if err == nil {
		err = json.Unmarshal(text, &f.plan)
	}
	if err == nil {
		f.schemas, err = os.ReadFile("testdata/fresh_" + name + "_schemas.json")
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// list returns the list in the plan at path.
func (f *fixture) list(path ...string) (owner map[string]any, list []any) {
	owner = f.plan
	for _, step := range path[:len(path)-1] {
		owner = owner[step].(map[string]any)
	}
	list, _ = owner[path[len(path)-1]].([]any)
	return owner, list
}

func (f *fixture) find(address string, path ...string) map[string]any {
	_, list := f.list(path...)
	for _, item := range list {
		if o := item.(map[string]any); o["address"] == address {
			return o
		}
	}
	return nil
}

// drop removes the entry with the address from the list at path.
func (f *fixture) drop(address string, path ...string) {
	owner, list := f.list(path...)
	owner[path[len(path)-1]] = slices.DeleteFunc(list, func(item any) bool { return item.(map[string]any)["address"] == address })
}

var prior = []string{"prior_state", "values", "root_module", "resources"}

// live returns the live value of a resource.
func (f *fixture) live(address string) map[string]any {
	return f.find(address, "resource_changes")["change"].(map[string]any)["after"].(map[string]any)
}

// edit changes the live value of a resource.
func (f *fixture) edit(address string, fields object) {
	drift, live := f.find(address, "resource_drift"), f.live(address)
	if drift == nil {
		f.plan["resource_drift"] = append(f.plan["resource_drift"].([]any), f.copied(f.find(address, "resource_changes")))
		drift = f.find(address, "resource_drift")
	}
	drift["change"].(map[string]any)["actions"] = []any{"update"}
	change := drift["change"].(map[string]any)
	for name, v := range fields {
		live[name] = v
	}
	change["after"] = live
	f.find(address, "resource_changes")["change"].(map[string]any)["before"] = live
	f.find(address, prior...)["values"] = live
}

// declare changes the declared value of a resource.
func (f *fixture) declare(address string, fields object) {
	change := f.find(address, "resource_changes")["change"].(map[string]any)
	after := f.copied(change["after"]).(map[string]any)
	for name, v := range fields {
		after[name] = v
	}
	change["after"], change["actions"] = after, []any{"update"}
}

func (f *fixture) copied(v any) (out any) {
	if err := json.Unmarshal([]byte(encode(f.t, v)), &out); err != nil {
		f.t.Fatal(err)
	}
	return out
}

// remove removes the live value of a resource.
func (f *fixture) remove(address string) {
	f.edit(address, nil)
	change := f.find(address, "resource_drift")["change"].(map[string]any)
	change["after"], change["actions"] = nil, []any{"delete"}
	planned := f.find(address, "resource_changes")["change"].(map[string]any)
	planned["before"], planned["actions"] = nil, []any{"create"}
	f.drop(address, prior...)
}

// destroy removes a resource as an apply does.
func (f *fixture) destroy(addresses ...string) {
	for _, address := range addresses {
		for _, path := range [][]string{{"resource_drift"}, {"resource_changes"}, prior, {"configuration", "root_module", "resources"}} {
			f.drop(address, path...)
		}
	}
}

// apply changes the live and the recorded value of a resource.
func (f *fixture) apply(address string, fields object) {
	f.edit(address, fields)
	f.drop(address, "resource_drift")
	change := f.find(address, "resource_changes")["change"].(map[string]any)
	change["after"], change["before"] = f.find(address, prior...)["values"], f.find(address, prior...)["values"]
}

// refreshed records the live values, as an apply does.
func (f *fixture) refreshed() { f.plan["resource_drift"] = []any{} }

// rest returns the elements of a list of a resource, except those for which without returns true.
func (f *fixture) rest(address, name string, without func(map[string]any) bool) []any {
	list := slices.Clone(f.live(address)[name].([]any))
	return slices.DeleteFunc(list, func(item any) bool { return without(item.(map[string]any)) })
}

// more returns a list of a resource with an additional element.
func (f *fixture) more(address, name string, item any) []any {
	list, _ := f.live(address)[name].([]any)
	return append(slices.Clone(list), item)
}

// findings returns the findings of all instances.
func (f *fixture) findings() []string {
	f.t.Helper()
	p, err := Decode(strings.NewReader(encode(f.t, f.plan)))
	if err != nil {
		f.t.Fatal(err)
	}
	s, err := DecodeSchemas(bytes.NewReader(f.schemas), p)
	if err != nil {
		f.t.Fatal(err)
	}
	blocks := map[string]Blocks{}
	_, resources := f.list("configuration", "root_module", "resources")
	for _, r := range resources {
		blocks[r.(map[string]any)["address"].(string)] = Blocks{}
	}
	lines := []string{}
	for _, i := range Read(Input{Plan: p, Schemas: s, Blocks: blocks, Ignored: f.ignores}, sealer()).Instances {
		for _, line := range judged(i) {
			lines = append(lines, i.Address+": "+line)
		}
	}
	return lines
}

// TestFreshParents reads the first plan after an apply. Each parent has the elements that its
// children declare, which is no drift.
func TestFreshParents(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"aws", "azure", "google"} {
		f := newFixture(t, name)
		if d := cmp.Diff([]string{}, f.findings()); d != "" {
			t.Errorf("%s, after an apply (-want +got):\n%s", name, d)
		}
		f.refreshed()
		if d := cmp.Diff([]string{}, f.findings()); d != "" {
			t.Errorf("%s, after another refresh (-want +got):\n%s", name, d)
		}
	}
}

const group, role, bucket = "aws_security_group.web", "aws_iam_role.web", "aws_s3_bucket.shop"

func sgRule(from, to int, cidrs ...any) object {
	return object{"from_port": from, "to_port": to, "protocol": "tcp", "cidr_blocks": append([]any{}, cidrs...), "ipv6_cidr_blocks": []any{},
		"prefix_list_ids": []any{}, "security_groups": []any{}, "self": false, "description": ""}
}

// shownRule returns sgRule in the form of a finding.
func shownRule(from, to, cidrs string) string {
	return `{"cidr_blocks":[` + cidrs + `],"description":"","from_port":` + from + `,"ipv6_cidr_blocks":[],"prefix_list_ids":[],"protocol":"tcp","security_groups":[],"self":false,"to_port":` + to + `}`
}

func shownRoute(to, gateway string) string {
	return `{"cidr_block":"` + to + `","destination_prefix_list_id":"","gateway_id":"` + gateway + `","ipv6_cidr_block":"","nat_gateway_id":"","network_interface_id":"","transit_gateway_id":""}`
}

// TestEditedParents checks manual changes: those of declared elements are findings only of the
// child, those of other elements only of the parent.
func TestEditedParents(t *testing.T) {
	t.Parallel()
	const policy = `{"Statement":[{"Action":"*","Effect":"Allow","Resource":"*"}]}`
	for reason, tt := range map[string]struct {
		// recorded is set if the state already has the parents' copies.
		recorded bool
		edit     func(f *fixture)
		want     []string
	}{
		"an inline policy added by hand": {edit: func(f *fixture) {
			f.edit(role, object{"inline_policy": f.more(role, "inline_policy", object{"name": "admin", "policy": policy})})
		}, want: []string{`aws_iam_role.web: changed inline_policy: declared [], recorded [], live [{"name":"admin","policy":"` + strings.ReplaceAll(policy, `"`, `\"`) + `"}]`}},
		"a policy of another name with what a child declares": {edit: func(f *fixture) {
			f.edit(role, object{"inline_policy": f.more(role, "inline_policy", object{"name": "copy", "policy": f.live("aws_iam_role_policy.read")["policy"]})})
		}, want: []string{`aws_iam_role.web: changed inline_policy: declared [], recorded [], live [{"name":"copy","policy":"` + strings.ReplaceAll(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["*"]}]}`, `"`, `\"`) + `"}]`}},
		"the policy of a child edited": {recorded: true, edit: func(f *fixture) {
			f.edit("aws_iam_role_policy.read", object{"policy": policy})
			f.declare("aws_iam_role_policy.read", object{"policy": `{"Statement":[]}`})
			f.edit(role, object{"inline_policy": []any{object{"name": "read", "policy": policy}}})
		}, want: []string{`aws_iam_role_policy.read: conflict policy: declared {"Statement":[]}, recorded {"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:GetObject"],"Resource":["*"]}]}, live ` + policy}},
		"the policy of a child removed": {recorded: true, edit: func(f *fixture) {
			f.remove("aws_iam_role_policy.read")
			f.edit(role, object{"inline_policy": []any{}})
		}, want: []string{"aws_iam_role_policy.read: missing"}},
		"a policy attached by hand": {edit: func(f *fixture) {
			f.edit(role, object{"managed_policy_arns": f.more(role, "managed_policy_arns", "arn:aws:iam::aws:policy/AdministratorAccess")})
		}, want: []string{`aws_iam_role.web: changed managed_policy_arns: declared [], recorded [], live ["arn:aws:iam::aws:policy/AdministratorAccess"]`}},
		"a rule added by hand": {edit: func(f *fixture) {
			f.edit(group, object{"ingress": f.more(group, "ingress", sgRule(22, 22, "0.0.0.0/0"))})
		}, want: []string{group + ": changed ingress: declared [], recorded [], live [" + shownRule("22", "22", `"0.0.0.0/0"`) + "]"}},
		"a network added to a declared rule": {edit: func(f *fixture) {
			rest := f.rest(group, "ingress", func(o map[string]any) bool { return o["from_port"] == 80.0 })
			f.edit(group, object{"ingress": append(rest, sgRule(80, 80, "10.0.0.0/8", "192.168.0.0/16", "0.0.0.0/0"))})
		}, want: []string{group + ": changed ingress: declared [], recorded [], live [" + shownRule("80", "80", `"0.0.0.0/0"`) + "]"}},
		"a wider range than a declared one": {edit: func(f *fixture) {
			f.edit(group, object{"ingress": f.more(group, "ingress", sgRule(0, 80, "10.0.0.0/8"))})
		}, want: []string{group + ": changed ingress: declared [], recorded [], live [" + shownRule("0", "80", `"10.0.0.0/8"`) + "]"}},
		"a declared rule in the other direction": {edit: func(f *fixture) {
			f.edit(group, object{"egress": f.more(group, "egress", sgRule(80, 80, "10.0.0.0/8"))})
		}, want: []string{group + ": changed egress: declared [], recorded [], live [" + shownRule("80", "80", `"10.0.0.0/8"`) + "]"}},
		"a declared rule on another group": {edit: func(f *fixture) {
			f.edit("aws_security_group.lb", object{"ingress": []any{sgRule(80, 80, "10.0.0.0/8")}})
		}, want: []string{"aws_security_group.lb: changed ingress: declared [], recorded [], live [" + shownRule("80", "80", `"10.0.0.0/8"`) + "]"}},
		"a rule that only an import block is about to record": {edit: func(f *fixture) {
			f.find("aws_security_group_rule.office", "resource_changes")["change"].(map[string]any)["importing"] = object{"id": "x"}
		}, want: []string{group + ": changed ingress: declared [], recorded [], live [" + shownRule("80", "80", `"10.0.0.0/8"`) + "]",
			"aws_security_group_rule.office: waits: import block: the next apply takes x into the state"}},
		"a child that no apply has made": {edit: func(f *fixture) {
			change := f.find("aws_security_group_rule.home", "resource_changes")["change"].(map[string]any)
			change["before"], change["actions"] = nil, []any{"create"}
			f.drop("aws_security_group_rule.home", prior...)
		}, want: []string{group + ": changed ingress: declared [], recorded [], live [" + shownRule("80", "80", `"192.168.0.0/16"`) + "]",
			"aws_security_group_rule.home: waits: declared and never applied: the next apply creates it"}},
		"children changed and destroyed by an apply": {recorded: true, edit: func(f *fixture) {
			f.destroy("aws_security_group_rule.office", "aws_security_group_rule.home", "aws_iam_role_policy.read", "aws_iam_role_policy_attachment.read", "aws_eip_association.web")
			f.edit(group, object{"ingress": f.rest(group, "ingress", func(o map[string]any) bool { return o["from_port"] == 80.0 })})
			f.edit(role, object{"inline_policy": []any{}, "managed_policy_arns": []any{}})
			f.edit("aws_eip.web", object{"instance": ""})
			f.apply("aws_route.default", object{"gateway_id": "igw-2"})
			route := f.copied(f.live("aws_route_table.web")["route"]).([]any)
			route[0].(map[string]any)["gateway_id"] = "igw-2"
			f.edit("aws_route_table.web", object{"route": route})
		}, want: []string{}},
		"a route to elsewhere": {recorded: true, edit: func(f *fixture) {
			route := f.copied(f.live("aws_route_table.web")["route"].([]any)[0]).(map[string]any)
			route["cidr_block"], route["gateway_id"] = "10.9.0.0/16", "vgw-9"
			f.edit("aws_route_table.web", object{"route": f.more("aws_route_table.web", "route", route)})
		}, want: []string{"aws_route_table.web: changed route: declared [" + shownRoute("0.0.0.0/0", "igw-1") + "], recorded [" + shownRoute("0.0.0.0/0", "igw-1") +
			"], live [" + shownRoute("0.0.0.0/0", "igw-1") + "," + shownRoute("10.9.0.0/16", "vgw-9") + "]"}},
		"versioning suspended": {recorded: true, edit: func(f *fixture) {
			f.edit(bucket, object{"versioning": []any{object{"enabled": false, "mfa_delete": false}}})
			f.edit("aws_s3_bucket_versioning.shop", object{"versioning_configuration": []any{object{"status": "Suspended", "mfa_delete": ""}}})
			f.declare("aws_s3_bucket_versioning.shop", object{"versioning_configuration": []any{object{"status": "Enabled", "mfa_delete": ""}}})
		}, want: []string{"aws_s3_bucket_versioning.shop: changed versioning_configuration[0].status: declared Enabled, recorded Enabled, live Suspended"}},
		"versioning suspended, as destroying its resource does": {recorded: true, edit: func(f *fixture) {
			f.destroy("aws_s3_bucket_versioning.shop")
			f.edit(bucket, object{"versioning": []any{object{"enabled": false, "mfa_delete": false}}})
		}, want: []string{}},
		"a website added by hand where nothing declares one": {edit: func(f *fixture) {
			f.destroy("aws_s3_bucket_website_configuration.shop")
		}, want: []string{`aws_s3_bucket.shop: changed website: declared [], recorded [], live [{"error_document":"","index_document":"index.html"}]`}},
		"a status that a child of something else has": {edit: func(f *fixture) {
			f.destroy("aws_s3_bucket_accelerate_configuration.shop")
		}, want: []string{`aws_s3_bucket.shop: changed acceleration_status: declared , recorded , live Enabled`}},
		"a volume attached by hand": {edit: func(f *fixture) {
			f.edit("aws_instance.web", object{"ebs_block_device": f.more("aws_instance.web", "ebs_block_device",
				object{"device_name": "/dev/sdg", "volume_id": "vol-9", "volume_size": 20, "volume_type": "gp3", "encrypted": true, "delete_on_termination": false})})
		}, want: []string{`aws_instance.web: changed ebs_block_device: declared [], recorded [], live [{"delete_on_termination":false,"device_name":"/dev/sdg","encrypted":true,"volume_size":20,"volume_type":"gp3"}]`}},
		"a block with a value that was never recorded": {edit: func(f *fixture) {
			f.edit("aws_instance.web", object{"enclave_options": []any{object{"enabled": true}}})
		}, want: []string{`aws_instance.web: changed enclave_options: declared [], recorded [], live [{"enabled":true}]`}},
		"metadata options edited": {recorded: true, edit: func(f *fixture) {
			f.edit("aws_instance.web", object{"metadata_options": []any{object{"http_endpoint": "enabled", "http_tokens": "optional"}}})
		}, want: []string{"aws_instance.web: changed metadata_options[0].http_tokens: declared required, recorded required, live optional"}},
		"an address moved by hand": {recorded: true, edit: func(f *fixture) {
			f.edit("aws_eip.web", object{"instance": "i-9"})
		}, want: []string{"aws_eip.web: changed instance: declared i-1, recorded i-1, live i-9"}},
	} {
		f := newFixture(t, "aws")
		if tt.recorded {
			f.refreshed()
		}
		tt.edit(f)
		if d := cmp.Diff(tt.want, f.findings()); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}
