package catalogue

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// compute returns the kinds of machines, their disks and images.
func compute() []*List {
	gone := []model.Condition{{Path: "instanceState.name", NotIn: []string{"terminated", "shutting-down"}}}
	own := map[string]any{"Owner": []string{"self"}, "MaxResults": 1000}
	public := map[string]any{"Owner": []string{"self"}, "RestorableBy": []string{"all"}, "MaxResults": 1000}
	snapshots := describe("DescribeSnapshots", "snapshotSet", own, &Kind{
		Name: "EC2::Snapshot", ID: "{snapshotId}", Tags: "tagSet", Created: "startTime", Usual: backups(),
		Fields: table.Join(text().Of("volumeId>volume_id"), flag().Of("encrypted")),
		Rules:  table.Rate(model.Medium, "it is not encrypted", "", table.Unmanaged(), table.Is("encrypted", "false", "")),
	})
	snapshots.Then = []*List{shares("EC2::Snapshot", "DescribeSnapshotAttribute", "SnapshotId", "snapshotId", "createVolumePermission", "InvalidSnapshot.NotFound")}
	snapshots.Then[0].Sound = is("status", "completed")
	images := describe("DescribeImages", "imagesSet", own, &Kind{
		Name: "EC2::Image", ID: "{imageId}", Label: "{name}", Tags: "tagSet", Created: "creationDate", Fields: text().Of("name"), Usual: backups(),
	}, permission("EC2::Image", "{imageId}", "everyone can use the image", is("isPublic", "true")...))
	images.Then = []*List{shares("EC2::Image", "DescribeImageAttribute", "ImageId", "imageId", "launchPermission", "InvalidAMIID.NotFound")}
	images.Then[0].Sound, images.Then[0].Unsound = is("imageState", "available"), "InvalidAMIID.Unavailable"
	return []*List{
		describe("DescribeInstances", "reservationSet.instancesSet", paged(), &Kind{
			Name: "EC2::Instance", ID: "{instanceId}", Parent: Reference{"EC2::Subnet", "{subnetId}"}, Where: gone, Tags: "tagSet",
			Fields: text().Of("instanceType>instance_type imageId>ami subnetId>subnet_id ipAddress>public_ip keyName>key_name"),
			Usual:  []Usual{{Reason: "created by a service of AWS", Where: []model.Condition{{Path: "operator.managed", In: []string{"true"}}}}},
			Rules: slices.Concat(
				table.Rate(model.High, "it has a public address", "", table.Unmanaged(), model.Condition{Path: "public_ip", Present: true}),
				table.Rate(model.High, "it runs code and costs money", "", table.Unmanaged())),
		}),
		describe("DescribeVolumes", "volumeSet", paged(), &Kind{
			Name: "EC2::Volume", ID: "{volumeId}", Tags: "tagSet", Created: "createTime",
			Maker: Reference{"EC2::Instance", "{attachmentSet.instanceId}"}, MakerWhere: is("attachmentSet.deleteOnTermination", "true"),
			Fields: table.Join(number().Of("size"), text().Of("volumeType>type snapshotId>snapshot_id availabilityZone>availability_zone"), flag().Of("encrypted")),
			Rules:  table.Rate(model.Medium, "it is not encrypted", "", table.Unmanaged(), table.Is("encrypted", "false", "")),
		}),
		snapshots,
		describe("DescribeSnapshots", "snapshotSet", public, permission("EC2::Snapshot", "{snapshotId}", "everyone can read the snapshot")),
		images,
		describe("DescribeKeyPairs", "keySet", nil, &Kind{
			Name: "EC2::KeyPair", ID: "{keyPairId|keyName}", Label: "{keyName}", Tags: "tagSet", Created: "createTime", Fields: text().Of("keyName>key_name keyFingerprint>fingerprint"),
			Rules: table.Rate(model.Medium, "it opens new machines", "", table.Unmanaged()),
		}),
		describe("DescribeLaunchTemplates", "launchTemplates", map[string]any{"MaxResults": 200}, &Kind{
			Name: "EC2::LaunchTemplate", ID: "{launchTemplateId}", Label: "{launchTemplateName}", Tags: "tagSet", Created: "createTime", Fields: text().Of("launchTemplateName>name"),
			Usual: []Usual{{Reason: "created by a service of AWS", Where: []model.Condition{{Path: "operator.managed", In: []string{"true"}}}}},
		}),
		describe("DescribeNetworkInterfaces", "networkInterfaceSet", paged(), &Kind{
			Name: "EC2::NetworkInterface", ID: "{networkInterfaceId}", Parent: Reference{"EC2::Subnet", "{subnetId}"}, Tags: "tagSet",
			Maker: Reference{"EC2::Instance", "{attachment.instanceId}"}, MakerWhere: is("attachment.deleteOnTermination", "true"),
			Fields: text().Of("subnetId>subnet_id interfaceType>interface_type privateIpAddress>private_ip association.publicIp>public_ip"),
			Usual:  requesterManaged(),
		}),
	}
}

// permission returns the kind of permissions for everyone to use a snapshot or an image. They are
// resources of their own: an edit gives them, and neither the resource nor a plan has them.
func permission(of, id, reason string, where ...model.Condition) *Kind {
	return &Kind{
		Name: of + "Permission", ID: id + ":all", Label: id + " everyone", Parent: Reference{of, id}, Where: where,
		Rules: table.Rate(model.Critical, reason, "", table.Unmanaged()), Exposed: table.Exposed(model.ExposesAccess, ""),
	}
}

// shares returns the list of the accounts and organizations that one snapshot or image is shared with. It costs one request for
// each of them, so these permissions are a kind of their own, which is covered by itself.
func shares(of, action, param, id, attribute, absent string) *List {
	l := describe(action, attribute, map[string]any{param: "{" + id + "}", "Attribute": attribute}, &Kind{
		Name: of + "Share", Where: []model.Condition{table.Is("group", "")}, Shares: true,
		ID: "{^.^." + id + "}:{" + sharedWith + "}", Label: "{^.^." + id + "} {" + sharedWith + "}", Parent: Reference{of, "{^.^." + id + "}"},
		Fields: text().Of("userId>account_id organizationArn>organization_arn organizationalUnitArn>organizational_unit_arn"),
		Rules:  table.Rate(model.Critical, "another account can copy the data", "", table.Unmanaged()), Exposed: table.Exposed(model.ExposesAccess, ""),
	})
	l.Call.Page, l.Absent, l.Subject = nil, absent, Reference{of + "Share", "{" + id + "}:*"}
	return l
}

// sharedWith are the paths of whom a snapshot or an image is shared with.
const sharedWith = "userId|organizationArn|organizationalUnitArn"
