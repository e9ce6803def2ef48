package cloudtrail

// storageEvents returns the operations of S3. Each part of a bucket is a resource.
func storageEvents() map[string]map[string][]effect {
	const bucket = "{bucketName}"
	all := map[string][]effect{
		"CreateBucket":        {created("S3::Bucket", bucket)},
		"DeleteBucket":        {deleted("S3::Bucket", bucket)},
		"PutBucketTagging":    {edited("S3::Bucket", bucket, "Tags tags tags_all")},
		"DeleteBucketTagging": {edited("S3::Bucket", bucket, "Tags tags tags_all")},
	}
	for _, part := range []struct{ event, kind string }{
		{"Policy", "S3::BucketPolicy"},
		{"Versioning", "S3::Bucket.VersioningConfiguration"},
		{"Encryption", "S3::Bucket.BucketEncryption"},
		{"PublicAccessBlock", "S3::Bucket.PublicAccessBlockConfiguration"},
		{"OwnershipControls", "S3::Bucket.OwnershipControls"},
		{"Acl", "S3::Bucket.AccessControlPolicy"},
		{"Lifecycle", "S3::Bucket.LifecycleConfiguration"},
		{"Cors", "S3::Bucket.CorsConfiguration"},
		{"Logging", "S3::Bucket.LoggingConfiguration"},
		{"ObjectLockConfiguration", "S3::Bucket.ObjectLockConfiguration"},
		{"Website", "S3::Bucket.WebsiteConfiguration"},
		{"AccelerateConfiguration", "S3::Bucket.AccelerateConfiguration"},
		{"RequestPayment", "S3::Bucket.RequestPaymentConfiguration"},
		{"Notification", "S3::Bucket.NotificationConfiguration"},
	} {
		all["PutBucket"+part.event] = []effect{put(part.kind, bucket)}
		all["DeleteBucket"+part.event] = []effect{deleted(part.kind, bucket)}
	}
	return map[string]map[string][]effect{"s3": all}
}

func messagingEvents() map[string]map[string][]effect {
	const queue = "arn:{$partition}:sqs:{$region}:{$account}:{queueUrl@name|<queueUrl@name}"
	const attributes = "attributes.Policy>policy attributes.Policy>public attributes.VisibilityTimeout>visibility_timeout_seconds attributes.DelaySeconds>delay_seconds " +
		"attributes.MessageRetentionPeriod>message_retention_seconds attributes.MaximumMessageSize>max_message_size attributes.RedrivePolicy>redrive_policy " +
		"attributes.ReceiveMessageWaitTimeSeconds>receive_wait_time_seconds attributes.KmsMasterKeyId>kms_master_key_id attributes.SqsManagedSseEnabled>sqs_managed_sse_enabled"
	// The claim on a policy that is gone has its identities in place of the ARN.
	identities := []string{"{queueUrl}", "{$region} {$account}/{queueUrl@name}"}
	gone := func(ids ...string) []effect {
		var all []effect
		for _, id := range ids {
			all = append(all, deleted("SQS::QueuePolicy", id))
		}
		return all
	}
	// An empty text removes the policy. Without one it stays.
	cleared := gone(append(identities, queue)...)
	for i := range cleared {
		cleared[i].fields, cleared[i].when = "attributes.Policy>policy", "attributes.Policy="
	}
	const topic = "{topicArn}"
	return map[string]map[string][]effect{
		"sqs": {
			"CreateQueue":        {created("SQS::Queue", queue), put("SQS::QueuePolicy", queue).if_("attributes.Policy=*")},
			"DeleteQueue":        append(gone(append(identities, queue)...), deleted("SQS::Queue", queue)),
			"SetQueueAttributes": append(cleared, put("SQS::QueuePolicy", queue).if_("attributes.Policy=*"), edited("SQS::Queue", queue, attributes)),
			"AddPermission":      {put("SQS::QueuePolicy", queue), edited("SQS::Queue", queue, "policy public")},
			// With its last statement, the policy is gone.
			"RemovePermission": append(gone(identities...), put("SQS::QueuePolicy", queue), edited("SQS::Queue", queue, "policy public")),
		},
		"sns": {
			"CreateTopic": {created("SNS::Topic", "{<topicArn}"), put("SNS::TopicPolicy", "{<topicArn}").if_("attributes.Policy=*")},
			"DeleteTopic": {deleted("SNS::Topic", topic), deleted("SNS::TopicPolicy", topic)},
			"SetTopicAttributes": {edited("SNS::Topic", topic, "attributeName=Policy>policy attributeName=Policy>public attributeName=DisplayName>display_name "+
				"attributeName=KmsMasterKeyId>kms_master_key_id attributeName=DeliveryPolicy>delivery_policy"), put("SNS::TopicPolicy", topic).if_("attributeName=Policy")},
			"AddPermission":    {edited("SNS::Topic", topic, "policy public"), put("SNS::TopicPolicy", topic)},
			"RemovePermission": {edited("SNS::Topic", topic, "policy public"), put("SNS::TopicPolicy", topic)},
			"Subscribe":        {created("SNS::Subscription", "{<subscriptionArn}")},
			"Unsubscribe":      {deleted("SNS::Subscription", "{subscriptionArn}")},
		},
	}
}

func computeEvents() map[string]map[string][]effect {
	const function = "arn:{$partition}:lambda:{$region}:{$account}:function:{functionName@function}"
	const settings = "runtime>runtime handler>handler memorySize>memory_size timeout>timeout role>role environment>environment layers>layers vpcConfig>vpc_config description>description"
	const cluster = "arn:{$partition}:eks:{$region}:{$account}:cluster/{name}"
	const node = "{$region}:{clusterName|name}:{nodegroupName}"
	return map[string]map[string][]effect{
		"lambda": {
			"CreateFunction20150331":                {created("Lambda::Function", function)},
			"DeleteFunction20150331":                {deleted("Lambda::Function", function)},
			"UpdateFunctionConfiguration20150331v2": {edited("Lambda::Function", function, settings)},
			"UpdateFunctionCode20150331v2":          {edited("Lambda::Function", function, "source_code_hash code_sha256 filename s3_key s3_object_version image_uri last_modified")},
			"AddPermission20150331v2":               {created("Lambda::Permission", function+":{statementId}").if_("qualifier=")},
			"RemovePermission20150331v2":            {deleted("Lambda::Permission", function+":{statementId}").if_("qualifier=")},
			"CreateFunctionUrlConfig":               {created("Lambda::Url", function)},
			"DeleteFunctionUrlConfig":               {deleted("Lambda::Url", function)},
			"UpdateFunctionUrlConfig":               {edited("Lambda::Url", function, "authType>authorization_type cors>cors")},
		},
		"eks": {
			"CreateCluster":         {created("EKS::Cluster", cluster)},
			"DeleteCluster":         {deleted("EKS::Cluster", cluster)},
			"UpdateClusterConfig":   {edited("EKS::Cluster", cluster, "resourcesVpcConfig>vpc_config resourcesVpcConfig>endpoint_public_access resourcesVpcConfig>public_access_cidrs logging>enabled_cluster_log_types")},
			"CreateNodegroup":       {created("EKS::Nodegroup", node)},
			"DeleteNodegroup":       {deleted("EKS::Nodegroup", node)},
			"UpdateNodegroupConfig": {edited("EKS::Nodegroup", node, "scalingConfig>scaling_config labels>labels taints>taint")},
		},
		"ecs": {
			"CreateCluster": {created("ECS::Cluster", "{<cluster.clusterArn}")},
			"DeleteCluster": {deleted("ECS::Cluster", "{<cluster.clusterArn}")},
			"CreateService": {created("ECS::Service", "{<service.serviceArn}")},
			"DeleteService": {deleted("ECS::Service", "{<service.serviceArn}")},
			"UpdateService": {edited("ECS::Service", "{<service.serviceArn}", "desiredCount>desired_count taskDefinition>task_definition networkConfiguration>network_configuration")},
		},
		"elasticloadbalancing": {
			"CreateLoadBalancer": {created("ElasticLoadBalancingV2::LoadBalancer", "{<loadBalancers.loadBalancerArn}")},
			"DeleteLoadBalancer": {deleted("ElasticLoadBalancingV2::LoadBalancer", "{loadBalancerArn}")},
			"SetSecurityGroups":  {edited("ElasticLoadBalancingV2::LoadBalancer", "{loadBalancerArn}", "security_groups")},
			"CreateListener":     {created("ElasticLoadBalancingV2::Listener", "{<listeners.listenerArn}")},
			"DeleteListener":     {deleted("ElasticLoadBalancingV2::Listener", "{listenerArn}")},
			"ModifyListener":     {edited("ElasticLoadBalancingV2::Listener", "{listenerArn}", "port>port protocol>protocol sslPolicy>ssl_policy certificates>certificate_arn defaultActions>default_action")},
			"CreateTargetGroup":  {created("ElasticLoadBalancingV2::TargetGroup", "{<targetGroups.targetGroupArn}")},
			"DeleteTargetGroup":  {deleted("ElasticLoadBalancingV2::TargetGroup", "{targetGroupArn}")},
			"ModifyTargetGroup":  {edited("ElasticLoadBalancingV2::TargetGroup", "{targetGroupArn}", "health_check")},
		},
	}
}

func dataEvents() map[string]map[string][]effect {
	const database = "arn:{$partition}:rds:{$region}:{$account}:db:{dBInstanceIdentifier@lower}"
	const cluster = "arn:{$partition}:rds:{$region}:{$account}:cluster:{dBClusterIdentifier@lower}"
	const settings = "dBInstanceClass>instance_class publiclyAccessible>publicly_accessible allocatedStorage>allocated_storage backupRetentionPeriod>backup_retention_period " +
		"multiAZ>multi_az engineVersion>engine_version deletionProtection>deletion_protection dBParameterGroupName>parameter_group_name " +
		"vpcSecurityGroupIds>vpc_security_group_ids storageType>storage_type iops>iops preferredMaintenanceWindow>maintenance_window " +
		"preferredBackupWindow>backup_window masterUserPassword>password enableIAMDatabaseAuthentication>iam_database_authentication_enabled cACertificateIdentifier>ca_cert_identifier"
	const zoneTable = "arn:{$partition}:dynamodb:{$region}:{$account}:table/{tableName@name}"
	record := func(action string, e effect) effect {
		e.kind, e.id = "Route53::RecordSet", "{hostedZoneId@name}_{.resourceRecordSet.name@record}_{.resourceRecordSet.type}{_.resourceRecordSet.setIdentifier}"
		return e.of("changeBatch.changes").if_(".action=" + action)
	}
	return map[string]map[string][]effect{
		"rds": {
			"CreateDBInstance": {created("RDS::DBInstance", database)},
			"DeleteDBInstance": {deleted("RDS::DBInstance", database)},
			"ModifyDBInstance": {edited("RDS::DBInstance", database, settings).if_("newDBInstanceIdentifier=")},
			"CreateDBCluster":  {created("RDS::DBCluster", cluster)},
			"DeleteDBCluster":  {deleted("RDS::DBCluster", cluster)},
			"ModifyDBCluster":  {edited("RDS::DBCluster", cluster, settings).if_("newDBClusterIdentifier=")},
		},
		"dynamodb": {
			"CreateTable":      {created("DynamoDB::Table", zoneTable)},
			"DeleteTable":      {deleted("DynamoDB::Table", zoneTable)},
			"UpdateTable":      {edited("DynamoDB::Table", zoneTable, "billingMode>billing_mode provisionedThroughput.readCapacityUnits>read_capacity provisionedThroughput.writeCapacityUnits>write_capacity deletionProtectionEnabled>deletion_protection_enabled sSESpecification>server_side_encryption streamSpecification>stream_enabled")},
			"UpdateTimeToLive": {edited("DynamoDB::Table", zoneTable, "ttl")},
		},
		"ecr": {
			"CreateRepository":              {created("ECR::Repository", "{<repository.repositoryArn}")},
			"DeleteRepository":              {deleted("ECR::Repository", "{<repository.repositoryArn}")},
			"PutImageTagMutability":         {edited("ECR::Repository", "arn:{$partition}:ecr:{$region}:{$account}:repository/{repositoryName}", "image_tag_mutability")},
			"PutImageScanningConfiguration": {edited("ECR::Repository", "arn:{$partition}:ecr:{$region}:{$account}:repository/{repositoryName}", "image_scanning_configuration")},
		},
		"route53": {
			"CreateHostedZone": {created("Route53::HostedZone", "{<hostedZone.id@name}")},
			"DeleteHostedZone": {deleted("Route53::HostedZone", "{id@name}")},
			"ChangeResourceRecordSets": {
				record("CREATE", created("", "")), record("DELETE", deleted("", "")), record("UPSERT", put("", "")),
			},
		},
	}
}

// Templates of the ARN of a key. Requests have its ID or its ARN.
const (
	kmsKeys = "arn:{$partition}:kms:{$region}:{$account}:key/"
	kmsKey  = kmsKeys + "{keyId@name}"
)

func keyEvents() map[string]map[string][]effect {
	const secret = "{<arn|secretId@arn}"
	return map[string]map[string][]effect{
		"kms": {
			"CreateKey":            {created("KMS::Key", "{<keyMetadata.arn}")},
			"ReplicateKey":         {created("KMS::Key", "{<replicaKeyMetadata.arn}")},
			"ScheduleKeyDeletion":  {deleted("KMS::Key", kmsKeys+"{<keyId@name|keyId@name}")},
			"DisableKey":           {edited("KMS::Key", kmsKey, "is_enabled")},
			"EnableKey":            {edited("KMS::Key", kmsKey, "is_enabled")},
			"PutKeyPolicy":         {edited("KMS::Key", kmsKey, "policy")},
			"EnableKeyRotation":    {edited("KMS::Key", kmsKey, "enable_key_rotation")},
			"DisableKeyRotation":   {edited("KMS::Key", kmsKey, "enable_key_rotation")},
			"UpdateKeyDescription": {edited("KMS::Key", kmsKey, "description")},
			"CreateAlias":          {created("KMS::Alias", "arn:{$partition}:kms:{$region}:{$account}:{aliasName}")},
			"DeleteAlias":          {deleted("KMS::Alias", "arn:{$partition}:kms:{$region}:{$account}:{aliasName}")},
			"UpdateAlias":          {edited("KMS::Alias", "arn:{$partition}:kms:{$region}:{$account}:{aliasName}", "target_key_id")},
		},
		"secretsmanager": {
			"CreateSecret":         {created("SecretsManager::Secret", "{<arn}")},
			"DeleteSecret":         {deleted("SecretsManager::Secret", secret)},
			"PutResourcePolicy":    {edited("SecretsManager::Secret", secret, "policy")},
			"DeleteResourcePolicy": {edited("SecretsManager::Secret", secret, "policy")},
		},
	}
}

// watchingEvents returns the operations on what records and examines the account.
func watchingEvents() map[string]map[string][]effect {
	const trail = "{<trailARN|name@arn}"
	const group = "arn:{$partition}:logs:{$region}:{$account}:log-group:{logGroupName}"
	const recorder = "{$region}:{configurationRecorderName|configurationRecorder.name}"
	return map[string]map[string][]effect{
		"cloudtrail": {
			"CreateTrail":  {created("CloudTrail::Trail", "{<trailARN}")},
			"DeleteTrail":  {deleted("CloudTrail::Trail", "{name@arn}"), deleted("CloudTrail::Trail", "arn:{$partition}:cloudtrail:{$region}:{$account}:trail/{name@plain}")},
			"StartLogging": {edited("CloudTrail::Trail", "{name@arn}", "enable_logging"), edited("CloudTrail::Trail", "arn:{$partition}:cloudtrail:{$region}:{$account}:trail/{name@plain}", "enable_logging")},
			"StopLogging":  {edited("CloudTrail::Trail", "{name@arn}", "enable_logging"), edited("CloudTrail::Trail", "arn:{$partition}:cloudtrail:{$region}:{$account}:trail/{name@plain}", "enable_logging")},
			"UpdateTrail":  {edited("CloudTrail::Trail", trail, "s3BucketName>s3_bucket_name isMultiRegionTrail>is_multi_region_trail enableLogFileValidation>enable_log_file_validation kmsKeyId>kms_key_id includeGlobalServiceEvents>include_global_service_events")},
		},
		"config": {
			"PutConfigurationRecorder":    {put("Config::ConfigurationRecorder", recorder)},
			"DeleteConfigurationRecorder": {deleted("Config::ConfigurationRecorder", recorder)},
			"StartConfigurationRecorder":  {edited("Config::ConfigurationRecorder", recorder, "is_enabled")},
			"StopConfigurationRecorder":   {edited("Config::ConfigurationRecorder", recorder, "is_enabled")},
		},
		"logs": {
			"CreateLogGroup":        {created("Logs::LogGroup", group)},
			"DeleteLogGroup":        {deleted("Logs::LogGroup", group)},
			"PutRetentionPolicy":    {edited("Logs::LogGroup", group, "retention_in_days")},
			"DeleteRetentionPolicy": {edited("Logs::LogGroup", group, "retention_in_days")},
			"AssociateKmsKey":       {edited("Logs::LogGroup", group, "kms_key_id")},
			"DisassociateKmsKey":    {edited("Logs::LogGroup", group, "kms_key_id")},
		},
		"access-analyzer": {
			"CreateAnalyzer": {created("AccessAnalyzer::Analyzer", "{<arn}")},
			"DeleteAnalyzer": {deleted("AccessAnalyzer::Analyzer", "arn:{$partition}:access-analyzer:{$region}:{$account}:analyzer/{analyzerName}")},
		},
	}
}

// tagEvents returns the operations that set and remove tags, other than those of EC2, IAM and S3. Most record a list
// of keys and values, and some a map.
func tagEvents() map[string]map[string][]effect {
	const list, keys, mapped = "tags.key", "tagKeys", "tags"
	tags := func(kind, id, of string) effect { return edited(kind, id, of+">tags.* "+of+">tags_all.*") }
	both := func(kind, id, of string) map[string][]effect {
		return map[string][]effect{"TagResource": {tags(kind, id, of)}, "UntagResource": {tags(kind, id, keys)}}
	}
	each := func(id, of string, kinds ...string) (all []effect) {
		for _, kind := range kinds {
			all = append(all, tags(kind, id, of))
		}
		return all
	}
	const queue = "arn:{$partition}:sqs:{$region}:{$account}:{queueUrl@name}"
	const function = "arn:{$partition}:lambda:{$region}:{$account}:function:{resource@function}"
	const group = "arn:{$partition}:logs:{$region}:{$account}:log-group:{logGroupName}"
	const zone = "{resourceId@name}"
	balancing := []string{"ElasticLoadBalancingV2::LoadBalancer", "ElasticLoadBalancingV2::Listener", "ElasticLoadBalancingV2::TargetGroup"}
	databases := []string{"RDS::DBInstance", "RDS::DBCluster"}
	return map[string]map[string][]effect{
		"sqs":                  {"TagQueue": {tags("SQS::Queue", queue, mapped)}, "UntagQueue": {tags("SQS::Queue", queue, keys)}},
		"sns":                  both("SNS::Topic", "{resourceArn}", list),
		"lambda":               {"TagResource20170331v2": {tags("Lambda::Function", function, mapped)}, "UntagResource20170331v2": {tags("Lambda::Function", function, keys)}},
		"dynamodb":             both("DynamoDB::Table", "{resourceArn}", list),
		"ecr":                  both("ECR::Repository", "{resourceArn}", list),
		"eks":                  both("EKS::Cluster", "{resourceArn}", mapped),
		"kms":                  both("KMS::Key", kmsKey, "tags.tagKey"),
		"secretsmanager":       both("SecretsManager::Secret", "{<arn|secretId@arn}", list),
		"logs":                 merge(both("Logs::LogGroup", "{resourceArn}", mapped), map[string][]effect{"TagLogGroup": {tags("Logs::LogGroup", group, mapped)}, "UntagLogGroup": {tags("Logs::LogGroup", group, "tags")}}),
		"cloudtrail":           {"AddTags": {tags("CloudTrail::Trail", "{resourceId}", "tagsList.key")}, "RemoveTags": {tags("CloudTrail::Trail", "{resourceId}", "tagsList.key")}},
		"elasticloadbalancing": {"AddTags": each("{resourceArns}", list, balancing...), "RemoveTags": each("{resourceArns}", keys, balancing...)},
		"rds":                  {"AddTagsToResource": each("{resourceName}", list, databases...), "RemoveTagsFromResource": each("{resourceName}", keys, databases...)},
		"route53": {"ChangeTagsForResource": {
			edited("Route53::HostedZone", zone, "addTags.key>tags.* addTags.key>tags_all.* removeTagKeys>tags.* removeTagKeys>tags_all.*").if_("resourceType=hostedzone"),
		}},
	}
}
