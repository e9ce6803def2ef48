package aws

import (
	"net/url"
	"strings"

	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/model"
)

// Link returns the address of a bucket, with the tab of the setting, in the console of AWS. Other servers have other consoles,
// and without the region the partition is not known.
func (c *inventory) Link(r model.Ref) string {
	setting, ok := strings.CutPrefix(r.Kind, normalize.Bucket)
	if !ok || c.config.Endpoint != "" || c.config.Region == "" || r.ID == "" || strings.ContainsAny(r.ID, "/\\") || strings.Trim(r.ID, ".") == "" {
		return ""
	}
	return "https://" + console(c.config.Region) + "/s3/buckets/" + url.PathEscape(r.ID) + "?tab=" + tab(setting)
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
