package aws

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/model"
)

// Link returns the page of a resource in the console of AWS; "" if there is none, or if the resource or the region is not known.
// Other servers have other consoles.
func (c *inventory) Link(r model.Ref) string {
	if c.config.Endpoint != "" || r.ID == "" {
		return ""
	}
	if setting, ok := strings.CutPrefix(r.Kind, normalize.Bucket); ok {
		return c.bucketLink(r.ID, setting)
	}
	owner, name := r.ID, r.ID[strings.LastIndexAny(r.ID, "/:")+1:]
	region := c.config.onlyRegion()
	if arn := strings.SplitN(r.ID, ":", 6); len(arn) == 6 && arn[0] == "arn" {
		region = arn[3]
	} else if end := strings.IndexAny(r.ID, ":/"); end >= 0 {
		owner = r.ID[:end]
	}
	page := pages()[strings.TrimPrefix(r.Kind, Type+"/AWS::")]
	if page == "" || strings.Contains(page, "{region}") && !isRegion(region) || c.config.firstRegion() == "" {
		return ""
	}
	fill := strings.NewReplacer("{region}", region, "{owner}", url.PathEscape(owner), "{name}", url.PathEscape(name))
	return "https://" + console(c.config.firstRegion()) + fill.Replace(page)
}

// pages returns the pages of the console by kind. "{name}" is the last part of the ID, such as of an ARN, and "{owner}" the ID
// as far as it names a user, role, group, list or image that has a policy, entry or permission.
func pages() map[string]string {
	const ec2, vpc, iam = "/ec2/home?region={region}#", "/vpcconsole/home?region={region}#", "/iam/home#/"
	all := map[string]string{
		"EC2::Instance": ec2 + "InstanceDetails:instanceId={owner}", "EC2::Volume": ec2 + "VolumeDetails:volumeId={owner}",
		"EC2::SecurityGroup": ec2 + "SecurityGroup:groupId={owner}", "EC2::NetworkInterface": ec2 + "NetworkInterface:networkInterfaceId={owner}",
		"EC2::VPC": vpc + "VpcDetails:VpcId={owner}", "EC2::Subnet": vpc + "SubnetDetails:subnetId={owner}",
		"EC2::RouteTable": vpc + "RouteTableDetails:RouteTableId={owner}", "EC2::NatGateway": vpc + "NatGatewayDetails:natGatewayId={owner}",
		"EC2::InternetGateway": vpc + "InternetGateway:internetGatewayId={owner}",
		"EC2::NetworkAcl":      vpc + "NetworkAclDetails:networkAclId={owner}", "EC2::NetworkAclEntry": vpc + "NetworkAclDetails:networkAclId={owner}",
		"IAM::LoginProfile": iam + "users/details/{owner}", "IAM::UserToGroupAddition": iam + "users/details/{owner}",
		"Lambda::Function": "/lambda/home?region={region}#/functions/{name}", "KMS::Key": "/kms/home?region={region}#/kms/keys/{name}",
		"EKS::Cluster": "/eks/home?region={region}#/clusters/{name}", "DynamoDB::Table": "/dynamodbv2/home?region={region}#table?name={name}",
		"Route53::HostedZone": "/route53/v2/hostedzones#ListRecordSets/{owner}",
	}
	for _, part := range []string{"", "Permission", "Share"} {
		all["EC2::Snapshot"+part] = ec2 + "SnapshotDetails:snapshotId={owner}"
		all["EC2::Image"+part] = ec2 + "ImageDetails:imageId={owner}"
	}
	for kind, list := range map[string]string{"User": "users", "Group": "groups", "Role": "roles"} {
		for _, part := range []string{"", "Policy", "PolicyAttachment"} {
			all["IAM::"+kind+part] = iam + list + "/details/{owner}"
		}
	}
	return all
}

// bucketLink returns the page of a bucket, with the tab of the setting. Without the region the partition is not known.
func (c *inventory) bucketLink(id, setting string) string {
	if c.config.Region == "" || strings.ContainsAny(id, "/\\") || strings.Trim(id, ".") == "" {
		return ""
	}
	return "https://" + console(c.config.Region) + "/s3/buckets/" + url.PathEscape(id) + "?tab=" + tab(setting)
}

// console returns the host of the console of the partition that has a region. See
// https://docs.aws.amazon.com/whitepapers/latest/aws-fault-isolation-boundaries/partitions.html
func console(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "console.amazonaws.cn"
	case strings.HasPrefix(region, "us-gov-"):
		return "console.amazonaws-us-gov.com"
	}
	return "console.aws.amazon.com"
}

// tab returns the tab of a bucket's page that has a setting.
func tab(setting string) string {
	switch strings.TrimPrefix(setting, ".") {
	case "Policy", "PublicAccessBlockConfiguration", "OwnershipControls", "AccessControlPolicy", "CorsConfiguration":
		return "permissions"
	case "LifecycleConfiguration":
		return "management"
	}
	return "properties"
}
