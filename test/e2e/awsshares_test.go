//go:build e2e

package e2e

import (
	"fmt"
	"testing"

	"github.com/driftd/driftd/test/tftest"
)

// moto ignores the filter for public snapshots.
const sharesConfig = `
sources:
  - name: prod
    type: aws
    settings:
      endpoint: "http://%s"
      region: eu-central-1
      services: [ec2]
      shares: true
      exclude_kinds: [AWS::EC2::SnapshotPermission]
      profile: test
      credentials_file: credentials
      config_file: config
declarations:
  - {name: infra, type: terraform, governs: [prod], settings: {engine: state, state: [terraform.tfstate]}}
`

// TestAWSShares shares snapshots and images with other accounts, by the declaration and by hand.
func TestAWSShares(t *testing.T) {
	t.Parallel()
	moto, err := tftest.StartMoto(t.Context())
	stopLater(t, moto, err)
	s, by := &shelf{t: t, dir: t.TempDir()}, hand{t, moto.Address}
	s.write("driftd.yaml", fmt.Sprintf(sharesConfig, moto.Address))
	s.write("credentials", "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = secret-of-the-test\n")
	s.write("config", "[profile test]\n")
	const region, partner, stranger = "eu-central-1", "111122223333", "444455556666"
	volume := by.call("ec2", region, "CreateVolume", "vol-[0-9a-f]+", "AvailabilityZone", "eu-central-1a", "Size", "1")
	snapshot := by.call("ec2", region, "CreateSnapshot", "snap-[0-9a-f]+", "VolumeId", volume)
	image := by.call("ec2", region, "RegisterImage", "ami-[0-9a-f]+", "Name", "golden")
	root := by.call("ec2", region, "DescribeImages", "snap-[0-9a-f]+", "ImageId.1", image)
	share := func(with, verb string) {
		by.call("ec2", region, "ModifySnapshotAttribute", "", "SnapshotId", snapshot, "Attribute", "createVolumePermission", "OperationType", verb, "UserId.1", with)
		by.call("ec2", region, "ModifyImageAttribute", "", "ImageId", image, "Attribute", "launchPermission", "OperationType", verb, "UserId.1", with)
	}
	share(partner, "add")
	s.state(
		[2]string{"aws_ebs_volume", fmt.Sprintf(`{"id": %q, "region": %q}`, volume, region)},
		[2]string{"aws_ebs_snapshot", fmt.Sprintf(`{"id": %q, "region": %q}`, snapshot, region)},
		[2]string{"aws_ami", fmt.Sprintf(`{"id": %q, "region": %q, "name": "golden", "ebs_block_device": [{"snapshot_id": %q}]}`, image, region, root)},
		[2]string{"aws_snapshot_create_volume_permission", fmt.Sprintf(`{"id": "%s-%s", "region": %q, "snapshot_id": %[1]q, "account_id": %[2]q}`, snapshot, partner, region)},
		[2]string{"aws_ami_launch_permission", fmt.Sprintf(`{"id": "%s-%s", "region": %q, "image_id": %[1]q, "account_id": %[2]q, "group": ""}`, image, partner, region)},
	)
	s.expect("shares that are declared")

	share(stranger, "add")
	share(partner, "remove")
	s.expect("shares that were added and removed by hand",
		"critical unmanaged aws/AWS::EC2::SnapshotShare "+snapshot+" "+stranger,
		"critical unmanaged aws/AWS::EC2::ImageShare "+image+" "+stranger,
		"high missing aws/AWS::EC2::SnapshotShare "+snapshot+":"+partner,
		"high missing aws/AWS::EC2::ImageShare "+image+":"+partner)
}
