package catalogue

import (
	"slices"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// services returns the kinds of the other services.
func services() []*List {
	return slices.Concat(messaging(), functions(), data(), balancers(), containers(), zones(), keys(), watching())
}

const publicReason = "everyone can use it"

func publicRules() []model.SeverityRule {
	return slices.Concat(
		rate(model.Critical, publicReason, "policy", table.Is("public", "true")),
		table.Rate(model.High, decidesReason, "policy", nil))
}

func messaging() []*List {
	sqs := &awsapi.Service{ID: "sqs", Protocol: awsapi.JSON, Version: "1.0", Target: "AmazonSQS"}
	sns := &awsapi.Service{ID: "sns", Protocol: awsapi.Query, Version: "2010-03-31", Lists: "entry"}
	next := []awsapi.PageToken{{Param: "NextToken", Field: "NextToken"}}
	return []*List{
		{
			Call:   awsapi.Call{Service: sqs, Action: "ListQueues", Input: map[string]any{"MaxResults": 1000}, Page: next},
			Rights: "sqs:ListQueues", Rows: "QueueUrls", Optional: true,
			Then: []*List{{
				Call:   awsapi.Call{Service: sqs, Action: "GetQueueAttributes", Input: map[string]any{"QueueUrl": "{text}", "AttributeNames": []string{"All"}}},
				Rights: "sqs:GetQueueAttributes", Rows: "Attributes", Absent: "QueueDoesNotExist NonExistentQueue",
				Subject: Reference{"SQS::Queue", "arn:{$partition}:sqs:{$region}:{$account}:{text@name}"},
				Kinds: []*Kind{{
					Name: "SQS::Queue", ID: "{QueueArn}", Label: "{QueueArn@name}", Created: "CreatedTimestamp", Tagged: true,
					Identities: [][2]string{{"url", "{^.^.text}"}},
					Fields:     table.Join(text().Of("KmsMasterKeyId>kms_master_key_id"), public().Of("Policy>public")),
					Rules:      publicRules(), Exposed: table.Exposed(model.ExposesAccess, "policy public"),
				}, queuePolicy()},
			}},
		},
		{
			Call: awsapi.Call{Service: sns, Action: "ListTopics", Page: next}, Rights: "sns:ListTopics", Rows: "Topics",
			Then: []*List{{
				Call:   awsapi.Call{Service: sns, Action: "GetTopicAttributes", Input: map[string]any{"TopicArn": "{TopicArn}"}},
				Rights: "sns:GetTopicAttributes", Absent: "NotFound NotFoundException", Subject: Reference{"SNS::Topic", "{TopicArn}"},
				Kinds: []*Kind{{
					Name: "SNS::Topic", ID: "{Attributes.TopicArn}", Label: "{Attributes.TopicArn@name}", Tagged: true,
					Fields: table.Join(text().Of("Attributes.KmsMasterKeyId>kms_master_key_id"), public().Of("Attributes.Policy>public")),
					Rules:  publicRules(), Exposed: table.Exposed(model.ExposesAccess, "policy public"),
				}, topicPolicy()},
			}},
		},
		{
			Call: awsapi.Call{Service: sns, Action: "ListSubscriptions", Page: next}, Rights: "sns:ListSubscriptions", Rows: "Subscriptions",
			Kinds: []*Kind{{
				Name: "SNS::Subscription", ID: "{SubscriptionArn}", Label: "{TopicArn@name} {Protocol}", Parent: Reference{"SNS::Topic", "{TopicArn}"},
				Where:   []model.Condition{{Path: "SubscriptionArn", NotIn: []string{"PendingConfirmation", "Deleted"}}},
				Unnamed: Unnamed{is("SubscriptionArn", "PendingConfirmation"), "{TopicArn}:", "a subscription to the topic is not confirmed, and AWS lists it without its ID: confirm or delete it"},
				Fields:  text().Of("TopicArn>topic_arn Protocol>protocol"),
				Rules:   table.Rate(model.High, "it sends messages elsewhere", "", table.Unmanaged()),
			}},
		},
	}
}

func functions() []*List {
	lambda := &awsapi.Service{ID: "lambda", Protocol: awsapi.RESTJSON}
	next := []awsapi.PageToken{{Param: "Marker", Field: "NextMarker"}}
	function := &Kind{
		Name: "Lambda::Function", ID: "{FunctionArn}", Label: "{FunctionName}", Tagged: true,
		// The answer has the environment of the function, which may hold secrets: it is not read.
		Fields: text().Of("FunctionName>function_name Runtime>runtime Role>role"),
		Rules:  table.Rate(model.High, "it runs code", "", table.Unmanaged()),
	}
	permission := &Kind{
		Name: "Lambda::Permission", Document: "Policy", Rows: "Statement", ID: "{^.^.^.FunctionArn}:{Sid}", Label: "{^.^.^.FunctionName} {Sid}",
		Identities: permissionNames(),
		Parent:     Reference{"Lambda::Function", "{^.^.^.FunctionArn}"}, Fields: table.Join(text().Of("Sid>statement_id Action>action"), anyone().Of("Principal>public"), present().Of("Condition>conditional")),
		Rules: slices.Concat(
			rate(model.Critical, "everyone can call the function", "principal source_arn source_account", table.Is("public", "true"), table.Is("conditional", "")),
			table.Rate(model.High, "it lets others call the function", "", table.Unmanaged())),
		Exposed: table.Exposed(model.ExposesAccess, ""),
	}
	url := &Kind{
		Name: "Lambda::Url", ID: "{FunctionArn}", Label: "{^.^.FunctionName}", Parent: Reference{"Lambda::Function", "{^.^.FunctionArn}"}, Created: "CreationTime",
		Fields: text().Of("AuthType>authorization_type FunctionUrl>function_url"), Exposed: table.Exposed(model.ExposesReach, ""),
		Rules: slices.Concat(
			rate(model.Critical, "everyone can call the function", "authorization_type", table.Is("authorization_type", "NONE")),
			table.Rate(model.High, "the function has an address of its own", "", table.Unmanaged())),
	}
	of := map[string]any{"FunctionName": "{FunctionName}"}
	return []*List{{
		Call:   awsapi.Call{Service: lambda, Action: "ListFunctions", Path: "/2015-03-31/functions", Input: map[string]any{"MaxItems": 50}, Page: next},
		Rights: "lambda:ListFunctions", Rows: "Functions", Kinds: []*Kind{function},
		Then: []*List{
			{
				Call:   awsapi.Call{Service: lambda, Action: "GetPolicy", Path: "/2015-03-31/functions/{FunctionName}/policy", Input: of},
				Rights: "lambda:GetPolicy", Absent: "ResourceNotFoundException", Kinds: []*Kind{permission},
			},
			{
				Call:   awsapi.Call{Service: lambda, Action: "ListFunctionUrlConfigs", Path: "/2021-10-31/functions/{FunctionName}/urls", Input: of, Page: next},
				Rights: "lambda:ListFunctionUrlConfigs", Rows: "FunctionUrlConfigs", Absent: "ResourceNotFoundException", Kinds: []*Kind{url},
			},
		},
	}}
}

// permissionNames returns the identities of a permission: the ID of its statement, with the region and without, after each text by which a
// request can name the function. The policy is that of the function itself, not of an alias or a version.
func permissionNames() (all [][2]string) {
	functions := []string{"{^.^.^.FunctionName}", "{^.^.^.FunctionArn}", "{$account}:function:{^.^.^.FunctionName}", "function:{^.^.^.FunctionName}"}
	for _, by := range [][2]string{{"regional", "{$region} "}, {"statement", ""}} {
		for _, function := range functions {
			all = append(all, [2]string{by[0], by[1] + function + ":$LATEST {Sid}"})
		}
	}
	return all
}

func data() []*List {
	rds := &awsapi.Service{ID: "rds", Protocol: awsapi.Query, Version: "2014-10-31", Lists: "DBInstance DBCluster DBSnapshot Tag"}
	dynamodb := &awsapi.Service{ID: "dynamodb", Protocol: awsapi.JSON, Version: "1.0", Target: "DynamoDB_20120810"}
	ecr := &awsapi.Service{ID: "ecr", Prefix: "api.ecr", Protocol: awsapi.JSON, Version: "1.1", Target: "AmazonEC2ContainerRegistry_V20150921"}
	marker := []awsapi.PageToken{{Param: "Marker", Field: "Marker"}}
	rules := slices.Concat(
		rate(model.Critical, "the database has a public address", "publicly_accessible", table.Is("publicly_accessible", "true")),
		table.Rate(model.High, "the database is not encrypted", "", table.Unmanaged(), table.Is("storage_encrypted", "false")),
		table.Rate(model.High, "it holds data and costs money", "", table.Unmanaged()))
	return []*List{
		{
			Call: awsapi.Call{Service: rds, Action: "DescribeDBInstances", Input: map[string]any{"MaxRecords": 100}, Page: marker}, Rights: "rds:DescribeDBInstances", Rows: "DBInstances",
			Kinds: []*Kind{{
				Name: "RDS::DBInstance", ID: "{DBInstanceArn}", Label: "{DBInstanceIdentifier}", Created: "InstanceCreateTime", Tags: "TagList", Rules: rules,
				Fields:  table.Join(text().Of("DBInstanceIdentifier>identifier Engine>engine DBInstanceClass>instance_class"), flag().Of("PubliclyAccessible>publicly_accessible StorageEncrypted>storage_encrypted")),
				Exposed: table.Exposed(model.ExposesReach, "publicly_accessible"),
			}},
		},
		{
			Call: awsapi.Call{Service: rds, Action: "DescribeDBClusters", Input: map[string]any{"MaxRecords": 100}, Page: marker}, Rights: "rds:DescribeDBClusters", Rows: "DBClusters",
			Kinds: []*Kind{{
				Name: "RDS::DBCluster", ID: "{DBClusterArn}", Label: "{DBClusterIdentifier}", Created: "ClusterCreateTime", Tags: "TagList", Rules: rules,
				Fields: table.Join(text().Of("DBClusterIdentifier>cluster_identifier Engine>engine"), flag().Of("PubliclyAccessible>publicly_accessible StorageEncrypted>storage_encrypted")),
			}},
		},
		{
			Call:   awsapi.Call{Service: dynamodb, Action: "ListTables", Page: []awsapi.PageToken{{Param: "ExclusiveStartTableName", Field: "LastEvaluatedTableName"}}},
			Rights: "dynamodb:ListTables", Rows: "TableNames",
			Kinds: []*Kind{{
				Name: "DynamoDB::Table", ID: "arn:{$partition}:dynamodb:{$region}:{$account}:table/{text}", Label: "{text}", Fields: text().Of("text>name"), Tagged: true,
				Rules: table.Rate(model.Medium, "it holds data", "", table.Unmanaged()),
			}},
		},
		{
			Call:   awsapi.Call{Service: ecr, Action: "DescribeRepositories", Input: map[string]any{"maxResults": 1000}, Page: lowerNext()},
			Rights: "ecr:DescribeRepositories", Rows: "repositories",
			Kinds: []*Kind{{Name: "ECR::Repository", ID: "{repositoryArn}", Label: "{repositoryName}", Created: "createdAt", Tagged: true, Fields: text().Of("repositoryName>name repositoryUri>repository_url")}},
		},
	}
}

func lowerNext() []awsapi.PageToken {
	return []awsapi.PageToken{{Param: "nextToken", Field: "nextToken"}}
}

func balancers() []*List {
	elb := &awsapi.Service{ID: "elasticloadbalancing", Protocol: awsapi.Query, Version: "2015-12-01"}
	next := []awsapi.PageToken{{Param: "Marker", Field: "NextMarker"}}
	return []*List{
		{
			Call: awsapi.Call{Service: elb, Action: "DescribeLoadBalancers", Page: next}, Rights: "elasticloadbalancing:DescribeLoadBalancers", Rows: "LoadBalancers",
			Kinds: []*Kind{{
				Name: "ElasticLoadBalancingV2::LoadBalancer", ID: "{LoadBalancerArn}", Label: "{LoadBalancerName}", Created: "CreatedTime", Tagged: true,
				Fields: text().Of("LoadBalancerName>name Scheme>scheme Type>load_balancer_type"),
				Rules:  table.Rate(model.High, "it is reachable from the Internet", "", table.Unmanaged(), table.Is("scheme", "internet-facing")),
			}},
			Then: []*List{{
				Call:   awsapi.Call{Service: elb, Action: "DescribeListeners", Input: map[string]any{"LoadBalancerArn": "{LoadBalancerArn}"}, Page: next},
				Rights: "elasticloadbalancing:DescribeListeners", Rows: "Listeners", Absent: "LoadBalancerNotFound",
				Kinds: []*Kind{{
					Name: "ElasticLoadBalancingV2::Listener", ID: "{ListenerArn}", Label: "{^.^.LoadBalancerName} {Port}", Parent: Reference{"ElasticLoadBalancingV2::LoadBalancer", "{LoadBalancerArn}"},
					Fields: table.Join(text().Of("LoadBalancerArn>load_balancer_arn Protocol>protocol"), number().Of("Port>port")), Tagged: true,
					Exposed: table.Exposed(model.ExposesReach, ""),
				}},
			}},
		},
		{
			Call: awsapi.Call{Service: elb, Action: "DescribeTargetGroups", Page: next}, Rights: "elasticloadbalancing:DescribeTargetGroups", Rows: "TargetGroups",
			Kinds: []*Kind{{
				Name: "ElasticLoadBalancingV2::TargetGroup", ID: "{TargetGroupArn}", Label: "{TargetGroupName}", Tagged: true,
				Fields: table.Join(text().Of("TargetGroupName>name Protocol>protocol VpcId>vpc_id TargetType>target_type"), number().Of("Port>port")),
			}},
		},
	}
}

func containers() []*List {
	eks := &awsapi.Service{ID: "eks", Protocol: awsapi.RESTJSON}
	ecs := &awsapi.Service{ID: "ecs", Protocol: awsapi.JSON, Version: "1.1", Target: "AmazonEC2ContainerServiceV20141113"}
	cluster := &Kind{
		Name: "EKS::Cluster", ID: "{arn}", Label: "{name}", Created: "createdAt", Tags: "tags",
		Fields: table.Join(text().Of("name version"), flag().Of("resourcesVpcConfig.endpointPublicAccess>endpoint_public_access"), table.Set(text()).Of("resourcesVpcConfig.publicAccessCidrs>public_access_cidrs")),
		Rules: slices.Concat(
			table.Rate(model.Critical, "its API is open to the world", "", table.Unmanaged(), table.Is("endpoint_public_access", "true"), model.Condition{Path: "public_access_cidrs", World: true}),
			table.Rate(model.Critical, "its API is open to the world", "vpc_config", table.Edited(), model.Condition{Path: "vpc_config.public_access_cidrs", World: true}),
			table.Rate(model.High, "it runs code and costs money", "", table.Unmanaged())),
	}
	of := map[string]any{"name": "{text}"}
	return []*List{
		{
			Call: awsapi.Call{Service: eks, Action: "ListClusters", Path: "/clusters", Page: lowerNext()}, Rights: "eks:ListClusters", Rows: "clusters",
			Then: []*List{
				{
					Call: awsapi.Call{Service: eks, Action: "DescribeCluster", Path: "/clusters/{name}", Input: of}, Rights: "eks:DescribeCluster", Rows: "cluster",
					Absent: "ResourceNotFoundException", Kinds: []*Kind{cluster}, Subject: Reference{"EKS::Cluster", "arn:{$partition}:eks:{$region}:{$account}:cluster/{text}"},
				},
				{
					Call: awsapi.Call{Service: eks, Action: "ListNodegroups", Path: "/clusters/{name}/node-groups", Input: of, Page: lowerNext()}, Rights: "eks:ListNodegroups", Rows: "nodegroups",
					Absent: "ResourceNotFoundException",
					Kinds: []*Kind{{
						Name: "EKS::Nodegroup", ID: "{$region}:{^.^.text}:{text}", Label: "{^.^.text} {text}", Parent: Reference{"EKS::Cluster", "arn:{$partition}:eks:{$region}:{$account}:cluster/{^.^.text}"},
						Fields: text().Of("text>node_group_name ^.^.text>cluster_name"),
					}},
				},
			},
		},
		{
			Call: awsapi.Call{Service: ecs, Action: "ListClusters", Page: lowerNext()}, Rights: "ecs:ListClusters", Rows: "clusterArns",
			Kinds: []*Kind{{Name: "ECS::Cluster", ID: "{text}", Label: "{text@name}", Tagged: true, Fields: text().Of("text>arn")}},
			Then: []*List{{
				Call:   awsapi.Call{Service: ecs, Action: "ListServices", Input: map[string]any{"cluster": "{text}"}, Page: lowerNext()},
				Rights: "ecs:ListServices", Rows: "serviceArns", Absent: "ClusterNotFoundException",
				Kinds: []*Kind{{
					Name: "ECS::Service", ID: "{text}", Label: "{text@name}", Parent: Reference{"ECS::Cluster", "{^.^.text}"}, Tagged: true, Fields: text().Of("text>arn ^.^.text>cluster"),
					Rules: table.Rate(model.High, "it runs code", "", table.Unmanaged()),
				}},
			}},
		},
	}
}

func zones() []*List {
	route53 := &awsapi.Service{ID: "route53", Protocol: awsapi.RESTXML, Global: true, Rate: 4, Lists: "HostedZone ResourceRecordSet ResourceRecord"}
	record := func(where model.Condition, id string) *Kind {
		return &Kind{
			Name: "Route53::RecordSet", Where: []model.Condition{where}, ID: "{^.^.Id@name}_{Name@record}_{Type}" + id, Label: "{Name@record} {Type}",
			Parent: Reference{"Route53::HostedZone", "{^.^.Id@name}"}, Fields: table.Join(text().Of("Name>name Type>type SetIdentifier>set_identifier"), number().Of("TTL>ttl")),
			Usual: []Usual{{Reason: "a record that AWS gives every zone", Where: is("Type", "NS", "SOA"), Same: [2]string{"Name", "^.^.Name"}}},
			Rules: slices.Concat(
				table.Rate(model.High, "it gives another server the names below", "", table.Unmanaged(), table.Is("type", "NS")),
				table.Rate(model.Medium, "it directs users of the name elsewhere", "", table.Unmanaged())),
			Exposed: table.Exposed(model.ExposesReach, ""),
		}
	}
	return []*List{{
		Call:   awsapi.Call{Service: route53, Action: "ListHostedZones", Path: "/2013-04-01/hostedzone", Page: []awsapi.PageToken{{Param: "marker", Field: "NextMarker"}}},
		Rights: "route53:ListHostedZones", Rows: "HostedZones",
		Kinds: []*Kind{{
			Name: "Route53::HostedZone", ID: "{Id@name}", Label: "{Name@record}", Fields: table.Join(text().Of("Name>name"), flag().Of("Config.PrivateZone>private")),
			Usual: []Usual{{Reason: "created by a service of AWS", Where: []model.Condition{{Path: "LinkedService.ServicePrincipal", Present: true}}}},
			Rules: table.Rate(model.Medium, "a zone that no declaration manages", "", table.Unmanaged()),
		}},
		Then: []*List{{
			Call: awsapi.Call{
				Service: route53, Action: "ListResourceRecordSets", Path: "/2013-04-01/hostedzone/{Id}/rrset", Input: map[string]any{"Id": "{Id@name}"},
				Page: []awsapi.PageToken{{Param: "name", Field: "NextRecordName"}, {Param: "type", Field: "NextRecordType"}, {Param: "identifier", Field: "NextRecordIdentifier"}},
			},
			Rights: "route53:ListResourceRecordSets", Rows: "ResourceRecordSets", Absent: "NoSuchHostedZone",
			Kinds: []*Kind{record(table.Is("SetIdentifier", ""), ""), record(model.Condition{Path: "SetIdentifier", Present: true}, "_{SetIdentifier}")},
		}},
	}}
}

func keys() []*List {
	kms := &awsapi.Service{ID: "kms", Protocol: awsapi.JSON, Version: "1.1", Target: "TrentService"}
	secrets := &awsapi.Service{ID: "secretsmanager", Protocol: awsapi.JSON, Version: "1.1", Target: "secretsmanager"}
	next := []awsapi.PageToken{{Param: "Marker", Field: "NextMarker"}}
	return []*List{
		{
			Call: awsapi.Call{Service: kms, Action: "ListKeys", Input: map[string]any{"Limit": 1000}, Page: next}, Rights: "kms:ListKeys", Rows: "Keys",
			Then: []*List{{
				Call:   awsapi.Call{Service: kms, Action: "DescribeKey", Input: map[string]any{"KeyId": "{KeyArn}"}},
				Rights: "kms:DescribeKey", Rows: "KeyMetadata", Absent: "NotFoundException", Subject: Reference{"KMS::Key", "{KeyArn}"},
				Kinds: []*Kind{{
					// A key and its replicas in other regions have one ID.
					Name: "KMS::Key", ID: "{Arn}", Label: "{KeyId}", Created: "CreationDate", Tagged: true,
					// Terraform takes a key that is to be deleted for a missing one, too.
					Where:  []model.Condition{{Path: "KeyState", NotIn: []string{"PendingDeletion", "PendingReplicaDeletion"}}},
					Fields: table.Join(text().Of("Arn>arn Description>description"), flag().Of("Enabled>is_enabled")),
					Usual:  []Usual{{Reason: "managed by AWS", Where: is("KeyManager", "AWS")}},
					Rules:  table.Rate(model.Critical, "what it encrypted becomes unreadable", "is_enabled", table.Edited(), table.Is("is_enabled", "false")),
				}},
			}},
		},
		{
			Call: awsapi.Call{Service: kms, Action: "ListAliases", Input: map[string]any{"Limit": 100}, Page: next}, Rights: "kms:ListAliases", Rows: "Aliases",
			Kinds: []*Kind{{
				Name: "KMS::Alias", ID: "{AliasArn}", Label: "{AliasName}", Created: "CreationDate", Fields: text().Of("AliasName>name TargetKeyId>target_key_id"),
				Usual: []Usual{{Reason: "an alias of AWS", Path: "AliasName", Begins: []string{"alias/aws/"}}},
				Makes: []Made{{Reference: Reference{"KMS::Key", "arn:{$partition}:kms:{$region}:{$account}:key/{TargetKeyId}"}, Usual: true}},
			}},
		},
		{
			Call:   awsapi.Call{Service: secrets, Action: "ListSecrets", Input: map[string]any{"MaxResults": 100}, Page: []awsapi.PageToken{{Param: "NextToken", Field: "NextToken"}}},
			Rights: "secretsmanager:ListSecrets", Rows: "SecretList",
			Kinds: []*Kind{{
				Name: "SecretsManager::Secret", ID: "{ARN}", Label: "{Name}", Created: "CreatedDate", Tags: "Tags", Fields: text().Of("Name>name"),
				Usual: []Usual{{Reason: "created by a service of AWS", Where: []model.Condition{{Path: "OwningService", Present: true}}}},
			}},
		},
	}
}

// watching returns the kinds that record and examine what happens in the account, and the
// tags of all resources.
func watching() []*List {
	trail := &awsapi.Service{ID: "cloudtrail", Protocol: awsapi.JSON, Version: "1.1", Target: "CloudTrail_20131101"}
	config := &awsapi.Service{ID: "config", Protocol: awsapi.JSON, Version: "1.1", Target: "StarlingDoveService"}
	analyzer := &awsapi.Service{ID: "access-analyzer", Protocol: awsapi.RESTJSON}
	logging := &awsapi.Service{ID: "logs", Protocol: awsapi.JSON, Version: "1.1", Target: "Logs_20140328"}
	tagging := &awsapi.Service{ID: "tagging", Protocol: awsapi.JSON, Version: "1.1", Target: "ResourceGroupsTaggingAPI_20170126"}
	logs := rate(model.Critical, "calls are not logged", "enable_logging", table.Is("enable_logging", "false"))
	return []*List{
		{
			Call:   awsapi.Call{Service: trail, Action: "DescribeTrails", Input: map[string]any{"includeShadowTrails": false}},
			Rights: "cloudtrail:DescribeTrails", Rows: "trailList",
			Kinds: []*Kind{{Name: "CloudTrail::Trail", ID: "{TrailARN}", Label: "{Name}", Tagged: true, Rules: logs, Fields: text().Of("Name>name S3BucketName>s3_bucket_name")}},
			Then: []*List{{
				Call:   awsapi.Call{Service: trail, Action: "GetTrailStatus", Input: map[string]any{"Name": "{TrailARN}"}},
				Rights: "cloudtrail:GetTrailStatus", Absent: "TrailNotFoundException",
				Kinds: []*Kind{{Name: "CloudTrail::Trail", ID: "{^.TrailARN}", Label: "{^.Name}", Rules: logs, Fields: flag().Of("IsLogging>enable_logging")}},
			}},
		},
		{
			Call: awsapi.Call{Service: config, Action: "DescribeConfigurationRecorders"}, Rights: "config:DescribeConfigurationRecorders", Rows: "ConfigurationRecorders",
			Kinds: []*Kind{{Name: "Config::ConfigurationRecorder", ID: "{$region}:{name}", Label: "{name}", Fields: text().Of("name roleARN>role_arn")}},
		},
		{
			Call: awsapi.Call{Service: config, Action: "DescribeConfigurationRecorderStatus"}, Rights: "config:DescribeConfigurationRecorderStatus", Rows: "ConfigurationRecordersStatus",
			Kinds: []*Kind{{
				Name: "Config::ConfigurationRecorder", ID: "{$region}:{name}", Label: "{name}", Fields: flag().Of("recording>is_enabled"),
			}},
		},
		{
			Call:   awsapi.Call{Service: analyzer, Action: "ListAnalyzers", Path: "/analyzer", Page: lowerNext()},
			Rights: "access-analyzer:ListAnalyzers", Rows: "analyzers",
			Kinds: []*Kind{{Name: "AccessAnalyzer::Analyzer", ID: "{arn}", Label: "{name}", Created: "createdAt", Tags: "tags", Fields: text().Of("name>analyzer_name type status")}},
		},
		{
			Call:   awsapi.Call{Service: logging, Action: "DescribeLogGroups", Input: map[string]any{"limit": 50}, Page: lowerNext()},
			Rights: "logs:DescribeLogGroups", Rows: "logGroups",
			Kinds: []*Kind{{
				Name: "Logs::LogGroup", ID: "arn:{$partition}:logs:{$region}:{$account}:log-group:{logGroupName}", Label: "{logGroupName}", Created: "creationTime", Tagged: true,
				// Lambda creates the group of a function with its first line.
				Maker:  Reference{"Lambda::Function", "arn:{$partition}:lambda:{$region}:{$account}:function:{logGroupName@function}"},
				Fields: table.Join(text().Of("logGroupName>name kmsKeyId>kms_key_id"), number().Of("retentionInDays>retention_in_days")),
			}},
		},
		{
			Call:   awsapi.Call{Service: tagging, Action: "GetResources", Input: map[string]any{"ResourcesPerPage": 100}, Page: []awsapi.PageToken{{Param: "PaginationToken", Field: "PaginationToken"}}},
			Rights: "tag:GetResources", Rows: "ResourceTagMappingList",
			Kinds: []*Kind{{Name: tagCarrier, ID: "{ResourceARN}", Tags: "Tags"}},
		},
	}
}
