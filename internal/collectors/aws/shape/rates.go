package shape

import "github.com/driftd/driftd/internal/model"

// openWorld is why what everybody can use is critical.
const openWorld = "open to the world"

// edited are the verdicts on a part that is there.
func edited() []model.Verdict {
	return []model.Verdict{model.Unmanaged, model.Changed, model.Undeclared, model.Disputed, model.Conflict}
}

func rate(severity model.Severity, why string, verdicts []model.Verdict, where ...model.Condition) model.SeverityRule {
	return model.SeverityRule{Verdicts: verdicts, Where: where, Severity: severity, Reason: why}
}

func is(path string, texts ...string) model.Condition { return model.Condition{Path: path, In: texts} }

// gone are the verdicts on a part that is not there any more.
func gone() []model.Verdict { return []model.Verdict{model.Missing} }

func bucketRates() []model.SeverityRule {
	return []model.SeverityRule{
		rate(model.Critical, "open to the world by its policy", []model.Verdict{model.Unmanaged}, is("Public", "policy")),
		rate(model.Critical, "open to the world by its access control list", []model.Verdict{model.Unmanaged}, is("Public", "acl")),
		rate(model.High, "what it held is gone", gone()),
		{Path: "Tags", Severity: model.Low, Reason: "a label"},
	}
}

func policyRates() []model.SeverityRule {
	return []model.SeverityRule{
		rate(model.Critical, openWorld, edited(), is("Public", "true")),
		rate(model.High, "what it denied is allowed", gone()),
		rate(model.High, "it decides who gets in", edited()),
	}
}

func versioningRates() []model.SeverityRule {
	return []model.SeverityRule{
		rate(model.High, "what is overwritten or deleted is not kept", edited(), is("Status", "Suspended", "")),
	}
}

func encryptionRates() []model.SeverityRule {
	const why = "it decides how what is stored is encrypted"
	return []model.SeverityRule{rate(model.High, why, gone()), rate(model.High, why, []model.Verdict{model.Changed, model.Disputed, model.Conflict})}
}

// publicAccessRates rates the block that was removed or turned off. Of one that nobody
// declared, it is not known whether it ever was on.
func publicAccessRates() []model.SeverityRule {
	const why = "public access is not blocked"
	rules := []model.SeverityRule{rate(model.Critical, why, gone())}
	for _, e := range flags("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets") {
		off := rate(model.Critical, why, edited()[1:], is(e.name, "false", ""))
		off.Path = e.name
		rules = append(rules, off, rate(model.High, why, edited()[:1], is(e.name, "false", "")))
	}
	return rules
}

func ownershipRates() []model.SeverityRule {
	return []model.SeverityRule{rate(model.High, "access control lists count again", edited(), is("Rules.ObjectOwnership", "ObjectWriter", "BucketOwnerPreferred"))}
}

func accessControlRates() []model.SeverityRule {
	return []model.SeverityRule{
		rate(model.Critical, openWorld, edited(), is("Public", "true")),
		rate(model.High, "it decides who gets in", edited()),
	}
}

func lifecycleRates() []model.SeverityRule {
	return []model.SeverityRule{
		rate(model.High, "it deletes objects", edited(), is("Deletes", "true")),
		rate(model.Medium, "what should be deleted or moved is kept", gone()),
	}
}

func loggingRates() []model.SeverityRule {
	return []model.SeverityRule{rate(model.High, "who reads it is not logged", edited(), is("DestinationBucketName", "")),
		{Path: "DestinationBucketName", Severity: model.High, Reason: "who reads it is logged elsewhere"}}
}

func objectLockRates() []model.SeverityRule {
	const why = "it decides what cannot be deleted"
	return []model.SeverityRule{rate(model.High, why, gone()), rate(model.High, why, edited())}
}

func websiteRates() []model.SeverityRule {
	return []model.SeverityRule{rate(model.High, "it serves the bucket as a website", []model.Verdict{model.Unmanaged})}
}

func notificationRates() []model.SeverityRule {
	return []model.SeverityRule{rate(model.High, "it tells another system of each object", []model.Verdict{model.Unmanaged})}
}
