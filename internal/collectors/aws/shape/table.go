package shape

import "slices"

// table lists the kinds, the bucket first. The names of elements are those of the S3 API, those of
// fields are those of CloudFormation: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
// and https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html
func table() []Kind { return append(access(), settings()...) }

// access is the bucket, and the parts that say who gets in, and what is kept how.
func access() []Kind {
	return []Kind{
		{
			Name: Bucket, Action: "s3:GetBucketTagging", Root: "Tagging",
			Absent:  []string{"NoSuchTagSet", "NoSuchTagSetError"},
			inside:  []element{{xml: "TagSet", inside: []element{{xml: "Tag", name: "Tags", form: tags}}}},
			derived: "Public",
			rates:   bucketRates(),
		},
		{
			Name: BucketPolicy, Action: "s3:GetBucketPolicy",
			Absent:  []string{"NoSuchBucketPolicy"},
			derived: "Public",
			rates:   policyRates(),
		},
		{
			Name: Versioning, Action: "s3:GetBucketVersioning", Root: "VersioningConfiguration",
			inside:  []element{{xml: "Status", name: "Status"}, {xml: "MfaDelete", name: "MfaDelete"}},
			derived: "Locked",
			usual:   versioningUsual(),
			rates:   versioningRates(),
		},
		{
			Name: Encryption, Action: "s3:GetEncryptionConfiguration", Root: "ServerSideEncryptionConfiguration",
			Absent: []string{"ServerSideEncryptionConfigurationNotFoundError"},
			inside: encryption(),
			usual:  always("S3 encrypts every bucket so", is("ServerSideEncryptionConfiguration.ServerSideEncryptionByDefault.SSEAlgorithm", "AES256")),
			rates:  encryptionRates(),
		},
		{
			Name: PublicAccess, Action: "s3:GetBucketPublicAccessBlock", Root: "PublicAccessBlockConfiguration",
			Absent: []string{"NoSuchPublicAccessBlockConfiguration"},
			inside: flags("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"),
			usual:  publicAccessUsual(),
			rates:  publicAccessRates(),
		},
		{
			Name: Ownership, Action: "s3:GetBucketOwnershipControls", Root: "OwnershipControls",
			Absent: []string{"OwnershipControlsNotFoundError"},
			inside: []element{{xml: "Rule", name: "Rules", form: block, many: true, inside: texts("ObjectOwnership")}},
			usual:  always("every new bucket has it", is("Rules.ObjectOwnership", "BucketOwnerEnforced")),
			rates:  ownershipRates(),
		},
		{
			Name: AccessControl, Action: "s3:GetBucketAcl", Root: "AccessControlPolicy",
			inside:  accessControl(),
			derived: "AccessControl Grantees Public",
			usual:   always("every new bucket has it", is("AccessControl", "Private")),
			rates:   accessControlRates(),
		},
	}
}

// settings are the parts that say what the bucket does.
func settings() []Kind {
	return []Kind{
		{
			Name: Lifecycle, Action: "s3:GetLifecycleConfiguration", Root: "LifecycleConfiguration",
			Absent:  []string{"NoSuchLifecycleConfiguration"},
			inside:  lifecycle(),
			derived: "Deletes",
			rates:   lifecycleRates(),
		},
		{
			Name: CORS, Action: "s3:GetBucketCORS", Root: "CORSConfiguration",
			Absent: []string{"NoSuchCORSConfiguration"},
			inside: cors(),
		},
		{
			Name: Logging, Action: "s3:GetBucketLogging", Root: "BucketLoggingStatus",
			inside: logging(),
			usual:  always("logging was never switched on", is("DestinationBucketName", "")),
			rates:  loggingRates(),
		},
		{
			Name: ObjectLock, Action: "s3:GetBucketObjectLockConfiguration", Root: "ObjectLockConfiguration",
			Absent: []string{"ObjectLockConfigurationNotFoundError", "NoSuchObjectLockConfiguration"},
			inside: objectLock(),
			usual:  always("it holds no rule beside the lock that the bucket was made with", is("Rule.DefaultRetention.Mode", "")),
			rates:  objectLockRates(),
		},
		{
			Name: Website, Action: "s3:GetBucketWebsite", Root: "WebsiteConfiguration",
			Absent: []string{"NoSuchWebsiteConfiguration"},
			inside: website(),
			rates:  websiteRates(),
		},
		{
			Name: Accelerate, Action: "s3:GetAccelerateConfiguration", Root: "AccelerateConfiguration",
			inside: []element{{xml: "Status", name: "AccelerationStatus"}},
			usual:  always("it is off", is("AccelerationStatus", "", "Suspended")),
		},
		{
			Name: RequestPayment, Action: "s3:GetBucketRequestPayment", Root: "RequestPaymentConfiguration",
			inside: texts("Payer"),
			usual:  always("the owner pays, as for every bucket", is("Payer", "", "BucketOwner")),
		},
		{
			Name: Notification, Action: "s3:GetBucketNotification", Root: "NotificationConfiguration",
			inside: notification(),
			usual:  notificationUsual(),
			rates:  notificationRates(),
		},
	}
}

// texts, numbers and flags are elements whose fields have the same name.
func texts(names ...string) []element { return same(text, names) }

func numbers(names ...string) []element { return same(number, names) }

func flags(names ...string) []element { return same(flag, names) }

func same(f form, names []string) []element {
	all := make([]element, len(names))
	for i, name := range names {
		all[i] = element{xml: name, name: name, form: f}
	}
	return all
}

func encryption() []element {
	return []element{{xml: "Rule", name: "ServerSideEncryptionConfiguration", form: block, many: true, inside: []element{
		{xml: "ApplyServerSideEncryptionByDefault", name: "ServerSideEncryptionByDefault", form: block, inside: texts("SSEAlgorithm", "KMSMasterKeyID")},
		{xml: "BucketKeyEnabled", name: "BucketKeyEnabled", form: flag},
		{xml: "BlockedEncryptionTypes", name: "BlockedEncryptionTypes", form: block, inside: []element{{xml: "EncryptionType", name: "EncryptionType", many: true}}},
	}}}
}

// accessControl has S3's own form: CloudFormation knows canned lists alone.
func accessControl() []element {
	grant := []element{{xml: "Grantee", name: "Grantee", form: block, inside: texts("ID", "URI", "EmailAddress")}, {xml: "Permission", name: "Permission"}}
	return []element{
		{xml: "Owner", name: "Owner", form: block, inside: texts("ID")},
		{xml: "AccessControlList", inside: []element{{xml: "Grant", name: "Grants", form: block, many: true, inside: grant}}},
	}
}

// lifecycle keeps a rule's filter as S3 has it: CloudFormation lifts what is in it
// into the rule, and then a prefix of the filter and one of the rule, which are
// declared in two ways, look alike.
func lifecycle() []element {
	sizes := append(texts("Prefix"), numbers("ObjectSizeGreaterThan", "ObjectSizeLessThan")...)
	filter := append(slices.Clone(sizes), element{xml: "Tag", name: "Tag", form: block, inside: texts("Key", "Value")},
		element{xml: "And", name: "And", form: block, inside: append(slices.Clone(sizes), element{xml: "Tag", name: "Tags", form: tags})})
	rule := []element{
		{xml: "ID", name: "Id"}, {xml: "Status", name: "Status"}, {xml: "Prefix", name: "Prefix"},
		{xml: "Filter", name: "Filter", form: block, inside: filter},
		{xml: "Expiration", inside: []element{
			{xml: "Days", name: "ExpirationInDays", form: number}, {xml: "Date", name: "ExpirationDate"},
			{xml: "ExpiredObjectDeleteMarker", name: "ExpiredObjectDeleteMarker", form: flag},
		}},
		{xml: "NoncurrentVersionExpiration", name: "NoncurrentVersionExpiration", form: block, inside: numbers("NoncurrentDays", "NewerNoncurrentVersions")},
		{xml: "Transition", name: "Transitions", form: block, many: true, inside: []element{
			{xml: "Days", name: "TransitionInDays", form: number}, {xml: "Date", name: "TransitionDate"}, {xml: "StorageClass", name: "StorageClass"},
		}},
		{xml: "NoncurrentVersionTransition", name: "NoncurrentVersionTransitions", form: block, many: true, inside: []element{
			{xml: "NoncurrentDays", name: "TransitionInDays", form: number}, {xml: "NewerNoncurrentVersions", name: "NewerNoncurrentVersions", form: number},
			{xml: "StorageClass", name: "StorageClass"},
		}},
		{xml: "AbortIncompleteMultipartUpload", name: "AbortIncompleteMultipartUpload", form: block, inside: numbers("DaysAfterInitiation")},
	}
	return []element{{xml: "Rule", name: "Rules", form: block, many: true, inside: rule}}
}

func cors() []element {
	return []element{{xml: "CORSRule", name: "CorsRules", form: block, many: true, inside: []element{
		{xml: "ID", name: "Id"}, {xml: "MaxAgeSeconds", name: "MaxAge", form: number},
		{xml: "AllowedHeader", name: "AllowedHeaders", many: true}, {xml: "AllowedMethod", name: "AllowedMethods", many: true},
		{xml: "AllowedOrigin", name: "AllowedOrigins", many: true}, {xml: "ExposeHeader", name: "ExposedHeaders", many: true},
	}}}
}

func logging() []element {
	partition := []element{{xml: "PartitionedPrefix", name: "PartitionedPrefix", form: block, inside: texts("PartitionDateSource")}, {xml: "SimplePrefix", name: "SimplePrefix", form: block}}
	grants := []element{{xml: "Grant", name: "TargetGrants", form: block, many: true, inside: accessControl()[1].inside[0].inside}}
	return []element{{xml: "LoggingEnabled", inside: []element{
		{xml: "TargetBucket", name: "DestinationBucketName"}, {xml: "TargetPrefix", name: "LogFilePrefix"},
		{xml: "TargetObjectKeyFormat", name: "TargetObjectKeyFormat", form: block, inside: partition},
		{xml: "TargetGrants", inside: grants},
	}}}
}

func objectLock() []element {
	retention := append(texts("Mode"), numbers("Days", "Years")...)
	return []element{
		{xml: "ObjectLockEnabled", name: "ObjectLockEnabled"},
		{xml: "Rule", name: "Rule", form: block, inside: []element{{xml: "DefaultRetention", name: "DefaultRetention", form: block, inside: retention}}},
	}
}

func website() []element {
	rule := []element{
		{xml: "Condition", name: "RoutingRuleCondition", form: block, inside: texts("HttpErrorCodeReturnedEquals", "KeyPrefixEquals")},
		{xml: "Redirect", name: "RedirectRule", form: block, inside: texts("HostName", "HttpRedirectCode", "Protocol", "ReplaceKeyPrefixWith", "ReplaceKeyWith")},
	}
	return []element{
		{xml: "IndexDocument", inside: []element{{xml: "Suffix", name: "IndexDocument"}}},
		{xml: "ErrorDocument", inside: []element{{xml: "Key", name: "ErrorDocument"}}},
		{xml: "RedirectAllRequestsTo", name: "RedirectAllRequestsTo", form: block, inside: texts("HostName", "Protocol")},
		{xml: "RoutingRules", inside: []element{{xml: "RoutingRule", name: "RoutingRules", form: block, many: true, inside: rule}}},
	}
}

// notification keeps S3's own lists of events: CloudFormation has an entry for
// each event. A filter is a map: there is one prefix and one suffix.
func notification() []element {
	filter := element{xml: "Filter", inside: []element{{xml: "S3Key", inside: []element{
		{xml: "FilterRule", name: "Filter", form: tags},
	}}}}
	to := func(xml, name, target, field string) element {
		return element{xml: xml, name: name, form: block, many: true, inside: []element{
			{xml: "Id", name: "Id"}, {xml: target, name: field}, {xml: "Event", name: "Events", many: true}, filter,
		}}
	}
	return []element{
		to("CloudFunctionConfiguration", "LambdaConfigurations", "CloudFunction", "Function"),
		to("QueueConfiguration", "QueueConfigurations", "Queue", "Queue"),
		to("TopicConfiguration", "TopicConfigurations", "Topic", "Topic"),
		{xml: "EventBridgeConfiguration", name: "EventBridgeEnabled", form: mark},
	}
}
