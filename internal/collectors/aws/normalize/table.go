package normalize

import "github.com/driftd/driftd/internal/collectors/table"

// catalogue returns the kinds, the bucket first. The names of elements are those of the S3
// API, the names of fields those of CloudFormation:
//
//	https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
//	https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html
func catalogue() []Kind { return append(accessKinds(), settingKinds()...) }

// accessKinds returns the bucket and the parts that control access, versioning and encryption.
func accessKinds() []Kind {
	return []Kind{
		{
			Name: Bucket, Action: "s3:GetBucketTagging", Root: "Tagging",
			UnsetCodes: []string{"NoSuchTagSet", "NoSuchTagSetError"},
			fields:     tags().Of("TagSet.Tag>Tags"),
			derived:    table.Join(derived("Public"), table.Absent().Of("BucketName")),
			severities: bucketSeverities(),
		},
		{
			Name: BucketPolicy, Action: "s3:GetBucketPolicy",
			UnsetCodes: []string{"NoSuchBucketPolicy"},
			derived:    table.Join(derived("Public"), table.Absent().Of("Bucket PolicyDocument")),
			severities: policySeverities(),
		},
		{
			Name: Versioning, Action: "s3:GetBucketVersioning", Root: "VersioningConfiguration",
			fields:     text().Of("Status MfaDelete"),
			derived:    derived("Locked"),
			defaults:   versioningDefaults(),
			severities: versioningSeverities(),
		},
		{
			Name: Encryption, Action: "s3:GetEncryptionConfiguration", Root: "ServerSideEncryptionConfiguration",
			UnsetCodes: []string{"ServerSideEncryptionConfigurationNotFoundError"},
			fields:     encryption(),
			defaults:   defaultWhen("the default encryption of S3", table.Is("ServerSideEncryptionConfiguration.ServerSideEncryptionByDefault.SSEAlgorithm", "AES256")),
			severities: encryptionSeverities(),
		},
		{
			Name: PublicAccess, Action: "s3:GetBucketPublicAccessBlock", Root: "PublicAccessBlockConfiguration",
			UnsetCodes: []string{"NoSuchPublicAccessBlockConfiguration"},
			fields:     flag().Of(publicAccessBlocks),
			defaults:   publicAccessDefaults(),
			severities: publicAccessSeverities(),
		},
		{
			Name: Ownership, Action: "s3:GetBucketOwnershipControls", Root: "OwnershipControls",
			UnsetCodes: []string{"OwnershipControlsNotFoundError"},
			fields:     many(block(text().Of("ObjectOwnership"))).Of("Rule>Rules"),
			defaults:   defaultWhen("the default of a new bucket", table.Is("Rules.ObjectOwnership", "BucketOwnerEnforced")),
			severities: ownershipSeverities(),
		},
		{
			Name: AccessControl, Action: "s3:GetBucketAcl", Root: "AccessControlPolicy",
			fields:     accessControl(),
			derived:    derived("AccessControl Grantees Public"),
			defaults:   defaultWhen("the default of a new bucket", table.Is("AccessControl", "Private")),
			severities: accessControlSeverities(),
		},
	}
}

// settingKinds returns the parts that control other functions of the bucket.
func settingKinds() []Kind {
	return []Kind{
		{
			Name: Lifecycle, Action: "s3:GetLifecycleConfiguration", Root: "LifecycleConfiguration",
			UnsetCodes: []string{"NoSuchLifecycleConfiguration"},
			fields:     lifecycle(),
			derived:    derived("Deletes"),
			severities: lifecycleSeverities(),
		},
		{
			Name: CORS, Action: "s3:GetBucketCORS", Root: "CORSConfiguration",
			UnsetCodes: []string{"NoSuchCORSConfiguration"},
			fields:     cors(),
		},
		{
			Name: Logging, Action: "s3:GetBucketLogging", Root: "BucketLoggingStatus",
			fields:     logging(),
			defaults:   defaultWhen("logging was never switched on", table.Is("DestinationBucketName", "")),
			severities: loggingSeverities(),
		},
		{
			Name: ObjectLock, Action: "s3:GetBucketObjectLockConfiguration", Root: "ObjectLockConfiguration",
			UnsetCodes: []string{"ObjectLockConfigurationNotFoundError", "NoSuchObjectLockConfiguration"},
			fields:     objectLock(),
			defaults:   defaultWhen("it has no rule, only the lock that was set when the bucket was created", table.Is("Rule.DefaultRetention.Mode", "")),
			severities: objectLockSeverities(),
		},
		{
			Name: Website, Action: "s3:GetBucketWebsite", Root: "WebsiteConfiguration",
			UnsetCodes: []string{"NoSuchWebsiteConfiguration"},
			fields:     website(),
			severities: websiteSeverities(),
		},
		{
			Name: Accelerate, Action: "s3:GetAccelerateConfiguration", Root: "AccelerateConfiguration",
			fields:   text().Of("Status>AccelerationStatus"),
			defaults: defaultWhen("it is off", table.Is("AccelerationStatus", "", "Suspended")),
		},
		{
			Name: RequestPayment, Action: "s3:GetBucketRequestPayment", Root: "RequestPaymentConfiguration",
			fields:   text().Of("Payer"),
			defaults: defaultWhen("the owner pays, which is the default", table.Is("Payer", "", "BucketOwner")),
		},
		{
			Name: Notification, Action: "s3:GetBucketNotification", Root: "NotificationConfiguration",
			fields:     notification(),
			defaults:   notificationDefaults(),
			severities: notificationSeverities(),
		},
	}
}

func encryption() table.Fields {
	return many(block(table.Join(
		block(text().Of("SSEAlgorithm KMSMasterKeyID")).Of("ApplyServerSideEncryptionByDefault>ServerSideEncryptionByDefault"),
		flag().Of("BucketKeyEnabled"),
		block(many(text()).Of("EncryptionType")).Of("BlockedEncryptionTypes")))).Of("Rule>ServerSideEncryptionConfiguration")
}

// grants is a list of grantees with their permissions, in the format of S3: CloudFormation
// only has canned lists.
func grants() table.Form {
	return many(block(table.Join(block(text().Of("ID URI EmailAddress")).Of("Grantee"), text().Of("Permission"))))
}

func accessControl() table.Fields {
	return table.Join(block(text().Of("ID")).Of("Owner"), grants().Of("AccessControlList.Grant>Grants"))
}

// lifecycle has a rule's filter in the format of S3. CloudFormation moves the fields of the
// filter into the rule, so that a prefix of the filter and one of the rule, which are declared
// differently, would be equal.
func lifecycle() table.Fields {
	sizes := table.Join(text().Of("Prefix"), number().Of("ObjectSizeGreaterThan ObjectSizeLessThan"))
	filter := table.Join(sizes, block(text().Of("Key Value")).Of("Tag"), block(table.Join(sizes, tags().Of("Tag>Tags"))).Of("And"))
	return many(block(table.Join(
		text().Of("ID>Id Status Prefix Expiration.Date>ExpirationDate"), block(filter).Of("Filter"),
		number().Of("Expiration.Days>ExpirationInDays"), flag().Of("Expiration.ExpiredObjectDeleteMarker>ExpiredObjectDeleteMarker"),
		block(number().Of("NoncurrentDays NewerNoncurrentVersions")).Of("NoncurrentVersionExpiration"),
		many(block(table.Join(number().Of("Days>TransitionInDays"), text().Of("Date>TransitionDate StorageClass")))).Of("Transition>Transitions"),
		many(block(table.Join(number().Of("NoncurrentDays>TransitionInDays NewerNoncurrentVersions"), text().Of("StorageClass")))).
			Of("NoncurrentVersionTransition>NoncurrentVersionTransitions"),
		block(number().Of("DaysAfterInitiation")).Of("AbortIncompleteMultipartUpload"),
		derived("MatchPrefix MatchTags")))).Of("Rule>Rules")
}

func cors() table.Fields {
	return many(block(table.Join(text().Of("ID>Id"), number().Of("MaxAgeSeconds>MaxAge"),
		many(text()).Of("AllowedHeader>AllowedHeaders AllowedMethod>AllowedMethods AllowedOrigin>AllowedOrigins ExposeHeader>ExposedHeaders")))).
		Of("CORSRule>CorsRules")
}

func logging() table.Fields {
	key := table.Join(block(text().Of("PartitionDateSource")).Of("PartitionedPrefix"), block(nil).Of("SimplePrefix"))
	return table.Join(
		text().Of("LoggingEnabled.TargetBucket>DestinationBucketName LoggingEnabled.TargetPrefix>LogFilePrefix"),
		block(key).Of("LoggingEnabled.TargetObjectKeyFormat>TargetObjectKeyFormat"),
		grants().Of("LoggingEnabled.TargetGrants.Grant>TargetGrants"))
}

func objectLock() table.Fields {
	retention := table.Join(text().Of("Mode"), number().Of("Days Years"))
	return table.Join(text().Of("ObjectLockEnabled"), block(block(retention).Of("DefaultRetention")).Of("Rule"))
}

func website() table.Fields {
	rule := table.Join(
		block(text().Of("HttpErrorCodeReturnedEquals KeyPrefixEquals")).Of("Condition>RoutingRuleCondition"),
		block(text().Of("HostName HttpRedirectCode Protocol ReplaceKeyPrefixWith ReplaceKeyWith")).Of("Redirect>RedirectRule"))
	return table.Join(
		text().Of("IndexDocument.Suffix>IndexDocument ErrorDocument.Key>ErrorDocument"),
		block(text().Of("HostName Protocol")).Of("RedirectAllRequestsTo"),
		many(block(rule)).Of("RoutingRules.RoutingRule>RoutingRules"))
}

// notification has the lists of events in the format of S3: CloudFormation has one entry for
// each event. A filter is a map, because it has at most one prefix and one suffix.
func notification() table.Fields {
	to := func(target string) table.Form {
		return many(block(table.Join(text().Of("Id "+target), many(text()).Of("Event>Events"), tags().Of("Filter.S3Key.FilterRule>Filter"))))
	}
	return table.Join(
		to("CloudFunction>Function").Of("CloudFunctionConfiguration>LambdaConfigurations"),
		to("Queue").Of("QueueConfiguration>QueueConfigurations"),
		to("Topic").Of("TopicConfiguration>TopicConfigurations"),
		presence().Of("EventBridgeConfiguration>EventBridgeEnabled"))
}
