package plan

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestFamily checks which resources are parents of an aws_iam_role_policy. A refresh has found its
// inline policy on two roles.
func TestFamily(t *testing.T) {
	t.Parallel()
	type resource struct {
		address, typ string
		values       object
		dependsOn    []string
		expressions  object
		unread       bool
	}
	role := func(address, id, name string) resource {
		return resource{address: address, typ: "aws_iam_role", values: object{"id": id, "name": name, "arn": "arn:" + id}}
	}
	policy := func(address, role string, dependsOn ...string) resource {
		return resource{address: address, typ: "aws_iam_role_policy", dependsOn: dependsOn,
			values: object{"id": role + ":read", "name": "read", "policy": "{}", "role": role}}
	}
	written := policy("aws_iam_role_policy.p", "one")
	written.expressions = object{"role": object{"references": []string{"aws_iam_role.a.name", "aws_iam_role.a"}}}
	unread := policy("aws_iam_role_policy.p", "one", "aws_iam_role.a")
	unread.unread = true
	for reason, tt := range map[string]struct {
		roles [2]resource
		child resource
		// silent are the roles without findings.
		silent []string
	}{
		"by its ID, as instances of one resource": {[2]resource{role(`aws_iam_role.a["x"]`, "one", "n"), role(`aws_iam_role.a["y"]`, "two", "m")},
			policy(`aws_iam_role_policy.p["x"]`, "one", "aws_iam_role.a"), []string{`aws_iam_role.a["x"]`}},
		"in a module": {[2]resource{role(`module.m["k"].aws_iam_role.a`, "one", "n"), role("aws_iam_role.b", "two", "m")},
			policy("aws_iam_role_policy.p", "one", "module.m.aws_iam_role.a"), []string{`module.m["k"].aws_iam_role.a`}},
		"by a name that two have, with the dependency of the state": {[2]resource{role("aws_iam_role.a", "one", "n"), role("aws_iam_role.b", "two", "n")},
			policy("aws_iam_role_policy.p", "n", "aws_iam_role.b"), []string{"aws_iam_role.b"}},
		"by an ID that two have in two accounts": {[2]resource{role("aws_iam_role.a", "one", "one"), role("aws_iam_role.b", "one", "one")},
			policy("aws_iam_role_policy.p", "one", "aws_iam_role.b"), []string{"aws_iam_role.b"}},
		"by an ID that is written out": {[2]resource{role("aws_iam_role.a", "one", "n"), role("aws_iam_role.b", "two", "m")},
			policy("aws_iam_role_policy.p", "two"), []string{"aws_iam_role.b"}},
		"by an expression, without a dependency in the state": {[2]resource{role("aws_iam_role.a", "x", "one"), role("aws_iam_role.b", "two", "m")},
			written, []string{"aws_iam_role.a"}},
		"a name that is written out": {[2]resource{role("aws_iam_role.a", "x", "one"), role("aws_iam_role.b", "y", "m")},
			policy("aws_iam_role_policy.p", "one"), nil},
		"of neither": {[2]resource{role("aws_iam_role.a", "one", "n"), role("aws_iam_role.b", "two", "m")},
			policy("aws_iam_role_policy.p", "three", "aws_iam_role.a", "aws_iam_role.b"), nil},
		"of a child that could not be read, only the record": {[2]resource{role("aws_iam_role.a", "one", "n"), role("aws_iam_role.b", "two", "m")},
			unread, []string{"aws_iam_role.a"}},
	} {
		const provider = "registry.terraform.io/hashicorp/aws"
		var drift, changes, recorded []any
		as := func(r resource) object { return object{"type": r.typ, "provider_name": provider} }
		for _, r := range tt.roles {
			found := object{"inline_policy": []any{object{"name": "read", "policy": "{}"}}}
			before := object{"inline_policy": []any{}}
			for name, v := range r.values {
				found[name], before[name] = v, v
			}
			drift = append(drift, change(r.address, "update", before, found, as(r)))
			changes = append(changes, change(r.address, "no-op", found, found, as(r)))
		}
		if !tt.child.unread {
			changes = append(changes, change(tt.child.address, "no-op", tt.child.values, tt.child.values, as(tt.child)))
		}
		recorded = append(recorded, object{"address": tt.child.address, "mode": "managed", "type": tt.child.typ, "name": "p", "provider_name": provider,
			"schema_version": 0, "values": tt.child.values, "depends_on": tt.child.dependsOn})
		configuration := func(address, typ string, expressions object) object {
			return object{"address": address, "mode": "managed", "type": typ, "name": "p", "expressions": expressions, "schema_version": 0}
		}
		p := decoded(t, object{"resource_drift": drift, "resource_changes": changes, "errored": tt.child.unread,
			"prior_state": object{"format_version": "1.0", "values": object{"root_module": object{"resources": recorded}}},
			"configuration": object{"root_module": object{
				"resources": []any{configuration("aws_iam_role_policy.p", "aws_iam_role_policy", tt.child.expressions),
					configuration("aws_iam_role.a", "aws_iam_role", nil), configuration("aws_iam_role.b", "aws_iam_role", nil)},
				"module_calls": object{"m": object{"module": object{"resources": []any{configuration("aws_iam_role.a", "aws_iam_role", nil)}}}}}}})
		s, err := DecodeSchemas(bytes.NewReader(newFixture(t, "aws").schemas), p)
		if err != nil {
			t.Fatal(err)
		}
		var silent []string
		for _, i := range Read(Input{Plan: p, Schemas: s, Blocks: map[string]Blocks{"aws_iam_role.a": {}, "aws_iam_role.b": {}, "module.m.aws_iam_role.a": {}}}, sealer()).Instances {
			if i.Type == "aws_iam_role" && len(judged(i)) == 0 {
				silent = append(silent, i.Address)
			}
		}
		if d := cmp.Diff(tt.silent, silent); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}
