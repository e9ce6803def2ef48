// Package vocabulary lists what a recording of an AWS account contains unchanged: words of the APIs that no user
// chooses.
package vocabulary

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/collectors/aws/catalogue"
	"github.com/driftd/driftd/internal/record"
)

// region fits regions and availability zones. The name of a server's own region does not fit.
const region = `(?:us|eu|ap|sa|ca|me|af|il|mx|cn|us-gov|us-iso|us-isob|us-isof|eu-isoe|eusc-de)-(?:north|south|east|west|central|northeast|northwest|southeast|southwest)-[0-9][a-f]?`

// partition fits the partitions of ARNs.
const partition = `aws(?:-cn|-us-gov|-iso|-iso-b|-iso-e|-iso-f|-eusc)?`

// Of returns the vocabulary of accounts. endpoint is the host of a compatible server; "" for
// AWS.
func Of(endpoint string) *record.Vocabulary {
	return &record.Vocabulary{
		Type:  "aws",
		Words: strings.Join([]string{requestWords, listWords, bucketWords, policyWords}, " "), Lists: "item member", Entry: "Attributes.entry",
		Open:      "tags Tags Variables Environment labels taints Condition dockerLabels logConfiguration FilterPolicy",
		Documents: "Policy PolicyDocument AssumeRolePolicyDocument Document RedrivePolicy RedriveAllowPolicy",
		Closed: "Statement Version Id Sid Effect Principal NotPrincipal Action NotAction Resource NotResource Condition " +
			"AWS Service Federated CanonicalUser deadLetterTargetArn maxReceiveCount redrivePermission sourceQueueArns",
		Checked: map[string]*regexp.Regexp{"PolicyArn": managedPolicy(), "PermissionsBoundaryArn": managedPolicy()},
		// ValidTill is the same in many accounts: the offset of times could be read from it.
		Removed: "resourceTags AuthenticationRequestExtraParams SecretVersionsToStages VersionIdsToStages ValidTill " +
			"Environment environment userData UserData containerDefinitions Credentials SecretString SecretBinary EncodedAuthorizationMessage",
		Messages: "Message message", Phrases: []string{"service control policy"},
		Keep: keep(), IDs: ids(), Compound: compound, Public: services + " " + resourceTypes,
		Headers: map[string]*regexp.Regexp{
			"Content-Type":        regexp.MustCompile(`^(?:application|text)/[a-z0-9.+-]{1,40}(?:; ?charset=[A-Za-z0-9-]{1,10})?$`),
			"Server":              regexp.MustCompile(`^AmazonS3$`),
			"X-Amz-Bucket-Region": regexp.MustCompile(`^` + region + `$`),
			"X-Amzn-Errortype":    regexp.MustCompile(`^[A-Za-z]{1,64}$`),
		},
		Paths: paths(), Request: func(r *http.Request) (record.Request, bool) { return request(r, endpoint) },
	}
}

// requestWords are parameters of requests, other than those that are also in answers.
const requestWords = `MaxResults maxResults MaxItems MaxRecords Limit limit ResourcesPerPage AttributeNames Attribute Owner RestorableBy Filter Filter.Name
 max-buckets x-id type`

// listWords are the keys of the answers of lists.
const listWords = `
 Code code __type Type status Status State state StatusCode statusCode
 instanceState.name currentState.name state.name monitoring.state status.code statusSet.name
 amiLaunchIndex architecture rootDeviceType virtualizationType hypervisor instanceType volumeType size iops throughput volumeSize volumeInitializationRate
 platform platformDetails usageOperation imageType imageState imageOwnerAlias storageTier sseType progress volumeState attachmentStatus
 cidrBlockState.state subnetCidrBlockState.state instanceTenancy addressesSet.domain origin ipProtocol fromPort toPort protocol portRange.from portRange.to ruleNumber ruleAction
 interfaceType deviceIndex networkCardIndex vpcEndpointType connectivityType availableIpAddressCount keyType
 httpTokens httpEndpoint httpProtocolIpv6 httpPutResponseHopLimit instanceMetadataTags capacityReservationPreference
 defaultVersionNumber latestVersionNumber tenancy coreCount threadsPerCore
 AttachmentCount PermissionsBoundaryUsageCount DefaultVersionId VersionId PermissionsBoundaryType
 MinimumPasswordLength MaxPasswordAge PasswordReusePrevention
 VisibilityTimeout MaximumMessageSize MessageRetentionPeriod DelaySeconds ReceiveMessageWaitTimeSeconds KmsDataKeyReusePeriodSeconds
 ApproximateNumberOfMessages ApproximateNumberOfMessagesNotVisible ApproximateNumberOfMessagesDelayed DeduplicationScope FifoThroughputLimit
 SubscriptionsConfirmed SubscriptionsPending SubscriptionsDeleted SignatureVersion TracingConfig Protocol
 Runtime PackageType Architectures LastUpdateStatus Mode TracingConfig.Mode ApplyOn OptimizationStatus Version AuthType InvokeMode Timeout MemorySize
 Engine engine DBInstanceClass DBInstanceStatus AllocatedStorage StorageType Iops StorageThroughput BackupRetentionPeriod
 Port HttpsPort MonitoringInterval LicenseModel EngineMode NetworkType CACertificateIdentifier PromotionTier MaxAllocatedStorage
 TableStatus BillingMode imageTagMutability scanType encryptionType
 Scheme State.Code IpAddressType ProtocolVersion TargetType HealthCheckProtocol HealthCheckPort HealthCheckIntervalSeconds HealthCheckTimeoutSeconds
 HealthyThresholdCount UnhealthyThresholdCount HttpCode Order AlpnPolicy
 version platformVersion ipFamily authenticationMode
 ResourceRecordSetCount TTL Weight Failover MaxItems EvaluateTargetHealth
 KeyState KeyUsage KeyManager KeySpec CustomerMasterKeySpec Origin EncryptionAlgorithms SigningAlgorithms MultiRegionKeyType
 OwningService logGroupClass retentionInDays metricFilterCount useOnly recordingFrequency lastStatus type
`

// bucketWords are the keys of the answers of S3.
const bucketWords = `
 MfaDelete SSEAlgorithm EncryptionType ObjectOwnership Permission Days Years NoncurrentDays NewerNoncurrentVersions
 DaysAfterInitiation StorageClass ObjectSizeGreaterThan ObjectSizeLessThan MaxAgeSeconds AllowedMethod PartitionDateSource ObjectLockEnabled
 HttpErrorCodeReturnedEquals HttpRedirectCode Payer Event FilterRule.Name
`

// policyWords are the keys of policies.
const policyWords = `Effect Action NotAction`

// keep returns the texts that are kept wherever they stand: regions, parts of names that AWS
// reserves or gives, and texts about everyone. Users can choose some of these words; they
// identify nothing.
func keep() *regexp.Regexp {
	return regexp.MustCompile(`^(?:` + strings.Join([]string{
		region, partition, `default|Name|local|alias|lambda|aws-service-role|aws-reserved|hostedzone|amazonaws|com|https?|arn|global|all|self|s3|ec2|sqs`,
		`\*|\*:\*|PendingConfirmation|Deleted`,
		`__default_policy_ID|__default_statement_ID|StringEquals|(?:AWS|aws):Source(?:Owner|Account)`, // The policy of each new topic.
		`SNS:(?:(?:Get|Set)TopicAttributes|(?:Add|Remove)Permission|DeleteTopic|Subscribe|ListSubscriptionsByTopic|Publish|Receive)`,
		`http://acs\.amazonaws\.com/groups/(?:global/AllUsers|global/AuthenticatedUsers|s3/LogDelivery)`,
		`aws:(?:cloudformation:(?:stack-name|stack-id|logical-id)|autoscaling:groupName|eks:cluster-name|ec2launchtemplate:(?:id|version)|ec2:fleet-id)`,
		`https?://[a-z0-9]{1,40}\.amazonaws\.com/doc/[0-9-]{10}/?`,
	}, "|") + `)$`)
}

// managedPolicy returns the form of ARNs of policies of AWS. In texts of users they may have any name.
func managedPolicy() *regexp.Regexp {
	return regexp.MustCompile(`^arn:` + partition + `:iam::aws:policy/[A-Za-z0-9/+=,.@_-]+$`)
}

// ids returns the form of IDs that AWS gives: those of EC2, and those of users, roles and keys.
func ids() *regexp.Regexp {
	return regexp.MustCompile(`^(?:((?:sg|sgr|vpc|subnet|rtb|rtbassoc|igw|eigw|nat|eipalloc|eipassoc|acl|aclassoc|i|r|vol|snap|ami|key|lt|eni|eni-attach|vpce|vpce-svc|pcx|tgw|tgw-attach|pl|dopt|` +
		`vpc-cidr-assoc|subnet-cidr-assoc|fl|vgw|cgw|vpn|lb)-)(?:[0-9a-f]{8}|[0-9a-f]{17})|` +
		`(A(?:KIA|SIA|IDA|ROA|GPA|NPA|IPA|NVA|PKA|SCA|BIA|CCA))[A-Z0-9]{12,32})$`)
}

// services are the services in ARNs and in names of principals.
const services = `iam sts ec2 s3 sqs sns lambda rds dynamodb ecr elasticloadbalancing eks ecs ecs-tasks route53 kms secretsmanager cloudtrail config logs
 access-analyzer cloudformation autoscaling events cloudwatch cloudfront apigateway ssm delivery.logs vpc-flow-logs elasticfilesystem es states
 batch glue athena firehose kinesis codebuild codepipeline codedeploy backup acm waf wafv2 shield guardduty inspector support trustedadvisor organizations sso
 spot spotfleet ec2fleet replication.ecr edgelambda monitoring.rds application-autoscaling eks-nodegroup eks-fargate-pods elasticache redshift sagemaker`

// resourceTypes are the first parts of resources in ARNs that are types, of services that have
// these.
const resourceTypes = `user role group policy instance-profile oidc-provider saml-provider assumed-role mfa server-certificate root function layer table cluster service
 key alias secret log-group trail listener loadbalancer targetgroup repository db snapshot cluster-snapshot analyzer stack hostedzone instance vpc subnet
 security-group security-group-rule volume image network-acl route-table internet-gateway natgateway network-interface elastic-ip key-pair launch-template vpc-endpoint
 vpc-peering-connection nodegroup task-definition task distribution config-recorder`

// compound returns an ARN or the name of a service with the names in it replaced.
func compound(text string, name func(string) string) (string, bool) {
	if principal, host, ok := strings.Cut(text, ".amazonaws.com"); ok && (host == "" || host == ".cn") {
		return text, has(services, principal)
	}
	parts := strings.SplitN(text, ":", 6)
	if len(parts) < 6 || parts[0] != "arn" {
		return "", false
	}
	service, resource := parts[2], parts[5]
	if !has(services, service) {
		parts[2] = name(service)
	}
	for _, i := range []int{1, 3, 4} {
		parts[i] = name(parts[i])
	}
	typed := service != "s3" && service != "sns" && service != "sqs"
	if end := strings.IndexAny(resource, "/:"); end > 0 && typed && has(resourceTypes, resource[:end]) {
		parts[5] = resource[:end+1] + name(resource[end+1:])
	} else {
		parts[5] = name(resource)
	}
	return strings.Join(parts, ":"), true
}

func has(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// paths returns the templates of the paths of lists.
func paths() []string {
	var all []string
	var add func([]*catalogue.List)
	add = func(lists []*catalogue.List) {
		for _, l := range lists {
			if l.Call.Path != "" {
				all = append(all, regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(l.Call.Path, "{}"))
			}
			add(l.Then)
		}
	}
	add(catalogue.Lists())
	return all
}
