package normalize

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// publicReason is the reason of the severity of resources that everyone can access.
const publicReason = "open to the world"

// onExisting returns the verdicts on a part that exists.
func onExisting() []model.Verdict {
	return []model.Verdict{model.Unmanaged, model.Changed, model.Undeclared, model.Disputed, model.Conflict}
}

// onMissing returns the verdict on a part that was removed.
func onMissing() []model.Verdict { return []model.Verdict{model.Missing} }

func bucketSeverities() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.Critical, "open to the world by its policy", "", table.Unmanaged(), table.Is("Public", "policy")),
		table.Rate(model.Critical, "open to the world by its access control list", "", table.Unmanaged(), table.Is("Public", "acl")),
		table.Rate(model.High, "the bucket and its objects are gone", "", onMissing()),
		table.Rate(model.Low, "a label", "Tags", nil))
}

func policySeverities() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.Critical, publicReason, "", onExisting(), table.Is("Public", "true")),
		table.Rate(model.High, "its denials no longer apply", "", onMissing()),
		table.Rate(model.High, "it controls access", "", onExisting()))
}

func versioningSeverities() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.High, "overwritten and deleted objects are not kept", "", onExisting(), table.Is("Status", "Suspended", "")))
}

func encryptionSeverities() []model.SeverityRule {
	const why = "it controls the encryption of objects"
	return slices.Concat(table.Rate(model.High, why, "", onMissing()), table.Rate(model.High, why, "", []model.Verdict{model.Changed, model.Disputed, model.Conflict}))
}

// publicAccessSeverities rates a public access block that was removed or turned off. For an
// undeclared one that is off, it is unknown whether it was ever on: its severity is lower.
func publicAccessSeverities() []model.SeverityRule {
	const why = "public access is not blocked"
	rules := table.Rate(model.Critical, why, "", onMissing())
	for name := range strings.FieldsSeq(publicAccessBlocks) {
		off := table.Is(name, "false", "")
		rules = slices.Concat(rules, table.Rate(model.Critical, why, name, onExisting()[1:], off), table.Rate(model.High, why, "", onExisting()[:1], off))
	}
	return rules
}

// publicAccessBlocks are the fields that block public access.
const publicAccessBlocks = "BlockPublicAcls BlockPublicPolicy IgnorePublicAcls RestrictPublicBuckets"

func ownershipSeverities() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "access control lists are in effect again", "", onExisting(), table.Is("Rules.ObjectOwnership", "ObjectWriter", "BucketOwnerPreferred")))
}

func accessControlSeverities() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.Critical, publicReason, "", onExisting(), table.Is("Public", "true")),
		table.Rate(model.High, "it controls access", "", onExisting()))
}

func lifecycleSeverities() []model.SeverityRule {
	return slices.Concat(
		table.Rate(model.High, "it deletes objects", "", onExisting(), table.Is("Deletes", "true")),
		table.Rate(model.Medium, "objects are no longer deleted or moved", "", onMissing()))
}

func loggingSeverities() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "access is not logged", "", onExisting(), table.Is("DestinationBucketName", "")),
		table.Rate(model.High, "access is logged to another bucket", "DestinationBucketName", nil))
}

func objectLockSeverities() []model.SeverityRule {
	const why = "it protects objects from deletion"
	return slices.Concat(table.Rate(model.High, why, "", onMissing()), table.Rate(model.High, why, "", onExisting()))
}

func websiteSeverities() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "it serves the bucket as a website", "", table.Unmanaged()))
}

func notificationSeverities() []model.SeverityRule {
	return slices.Concat(table.Rate(model.High, "it sends events about objects to another system", "", table.Unmanaged()))
}
