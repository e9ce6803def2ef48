package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
)

// maxAccount bounds the memory of a scan of an account.
const maxAccount = 500 * megabyte

const awsConfig = `
sources:
  - name: prod
    type: aws
    settings:
      endpoint: %q
      regions: [eu-central-1]
      services: [ec2]
      exclude_kinds: [AWS::EC2::SnapshotPermission]
      profile: bench
      credentials_file: credentials
      config_file: config
declarations:
  - {name: bench, type: terraform, governs: [prod], settings: {state: [empty.tfstate], unmanaged: []}}
`

// measureAWS measures reading an account of AWS with many resources, half of them rules of security groups.
func measureAWS(ctx context.Context, s scale, driftd, dir string) ([]result, error) {
	b := &netboxBench{runner{filepath.Join(dir, "aws"), s.runs}, driftd}
	if err := os.MkdirAll(b.dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder: %w", err)
	}
	account := &account{groups: max(1, s.rented/200)}
	server := serve(account)
	defer server.Close()
	if err := b.write(map[string]string{
		"driftd.yaml": fmt.Sprintf(awsConfig, server.URL), "empty.tfstate": emptyState,
		"credentials": "[bench]\naws_access_key_id = AKIABENCH\naws_secret_access_key = bench\n", "config": "[profile bench]\nregion = eu-central-1\n",
	}); err != nil {
		return nil, err
	}
	cost, err := b.scan(ctx, "account", 1)
	if err != nil {
		return nil, err
	}
	return []result{
		{what: fmt.Sprintf("driftd scan, %d resources of EC2, at most 20 requests per second", account.groups*groupSize), measured: cost.String()},
		{what: "  its requests", measured: strconv.Itoa(int(account.requests.Load()))},
		judged("  its memory", fmt.Sprintf("%d MB", cost.memory/megabyte), "under 500 MB", cost.memory < maxAccount),
	}, nil
}

// The resources of an account for each security group, with it.
const (
	rulesOfGroup     = 99
	volumesOfGroup   = 50
	snapshotsOfGroup = 50
	groupSize        = 1 + rulesOfGroup + volumesOfGroup + snapshotsOfGroup
)

// An account is a stand-in for EC2 that answers in the documented form, in pages.
type account struct {
	groups   int
	requests atomic.Int64
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.requests.Add(1)
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	action := r.PostForm.Get("Action")
	if action == "GetCallerIdentity" {
		_, _ = fmt.Fprint(w, `<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult><Arn>arn:aws:iam::123456789012:user/driftd</Arn>`+
			`<UserId>AIDABENCH</UserId><Account>123456789012</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`)
		return
	}
	l, ok := awsLists()[action]
	if !ok {
		l = awsList{set: emptySets()[action], row: func(int) string { return "" }}
	}
	var ids []string
	for name, values := range r.PostForm {
		if strings.HasPrefix(name, "Filter.1.Value.") {
			ids = append(ids, values...)
		}
	}
	total := a.groups * l.each
	if action == "DescribeSecurityGroupRules" {
		total = len(ids) * l.each
	}
	from, _ := strconv.Atoi(r.PostForm.Get("NextToken"))
	size, err := strconv.Atoi(r.PostForm.Get("MaxResults"))
	if err != nil {
		size = total
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<%[1]sResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/"><%[2]s>`, action, l.set)
	for i := from; i < min(from+size, total); i++ {
		number := i
		if len(ids) > 0 {
			group, _ := strconv.ParseInt(strings.TrimPrefix(ids[i/l.each], "sg-"), 16, 0)
			number = int(group)*l.each + i%l.each
		}
		b.WriteString("<item>" + l.row(number) + "</item>")
	}
	fmt.Fprintf(&b, "</%s>", l.set)
	if from+size < total {
		fmt.Fprintf(&b, "<nextToken>%d</nextToken>", from+size)
	}
	fmt.Fprintf(&b, "</%sResponse>", action)
	_, _ = fmt.Fprint(w, b.String())
}

// An awsList is a list of EC2: the element with its rows, their number for each security group, and their content.
type awsList struct {
	set  string
	each int
	row  func(i int) string
}

func awsLists() map[string]awsList {
	return map[string]awsList{
		"DescribeSecurityGroups": {"securityGroupInfo", 1, func(i int) string {
			return fmt.Sprintf(`<ownerId>123456789012</ownerId><groupId>sg-%017x</groupId><groupName>group-%d</groupName><groupDescription>bench</groupDescription><vpcId>vpc-0</vpcId>`+
				`<tagSet><item><key>team</key><value>team-%d</value></item></tagSet>`, i, i, i%20)
		}},
		"DescribeSecurityGroupRules": {"securityGroupRuleSet", rulesOfGroup, func(i int) string {
			return fmt.Sprintf(`<securityGroupRuleId>sgr-%017x</securityGroupRuleId><groupId>sg-%017x</groupId><groupOwnerId>123456789012</groupOwnerId><isEgress>false</isEgress>`+
				`<ipProtocol>tcp</ipProtocol><fromPort>%d</fromPort><toPort>%d</toPort><cidrIpv4>10.%d.%d.0/24</cidrIpv4><description>rule %d</description><tagSet/>`,
				i, i/rulesOfGroup, i%60000, i%60000, i/250%250, i%250, i)
		}},
		"DescribeVolumes": {"volumeSet", volumesOfGroup, func(i int) string {
			return fmt.Sprintf(`<volumeId>vol-%017x</volumeId><size>%d</size><snapshotId/><availabilityZone>eu-central-1a</availabilityZone><status>in-use</status><createTime>2026-01-01T00:00:00.000Z</createTime>`+
				`<volumeType>gp3</volumeType><encrypted>true</encrypted><tagSet><item><key>Name</key><value>volume-%d</value></item><item><key>team</key><value>team-%d</value></item></tagSet>`, i, i%1000+1, i, i%20)
		}},
		"DescribeSnapshots": {"snapshotSet", snapshotsOfGroup, func(i int) string {
			return fmt.Sprintf(`<snapshotId>snap-%017x</snapshotId><volumeId>vol-%017x</volumeId><status>completed</status><startTime>2026-01-01T00:00:00.000Z</startTime><progress>100%%</progress><ownerId>123456789012</ownerId>`+
				`<volumeSize>%d</volumeSize><description>daily</description><encrypted>true</encrypted><tagSet><item><key>team</key><value>team-%d</value></item></tagSet>`, i, i, i%1000+1, i%20)
		}},
	}
}

// emptySets returns the element with the rows of the lists without any.
func emptySets() map[string]string {
	return map[string]string{
		"DescribeVpcs": "vpcSet", "DescribeSubnets": "subnetSet", "DescribeRouteTables": "routeTableSet", "DescribeInternetGateways": "internetGatewaySet", "DescribeNatGateways": "natGatewaySet",
		"DescribeAddresses": "addressesSet", "DescribeNetworkAcls": "networkAclSet", "DescribeVpcEndpoints": "vpcEndpointSet", "DescribeVpcPeeringConnections": "vpcPeeringConnectionSet",
		"DescribeInstances": "reservationSet", "DescribeImages": "imagesSet", "DescribeKeyPairs": "keySet", "DescribeLaunchTemplates": "launchTemplates", "DescribeNetworkInterfaces": "networkInterfaceSet",
	}
}
