package normalize

import "github.com/driftd/driftd/internal/collectors/table"

// table lists the kinds, the bucket first. The names of elements are those of the S3 API, those of
// fields are those of CloudFormation: https://docs.aws.amazon.com/AmazonS3/latest/API/API_Operations_Amazon_Simple_Storage_Service.html
// and https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html
func catalogue() []Kind { return append(access(), settings()...) }

// access is the bucket, and the parts that say who gets in, and what is kept how.
func access() []Kind {
	return []Kind{
		{
			Name: Bucket, Action: "s3:GetBucketTagging", Root: "Tagging",
			Absent:  []string{"NoSuchTagSet", "NoSuchTagSetError"},
			fields:  tags().Of("TagSet.Tag>Tags"),
			derived: table.Join(derived("Public"), table.Absent().Of("BucketName")),
			rates:   bucketRates(),
		},
		{
			Name: BucketPolicy, Action: "s3:GetBucketPolicy",
			Absent:  []string{"NoSuchBucketPolicy"},
			derived: table.Join(derived("Public"), table.Absent().Of("Bucket PolicyDocument")),
			rates:   policyRates(),
		},
		{
			Name: Versioning, Action: "s3:GetBucketVersioning", Root: "VersioningConfiguration",
			fields:  text().Of("Status MfaDelete"),
			derived: derived("Locked"),
			usual:   versioningUsual(),
			rates:   versioningRates(),
		},
		{
			Name: Encryption, Action: "s3:GetEncryptionConfiguration", Root: "ServerSideEncryptionConfiguration",
			Absent: []string{"ServerSideEncryptionConfigurationNotFoundError"},
			fields: encryption(),
			usual:  always("S3 encrypts every bucket so", table.Is("ServerSideEncryptionConfiguration.ServerSideEncryptionByDefault.SSEAlgorithm", "AES256")),
			rates:  encryptionRates(),
		},
		{
			Name: PublicAccess, Action: "s3:GetBucketPublicAccessBlock", Root: "PublicAccessBlockConfiguration",
			Absent: []string{"NoSuchPublicAccessBlockConfiguration"},
			fields: flag().Of(publicAccessBlocks),
			usual:  publicAccessUsual(),
			rates:  publicAccessRates(),
		},
		{
			Name: Ownership, Action: "s3:GetBucketOwnershipControls", Root: "OwnershipControls",
			Absent: []string{"OwnershipControlsNotFoundError"},
			fields: many(block(text().Of("ObjectOwnership"))).Of("Rule>Rules"),
			usual:  always("every new bucket has it", table.Is("Rules.ObjectOwnership", "BucketOwnerEnforced")),
			rates:  ownershipRates(),
		},
		{
			Name: AccessControl, Action: "s3:GetBucketAcl", Root: "AccessControlPolicy",
			fields:  accessControl(),
			derived: derived("AccessControl Grantees Public"),
			usual:   always("every new bucket has it", table.Is("AccessControl", "Private")),
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
			fields:  lifecycle(),
			derived: derived("Deletes"),
			rates:   lifecycleRates(),
		},
		{
			Name: CORS, Action: "s3:GetBucketCORS", Root: "CORSConfiguration",
			Absent: []string{"NoSuchCORSConfiguration"},
			fields: cors(),
		},
		{
			Name: Logging, Action: "s3:GetBucketLogging", Root: "BucketLoggingStatus",
			fields: logging(),
			usual:  always("logging was never switched on", table.Is("DestinationBucketName", "")),
			rates:  loggingRates(),
		},
		{
			Name: ObjectLock, Action: "s3:GetBucketObjectLockConfiguration", Root: "ObjectLockConfiguration",
			Absent: []string{"ObjectLockConfigurationNotFoundError", "NoSuchObjectLockConfiguration"},
			fields: objectLock(),
			usual:  always("it holds no rule beside the lock that the bucket was made with", table.Is("Rule.DefaultRetention.Mode", "")),
			rates:  objectLockRates(),
		},
		{
			Name: Website, Action: "s3:GetBucketWebsite", Root: "WebsiteConfiguration",
			Absent: []string{"NoSuchWebsiteConfiguration"},
			fields: website(),
			rates:  websiteRates(),
		},
		{
			Name: Accelerate, Action: "s3:GetAccelerateConfiguration", Root: "AccelerateConfiguration",
			fields: text().Of("Status>AccelerationStatus"),
			usual:  always("it is off", table.Is("AccelerationStatus", "", "Suspended")),
		},
		{
			Name: RequestPayment, Action: "s3:GetBucketRequestPayment", Root: "RequestPaymentConfiguration",
			fields: text().Of("Payer"),
			usual:  always("the owner pays, as for every bucket", table.Is("Payer", "", "BucketOwner")),
		},
		{
			Name: Notification, Action: "s3:GetBucketNotification", Root: "NotificationConfiguration",
			fields: notification(),
			usual:  notificationUsual(),
			rates:  notificationRates(),
		},
	}
}

func encryption() table.Fields {
	return many(block(table.Join(
		block(text().Of("SSEAlgorithm KMSMasterKeyID")).Of("ApplyServerSideEncryptionByDefault>ServerSideEncryptionByDefault"),
		flag().Of("BucketKeyEnabled"),
		block(many(text()).Of("EncryptionType")).Of("BlockedEncryptionTypes")))).Of("Rule>ServerSideEncryptionConfiguration")
}

// grants are a list of who may do what. It has S3's own form: CloudFormation has
// canned lists alone.
func grants() table.Form {
	return many(block(table.Join(block(text().Of("ID URI EmailAddress")).Of("Grantee"), text().Of("Permission"))))
}

func accessControl() table.Fields {
	return table.Join(block(text().Of("ID")).Of("Owner"), grants().Of("AccessControlList.Grant>Grants"))
}

// lifecycle keeps a rule's filter as S3 has it: CloudFormation lifts what is in it
// into the rule, and then a prefix of the filter and one of the rule, which are
// declared in two ways, look alike.
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

// notification keeps S3's own lists of events: CloudFormation has an entry for
// each event. A filter is a map: there is one prefix and one suffix.
func notification() table.Fields {
	to := func(target string) table.Form {
		return many(block(table.Join(text().Of("Id "+target), many(text()).Of("Event>Events"), tags().Of("Filter.S3Key.FilterRule>Filter"))))
	}
	return table.Join(
		to("CloudFunction>Function").Of("CloudFunctionConfiguration>LambdaConfigurations"),
		to("Queue").Of("QueueConfiguration>QueueConfigurations"),
		to("Topic").Of("TopicConfiguration>TopicConfigurations"),
		mark().Of("EventBridgeConfiguration>EventBridgeEnabled"))
}
