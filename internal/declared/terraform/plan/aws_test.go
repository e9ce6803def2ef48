package plan

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/syntax"
)

// awsSchemas is an excerpt of the schemas of hashicorp/aws.
const awsSchemas = `{"format_version":"1.0","provider_schemas":{"registry.terraform.io/hashicorp/aws":{"resource_schemas":{
"aws_lambda_function":{"version":0,"block":{"attributes":{
 "id":{"type":"string","optional":true,"computed":true},
 "function_name":{"type":"string","required":true},
 "filename":{"type":"string","optional":true},
 "source_code_hash":{"type":"string","optional":true,"computed":true},
 "code_sha256":{"type":"string","computed":true},
 "last_modified":{"type":"string","computed":true}}}},
"aws_route_table":{"version":0,"block":{"attributes":{
 "id":{"type":"string","optional":true,"computed":true},
 "vpc_id":{"type":"string","required":true},
 "route":{"type":["set",["object",{"cidr_block":"string","ipv6_cidr_block":"string","destination_prefix_list_id":"string","gateway_id":"string","nat_gateway_id":"string"}]],"optional":true,"computed":true}}}}
}}}}`

// awsPlan reads a plan of one resource whose live value a refresh changed.
func awsPlan(t *testing.T, typ string, before, live, after, expressions object, ignored ...string) []string {
	t.Helper()
	address := typ + ".web"
	as := object{"type": typ, "provider_name": "registry.terraform.io/hashicorp/aws"}
	action := "update"
	if encode(t, live) == encode(t, after) {
		action = "no-op"
	}
	p := decoded(t, object{"resource_drift": []any{change(address, "update", before, live, as)},
		"resource_changes": []any{change(address, action, live, after, as)},
		"configuration": object{"root_module": object{"resources": []any{object{"address": address, "mode": "managed", "type": typ, "name": "web",
			"expressions": expressions, "schema_version": 0}}}}})
	s, err := DecodeSchemas(bytes.NewReader([]byte(awsSchemas)), p)
	if err != nil {
		t.Fatal(err)
	}
	ignores := map[string]syntax.Ignored{address: {Paths: [][]string{ignored}}}
	if ignored == nil {
		ignores = nil
	}
	return judged(Read(Input{Plan: p, Schemas: s, Ignored: ignores, Blocks: map[string]Blocks{address: {}}}, sealer()).Instances[0])
}

// TestLambdaCode checks that code which was changed by hand is found: the provider refreshes only
// code_sha256, and not source_code_hash.
func TestLambdaCode(t *testing.T) {
	t.Parallel()
	function := func(hash, sha string) object {
		return object{"id": "web", "function_name": "web", "filename": "web.zip", "source_code_hash": hash, "code_sha256": sha, "last_modified": "at " + sha}
	}
	written := object{"function_name": constant("web"), "filename": constant("web.zip"), "source_code_hash": object{"references": []string{"data.archive_file.web"}}}
	unwritten := object{"function_name": constant("web"), "filename": constant("web.zip")}
	rewritten := function("A=", "A=")
	rewritten["last_modified"] = "now"
	for reason, tt := range map[string]struct {
		before, live, after, config object
		ignored                     []string
		want                        []string
	}{
		"changed by hand": {before: function("A=", "A="), live: function("A=", "B="), after: function("A=", "B="), config: written,
			want: []string{"changed source_code_hash: declared A=, recorded A=, live B="}},
		"the hash has another notation": {before: function("md5", "A="), live: function("md5", "B="), after: function("md5", "B="), config: written,
			want: []string{"changed source_code_hash: declared md5, recorded md5, live B="}},
		"declared, not applied yet": {before: function("A=", "A="), live: function("A=", "A="), after: function("C=", "A="), config: written,
			want: []string{"pending source_code_hash: declared C=, recorded A=, live A="}},
		"deployed by hand as it is declared now": {before: function("A=", "A="), live: function("A=", "C="), after: function("C=", "C="), config: written,
			want: []string{"codified source_code_hash: declared C=, recorded A=, live C="}},
		"changed by hand and declared anew": {before: function("A=", "A="), live: function("A=", "B="), after: function("C=", "B="), config: written,
			want: []string{"conflict source_code_hash: declared C=, recorded A=, live B="}},
		"an older provider refreshes the hash itself": {before: function("A=", "A="), live: function("B=", "B="), after: function("A=", "B="), config: written,
			want: []string{"changed source_code_hash: declared A=, recorded A=, live B="}},
		"deployed by something else":                    {before: function("A=", "A="), live: function("A=", "B="), after: function("A=", "B="), config: unwritten, want: []string{}},
		"deployed by another tool, with ignore_changes": {before: function("A=", "A="), live: function("A=", "B="), after: function("A=", "B="), config: written, ignored: []string{"source_code_hash"}, want: []string{}},
		"the code is as it was, its date is not":        {before: function("A=", "A="), live: rewritten, after: rewritten, config: written, want: []string{}},
	} {
		if d := cmp.Diff(tt.want, awsPlan(t, "aws_lambda_function", tt.before, tt.live, tt.after, tt.config, tt.ignored...)); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}

// TestRoutes checks that routes are matched by their destination.
func TestRoutes(t *testing.T) {
	t.Parallel()
	route := func(to, gateway, nat string) object {
		return object{"cidr_block": to, "ipv6_cidr_block": "", "destination_prefix_list_id": "", "gateway_id": gateway, "nat_gateway_id": nat}
	}
	table := func(routes ...any) object { return object{"id": "rtb-1", "vpc_id": "vpc-1", "route": routes} }
	for reason, tt := range map[string]struct {
		live object
		want []string
	}{
		"another gateway": {table(route("0.0.0.0/0", "", "nat-1")),
			[]string{"changed route[0].gateway_id: declared igw-1, recorded igw-1, live ", "changed route[0].nat_gateway_id: declared , recorded , live nat-1"}},
		"the default route deleted, another one added": {table(route("10.0.0.0/8", "igw-1", "")), []string{
			`changed route[0]: declared {"cidr_block":"0.0.0.0/0","destination_prefix_list_id":"","gateway_id":"igw-1","ipv6_cidr_block":"","nat_gateway_id":""}, recorded {"cidr_block":"0.0.0.0/0","destination_prefix_list_id":"","gateway_id":"igw-1","ipv6_cidr_block":"","nat_gateway_id":""}, live -`,
			`changed route[1]: declared -, recorded -, live {"cidr_block":"10.0.0.0/8","destination_prefix_list_id":"","gateway_id":"igw-1","ipv6_cidr_block":"","nat_gateway_id":""}`}},
	} {
		got := awsPlan(t, "aws_route_table", table(route("0.0.0.0/0", "igw-1", "")), tt.live, tt.live, object{"vpc_id": constant("vpc-1")})
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", reason, d)
		}
	}
}
