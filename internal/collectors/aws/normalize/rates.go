package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// openWorld is why what everybody can use is critical.
const openWorld = "open to the world"

// edited are the verdicts on a part that is there.
func edited() []model.Verdict {
	return []model.Verdict{model.Unmanaged, model.Changed, model.Undeclared, model.Disputed, model.Conflict}
}

// gone are the verdicts on a part that is not there any more.
func gone() []model.Verdict { return []model.Verdict{model.Missing} }

func bucketRates() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.Critical, "open to the world by its policy", "", table.Unmanaged(), table.Is("Public", "policy")),
		table.Rate(model.Critical, "open to the world by its access control list", "", table.Unmanaged(), table.Is("Public", "acl")),
		table.Rate(model.High, "what it held is gone", "", gone()),
		table.Rate(model.Low, "a label", "Tags", nil))
}

func policyRates() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.Critical, openWorld, "", edited(), table.Is("Public", "true")),
		table.Rate(model.High, "what it denied is allowed", "", gone()),
		table.Rate(model.High, "it decides who gets in", "", edited()))
}

func versioningRates() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.High, "what is overwritten or deleted is not kept", "", edited(), table.Is("Status", "Suspended", "")))
}

func encryptionRates() []model.SeverityRule {
	const why = "it decides how what is stored is encrypted"
	return slices.Concat(table.Rate(model.High, why, "", gone()), table.Rate(model.High, why, "", []model.Verdict{model.Changed, model.Disputed, model.Conflict}))
}

// publicAccessRates rates the block that was removed or turned off. Of one that nobody
// declared, it is not known whether it ever was on.
func publicAccessRates() []model.SeverityRule {
	const why = "public access is not blocked"
	rules := table.Rate(model.Critical, why, "", gone())
	for name := range strings.FieldsSeq(publicAccessBlocks) {
		off := table.Is(name, "false", "")
		rules = slices.Concat(rules, table.Rate(model.Critical, why, name, edited()[1:], off), table.Rate(model.High, why, "", edited()[:1], off))
	}
	return rules
}

// publicAccessBlocks are the fields that block public access.
const publicAccessBlocks = "BlockPublicAcls BlockPublicPolicy IgnorePublicAcls RestrictPublicBuckets"

func ownershipRates() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "access control lists count again", "", edited(), table.Is("Rules.ObjectOwnership", "ObjectWriter", "BucketOwnerPreferred")))
}

func accessControlRates() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.Critical, openWorld, "", edited(), table.Is("Public", "true")),
		table.Rate(model.High, "it decides who gets in", "", edited()))
}

func lifecycleRates() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.High, "it deletes objects", "", edited(), table.Is("Deletes", "true")),
		table.Rate(model.Medium, "what should be deleted or moved is kept", "", gone()))
}

func loggingRates() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "who reads it is not logged", "", edited(), table.Is("DestinationBucketName", "")),
		table.Rate(model.High, "who reads it is logged elsewhere", "DestinationBucketName", nil))
}

func objectLockRates() []model.SeverityRule {
	const why = "it decides what cannot be deleted"
	return slices.Concat(table.Rate(model.High, why, "", gone()), table.Rate(model.High, why, "", edited()))
}

func websiteRates() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "it serves the bucket as a website", "", table.Unmanaged()))
}

func notificationRates() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "it tells another system of each object", "", table.Unmanaged()))
}
