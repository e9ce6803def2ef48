package catalogue

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// listed returns the page of rows that an operation lists.
func listed(t *testing.T, action string, rows ...model.Value) (page Page) {
	t.Helper()
	for _, row := range rows {
		for _, k := range listOfAction(t, action).Kinds {
			if err := page.Add(k, row, attachedEnv(), nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	return page
}

// TestMade checks which resources are known to be made by others: the interfaces of a NAT gateway and of an endpoint, and the
// key of an alias that only AWS can create.
func TestMade(t *testing.T) {
	t.Parallel()
	field := func(name string, items ...model.Value) model.Value {
		return model.MapOf(model.Field{Name: name, Value: model.ListOf(items...)})
	}
	with := func(row model.Value, pairs ...string) model.Value {
		for _, f := range textMap(pairs...).Fields() {
			row = row.With(f.Name, f.Value)
		}
		return row
	}
	const alias, key = "arn:aws:kms:eu-central-1:" + account + ":alias/", "arn:aws:kms:eu-central-1:" + account + ":key/"
	pages := []Page{
		listed(t, "DescribeNatGateways", with(field("natGatewayAddressSet", textMap("networkInterfaceId", "eni-1"), textMap("networkInterfaceId", "eni-2")), "natGatewayId", "nat-1")),
		listed(t, "DescribeVpcEndpoints", with(field("networkInterfaceIdSet", model.StringOf("eni-3")), "vpcEndpointId", "vpce-1")),
		listed(t, "DescribeNetworkInterfaces", textMap("networkInterfaceId", "eni-1"), textMap("networkInterfaceId", "eni-2"), textMap("networkInterfaceId", "eni-3"), textMap("networkInterfaceId", "eni-4")),
		listed(t, "DescribeKey", textMap("KeyId", "k-1", "Arn", key+"k-1", "KeyManager", "CUSTOMER"), textMap("KeyId", "k-2", "Arn", key+"k-2", "KeyManager", "CUSTOMER")),
		listed(t, "ListAliases", textMap("AliasName", "alias/aws/ebs", "AliasArn", alias+"aws/ebs", "TargetKeyId", "k-1"),
			textMap("AliasName", "alias/aws", "AliasArn", alias+"aws", "TargetKeyId", "k-2"), textMap("AliasName", "alias/aws/s3", "AliasArn", alias+"aws/s3")),
	}
	resources, _ := Join(pages, nil, func(string, string) string { return "" })
	var got []string
	for i := range resources {
		if r := &resources[i]; len(r.Makers) > 0 {
			got = append(got, fmt.Sprintf("%s by %s", r.ID, r.Makers))
		}
	}
	slices.Sort(got)
	want := []string{
		key + "k-1 by [{aws/AWS::KMS::Alias " + alias + "aws/ebs}]",
		"eni-1 by [{aws/AWS::EC2::NatGateway nat-1}]", "eni-2 by [{aws/AWS::EC2::NatGateway nat-1}]", "eni-3 by [{aws/AWS::EC2::VPCEndpoint vpce-1}]",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("made resources (-want +got):\n%s", diff)
	}
}

// TestReplicas checks that a key and its replica in another region, which have one ID, are two resources.
func TestReplicas(t *testing.T) {
	t.Parallel()
	var page []Page
	var want []string
	for _, region := range []string{"eu-central-1", "us-west-2"} {
		arn := "arn:aws:kms:" + region + ":" + account + ":key/mrk-1"
		page, want = append(page, listed(t, "DescribeKey", textMap("KeyId", "mrk-1", "Arn", arn))), append(want, arn)
	}
	resources, _ := Join(page, nil, func(string, string) string { return "" })
	var got []string
	for i := range resources {
		got = append(got, resources[i].ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

// TestDefaultRoute checks that of the routes of the default VPC only that from its main table to an Internet gateway is a default of AWS.
func TestDefaultRoute(t *testing.T) {
	t.Parallel()
	const world = "0.0.0.0/0"
	for reason, tt := range map[string]struct {
		main, destination, field, target string
		usual                            bool
	}{
		"the route that AWS creates":        {"true", world, "gatewayId", "igw-1", true},
		"a virtual private gateway":         {"true", world, "gatewayId", "vgw-1", false},
		"an endpoint of a Gateway Balancer": {"true", world, "gatewayId", "vpce-1", false},
		"a NAT gateway":                     {"true", world, "natGatewayId", "nat-1", false},
		"an interface":                      {"true", world, "networkInterfaceId", "eni-1", false},
		"a peering connection":              {"true", world, "vpcPeeringConnectionId", "pcx-1", false},
		"a transit gateway":                 {"true", world, "transitGatewayId", "tgw-1", false},
		"another network":                   {"true", "10.0.0.0/8", "gatewayId", "igw-1", false},
		"a table other than the main one":   {"false", world, "gatewayId", "igw-1", false},
	} {
		list := func(name string, item model.Value) model.Field {
			return model.Field{Name: name, Value: model.ListOf(item)}
		}
		row := model.MapOf(list("routeSet", textMap("destinationCidrBlock", tt.destination, tt.field, tt.target, "origin", "CreateRoute")),
			list("associationSet", textMap("main", tt.main, "routeTableAssociationId", "rtbassoc-1")),
			model.Field{Name: "routeTableId", Value: model.StringOf("rtb-1")}, model.Field{Name: "vpcId", Value: model.StringOf("vpc-1")})
		pages := []Page{listed(t, "DescribeVpcs", textMap("vpcId", "vpc-1", "isDefault", "true")), listed(t, "DescribeRouteTables", row)}
		resources, _ := Join(pages, nil, func(string, string) string { return "" })
		at := slices.IndexFunc(resources, func(r model.Resource) bool { return r.Kind == prefix+"EC2::Route" })
		if at < 0 {
			t.Errorf("%s: no route in %v", reason, resources)
		} else if r := &resources[at]; (r.SystemOwned != "") != tt.usual || r.DeclaredInParent != tt.usual {
			t.Errorf("%s: created by AWS: %q, want %t", reason, r.SystemOwned, tt.usual)
		}
	}
}
