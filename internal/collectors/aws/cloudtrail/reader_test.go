package cloudtrail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

const alice = `{"type":"IAMUser","arn":"arn:aws:iam::123456789012:user/alice","userName":"alice"}`

// ssh is a list of one rule that is described by its content.
const ssh = `{"items":[{"ipProtocol":"tcp","fromPort":22,"toPort":22,"ipRanges":{"items":[{"cidrIp":"10.0.0.0/8"}]}}]}`

func at(minute int) time.Time { return time.Date(2026, 11, 29, 3, minute, 0, 0, time.UTC) }

// event returns an event of LookupEvents, whose identity is that of a user or a whole one.
func event(minute int, who, service, name, parameters, answer, more string) string {
	if !strings.HasPrefix(who, "{") {
		who = fmt.Sprintf(`{"type":"IAMUser","arn":"arn:aws:iam::123456789012:user/%s","userName":%q}`, who, who)
	}
	id := fmt.Sprintf("%s-%d-%s", name, minute, service)
	text := fmt.Sprintf(`{"eventID":%q,"eventTime":%q,"eventSource":"%s.amazonaws.com","eventName":%q,"awsRegion":"eu-central-1",`+
		`"recipientAccountId":"123456789012","userIdentity":%s,"requestParameters":%s,"responseElements":%s%s}`,
		id, at(minute).Format(time.RFC3339), service, name, who, parameters, answer, more)
	return fmt.Sprintf(`{"EventId":%q,"EventTime":%d,"CloudTrailEvent":%q}`, id, at(minute).Unix(), text)
}

// A fakeClient answers with pages by region. An error ends the list.
type fakeClient struct {
	pages map[string][]any

	mu    sync.Mutex
	calls []string
}

func (f *fakeClient) Pages(_ context.Context, region string, call *awsapi.Call, begin func(), page func(model.Value) error) error {
	f.mu.Lock()
	f.calls = append(f.calls, fmt.Sprintf("%s %d %d", region, call.Input["StartTime"], call.Input["MaxResults"]))
	f.mu.Unlock()
	begin()
	for i, answer := range f.pages[region] {
		if err, ok := answer.(error); ok {
			return err
		}
		next := ""
		if i+1 < len(f.pages[region]) {
			next = fmt.Sprintf(`,"NextToken":"%d"`, i)
		}
		v, err := decode.JSON([]byte(`{"Events":[` + answer.(string) + `]` + next + `}`))
		if err != nil {
			return err
		}
		if err := page(v); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeClient) Do(context.Context, string, *awsapi.Call) (model.Value, error) {
	return model.Value{}, errors.New("no queue")
}

func (f *fakeClient) Endpoint(*awsapi.Service, string) string { return "https://sqs.example.org" }

func testEnv(folder string) collectors.Env {
	return collectors.Env{Name: "prod", CacheDir: folder, Log: slog.New(slog.DiscardHandler)}
}

func describe(events []model.AuditEvent) []string {
	var all []string
	for _, e := range events {
		all = append(all, strings.Join(strings.Fields(fmt.Sprint([]string{"edited", "created", "deleted"}[e.Action], " ", strings.TrimPrefix(e.Kind, prefix), " ", e.ID, " ", strings.Join(e.Fields, ","), " ", e.Actor.Name, " ", e.Actor.Confidence)), " "))
	}
	return all
}

func readOnce(t *testing.T, events ...string) *Log {
	t.Helper()
	slices.Reverse(events)
	client := &fakeClient{pages: map[string][]any{"eu-central-1": {strings.Join(events, ",")}}}
	return New(Defaults(), testEnv(t.TempDir()), &Pace{}).Read(t.Context(), Server{Client: client}, Account{"123456789012", "aws"}, []string{"eu-central-1"}, at(30))
}

func TestEvents(t *testing.T) {
	t.Parallel()
	const none = "null"
	tests := []struct {
		reason string
		events []string
		want   []string
	}{
		{
			"a rule by its ID in the answer, and the field of its group",
			[]string{event(1, "alice", "ec2", "AuthorizeSecurityGroupIngress", `{"groupId":"sg-1"}`, `{"securityGroupRuleSet":{"items":[{"securityGroupRuleId":"sgr-1"},{"securityGroupRuleId":"sgr-2"}]}}`, "")},
			[]string{"edited EC2::SecurityGroup sg-1 ingress alice exact", "created EC2::SecurityGroupRule sgr-1 alice exact", "created EC2::SecurityGroupRule sgr-2 alice exact"},
		},
		{
			"an error, a dry run, a read, and an event of another account change nothing",
			[]string{
				event(1, "alice", "iam", "CreateUser", `{"userName":"x"}`, none, `,"errorCode":"AccessDenied"`),
				event(2, "alice", "iam", "CreateUser", `{"userName":"x"}`, none, `,"readOnly":true`),
				strings.ReplaceAll(event(3, "alice", "iam", "CreateUser", `{"userName":"x"}`, none, ""), `recipientAccountId\":\"123456789012`, `recipientAccountId\":\"999999999999`),
			}, nil,
		},
		{
			"only the attribute in the parameters is changed",
			[]string{event(1, "bob", "ec2", "ModifyInstanceAttribute", `{"instanceId":"i-1","instanceType":{"value":"t3.large"}}`, none, "")},
			[]string{"edited EC2::Instance i-1 instance_type bob exact"},
		},
		{
			"an unknown event of another one attributes nothing, and makes an earlier edit likely",
			[]string{
				event(1, "bob", "ec2", "ModifyInstanceAttribute", `{"instanceId":"i-1","instanceType":{"value":"t3.large"}}`, none, ""),
				event(2, "carol", "ec2", "AttachVolume", `{"instanceId":"i-1","volumeId":"vol-1"}`, none, ""),
			},
			[]string{"edited EC2::Instance i-1 instance_type bob likely"},
		},
		{
			"several people in one second",
			[]string{
				event(1, "bob", "iam", "UpdateAssumeRolePolicy", `{"roleName":"r"}`, none, ""),
				event(1, "carol", "iam", "PutRolePermissionsBoundary", `{"roleName":"r"}`, none, ""),
			},
			[]string{"edited IAM::Role r assume_role_policy,public bob likely", "edited IAM::Role r permissions_boundary carol likely"},
		},
		{
			"tags by key; a key with a meaning in paths stands for all",
			[]string{event(1, "bob", "ec2", "CreateTags", `{"resourcesSet":{"items":[{"resourceId":"vpc-1"}]},"tagSet":{"items":[{"key":"team"},{"key":"a.b"}]}}`, none, "")},
			[]string{"edited EC2::VPC vpc-1 tags.team,tags,tags_all.team,tags_all bob exact"},
		},
		{
			"tags of other services: a list, a map, keys alone, and several resources",
			[]string{
				event(1, "bob", "sns", "TagResource", `{"resourceArn":"arn:t","tags":[{"key":"team","value":"a"}]}`, none, ""),
				event(2, "bob", "sqs", "TagQueue", `{"queueUrl":"https://sqs/123456789012/q","tags":{"team":"a"}}`, none, ""),
				event(3, "bob", "sqs", "UntagQueue", `{"queueUrl":"https://sqs/123456789012/q","tagKeys":["team"]}`, none, ""),
				event(4, "bob", "kms", "TagResource", `{"keyId":"k","tags":[{"tagKey":"team","tagValue":"a"}]}`, none, ""),
				event(5, "bob", "route53", "ChangeTagsForResource", `{"resourceType":"healthcheck","resourceId":"Z1","addTags":[{"key":"team"}]}`, none, ""),
				event(6, "bob", "route53", "ChangeTagsForResource", `{"resourceType":"hostedzone","resourceId":"Z1","addTags":[{"key":"team"}]}`, none, ""),
				event(7, "bob", "rds", "AddTagsToResource", `{"resourceName":"arn:d","tags":[{"key":"team"}]}`, none, ""),
				event(8, "bob", "sns", "TagResource", `{"resourceArn":"arn:u","tags":[]}`, none, ""),
			},
			[]string{
				"edited KMS::Key arn:aws:kms:eu-central-1:123456789012:key/k tags.team,tags_all.team bob exact",
				"edited RDS::DBCluster arn:d tags.team,tags_all.team bob exact",
				"edited RDS::DBInstance arn:d tags.team,tags_all.team bob exact",
				"edited Route53::HostedZone Z1 tags.team,tags_all.team bob exact",
				"edited SNS::Topic arn:t tags.team,tags_all.team bob exact",
				"edited SQS::Queue arn:aws:sqs:eu-central-1:123456789012:q tags.team,tags_all.team bob exact",
				"edited SQS::Queue arn:aws:sqs:eu-central-1:123456789012:q tags.team,tags_all.team bob exact",
			},
		},
		{
			"what replaces a whole created it if it was not there: after a deletion that is certain",
			[]string{
				event(1, "bob", "s3", "PutBucketPolicy", `{"bucketName":"b"}`, none, ""),
				event(2, "carol", "s3", "DeleteBucketPolicy", `{"bucketName":"b"}`, none, ""),
				event(3, "alice", "s3", "PutBucketPolicy", `{"bucketName":"b"}`, none, ""),
				event(4, "bob", "s3", "PutBucketPolicy", `{"bucketName":"b"}`, none, ""),
			},
			[]string{"created S3::BucketPolicy b bob likely", "edited S3::BucketPolicy b bob exact", "deleted S3::BucketPolicy b carol exact", "created S3::BucketPolicy b alice exact", "edited S3::BucketPolicy b alice exact", "edited S3::BucketPolicy b bob exact"},
		},
		{
			"a key and its replica in another region have one ID",
			[]string{
				event(1, "bob", "kms", "ReplicateKey", `{"keyId":"mrk-1","replicaRegion":"us-west-2"}`, `{"replicaKeyMetadata":{"keyId":"mrk-1","arn":"arn:aws:kms:us-west-2:123456789012:key/mrk-1"}}`, ""),
				event(2, "carol", "kms", "DisableKey", `{"keyId":"arn:aws:kms:eu-central-1:123456789012:key/mrk-1"}`, none, ""),
				strings.ReplaceAll(event(3, "alice", "kms", "DisableKey", `{"keyId":"mrk-1"}`, none, ""), "eu-central-1", "us-west-2"),
			},
			[]string{
				"edited KMS::Key arn:aws:kms:eu-central-1:123456789012:key/mrk-1 is_enabled carol exact", "created KMS::Key arn:aws:kms:us-west-2:123456789012:key/mrk-1 bob exact",
				"edited KMS::Key arn:aws:kms:us-west-2:123456789012:key/mrk-1 is_enabled alice exact",
			},
		},
		{
			"a version of a policy that is not the default changes nothing",
			[]string{
				event(1, "bob", "iam", "CreatePolicyVersion", `{"policyArn":"arn:aws:iam::1:policy/p","setAsDefault":false}`, none, ""),
				event(2, "bob", "iam", "CreatePolicyVersion", `{"policyArn":"arn:aws:iam::1:policy/p","setAsDefault":true}`, none, ""),
			},
			[]string{"edited IAM::ManagedPolicy arn:aws:iam::1:policy/p policy,administrator bob exact"},
		},
		{
			"ARNs are made of names; names of fields in any case; a database is named in small letters",
			[]string{
				event(1, "bob", "sqs", "SetQueueAttributes", `{"queueUrl":"https://sqs/123456789012/q","attributes":{"Policy":"{}"}}`, none, ""),
				event(2, "bob", "lambda", "AddPermission20150331v2", `{"functionName":"arn:aws:lambda:eu-central-1:123456789012:function:f:live","statementId":"s"}`, none, ""),
				event(3, "bob", "rds", "ModifyDBInstance", `{"dBInstanceIdentifier":"Main","publiclyAccessible":true}`, none, ""),
				event(4, "bob", "secretsmanager", "CreateSecret", `{"name":"s"}`, `{"aRN":"arn:secret"}`, ""),
			},
			[]string{
				"created Lambda::Permission arn:aws:lambda:eu-central-1:123456789012:function:f:s bob exact",
				"edited RDS::DBInstance arn:aws:rds:eu-central-1:123456789012:db:main publicly_accessible bob exact",
				"edited SQS::Queue arn:aws:sqs:eu-central-1:123456789012:q policy,public bob exact",
				"created SQS::QueuePolicy arn:aws:sqs:eu-central-1:123456789012:q bob likely", "edited SQS::QueuePolicy arn:aws:sqs:eu-central-1:123456789012:q bob exact",
				"created SecretsManager::Secret arn:secret bob exact",
			},
		},
		{
			"a permission of an alias is none of the function",
			[]string{
				event(1, "bob", "lambda", "AddPermission20150331v2", `{"functionName":"f","statementId":"s"}`, none, ""),
				event(2, "eve", "lambda", "AddPermission20150331v2", `{"functionName":"f","statementId":"s","qualifier":"live"}`, none, ""),
				event(3, "eve", "lambda", "RemovePermission20150331v2", `{"functionName":"f","statementId":"s","qualifier":"live"}`, none, ""),
			},
			[]string{"created Lambda::Permission arn:aws:lambda:eu-central-1:123456789012:function:f:s bob exact"},
		},
		{
			"the role of a profile is taken away",
			[]string{event(1, "bob", "iam", "RemoveRoleFromInstanceProfile", `{"instanceProfileName":"p","roleName":"r"}`, none, "")},
			[]string{"edited IAM::InstanceProfile p role bob exact"},
		},
		{
			"each record of a batch by its own action",
			[]string{event(1, "bob", "route53", "ChangeResourceRecordSets", `{"hostedZoneId":"/hostedzone/Z1","changeBatch":{"changes":[`+
				`{"action":"CREATE","resourceRecordSet":{"name":"a.example.org.","type":"A"}},{"action":"DELETE","resourceRecordSet":{"name":"\\052.example.org.","type":"A","setIdentifier":"eu"}}]}}`, none, "")},
			[]string{"deleted Route53::RecordSet Z1_*.example.org_A_eu bob exact", "created Route53::RecordSet Z1_a.example.org_A bob exact"},
		},
		{
			"rules that are described by their content, as their identity in the source",
			[]string{
				event(1, "bob", "ec2", "RevokeSecurityGroupIngress", `{"groupId":"sg-1","ipPermissions":{"items":[`+
					`{"ipProtocol":"6","fromPort":443,"toPort":443,"ipRanges":{"items":[{"cidrIp":"10.1.2.3/8"},{"cidrIp":"0.0.0.0/0"}]},"groups":{"items":[{"groupId":"sg-2"}]}},`+
					`{"ipProtocol":"-1","ipv6Ranges":{"items":[{"cidrIpv6":"::/0"}]}}]}}`, none, ""),
				event(2, "carol", "ec2", "UpdateSecurityGroupRuleDescriptionsEgress", `{"UpdateSecurityGroupRuleDescriptionsEgressRequest":{"GroupId":"sg-3","IpPermissions":`+
					`{"tag":1,"IpProtocol":"tcp","FromPort":22,"ToPort":22,"IpRanges":{"tag":1,"CidrIp":"10.0.0.0/8","Description":"x"}}}}`, none, ""),
			},
			[]string{
				"edited EC2::SecurityGroup sg-1 ingress bob exact", "edited EC2::SecurityGroup sg-3 egress carol exact",
				"deleted EC2::SecurityGroupRule sg-1 ingress -1 0 0 ::/0 bob exact", "deleted EC2::SecurityGroupRule sg-1 ingress tcp 443 443 0.0.0.0/0 bob exact",
				"deleted EC2::SecurityGroupRule sg-1 ingress tcp 443 443 10.0.0.0/8 bob exact", "deleted EC2::SecurityGroupRule sg-1 ingress tcp 443 443 sg-2 bob exact",
				"edited EC2::SecurityGroupRule sg-3 egress tcp 22 22 10.0.0.0/8 description carol exact",
			},
		},
		{
			"rules that the group did not have",
			[]string{
				event(1, "bob", "ec2", "RevokeSecurityGroupIngress", `{"groupId":"sg-1","ipPermissions":`+ssh+`}`, `{"_return":true,"unknownIpPermissionSet":`+ssh+`}`, ""),
				event(2, "carol", "ec2", "RevokeSecurityGroupIngress", `{"groupId":"sg-2","ipPermissions":`+ssh+`}`,
					`{"unknownIpPermissionSet":`+ssh+`,"revokedSecurityGroupRuleSet":{"items":[{"securityGroupRuleId":"sgr-1"}]}}`, ""),
			},
			[]string{"edited EC2::SecurityGroup sg-2 ingress carol exact", "deleted EC2::SecurityGroupRule sgr-1 carol exact"},
		},
		{
			"permissions to use a snapshot or an image",
			[]string{
				event(1, "bob", "ec2", "ModifySnapshotAttribute", `{"snapshotId":"snap-1","createVolumePermission":{"add":{"items":[{"group":"all"}]}},"attributeType":"CREATE_VOLUME_PERMISSION"}`, none, ""),
				event(2, "carol", "ec2", "ModifyImageAttribute", `{"imageId":"ami-1","launchPermission":{"remove":{"items":[{"group":"all"},{"userId":"111111111111"}]}}}`, none, ""),
			},
			[]string{"deleted EC2::ImagePermission ami-1:all carol exact", "deleted EC2::ImageShare ami-1:111111111111 carol exact", "created EC2::SnapshotPermission snap-1:all bob exact"},
		},
		{
			"the policy of a queue is removed by an empty text, and stays without one",
			[]string{
				event(1, "alice", "sqs", "SetQueueAttributes", `{"queueUrl":"https://sqs/123456789012/q","attributes":{"Policy":""}}`, none, ""),
				event(2, "bob", "sqs", "SetQueueAttributes", `{"queueUrl":"https://sqs/123456789012/q","attributes":{"DelaySeconds":"3"}}`, none, ""),
				event(3, "carol", "sqs", "AddPermission", `{"queueUrl":"https://sqs/123456789012/q","label":"l"}`, none, ""),
			},
			[]string{
				"edited SQS::Queue arn:aws:sqs:eu-central-1:123456789012:q policy,public alice exact",
				"edited SQS::Queue arn:aws:sqs:eu-central-1:123456789012:q delay_seconds bob exact",
				"edited SQS::Queue arn:aws:sqs:eu-central-1:123456789012:q policy,public carol exact",
				"deleted SQS::QueuePolicy arn:aws:sqs:eu-central-1:123456789012:q policy alice exact",
				"created SQS::QueuePolicy arn:aws:sqs:eu-central-1:123456789012:q carol exact", "edited SQS::QueuePolicy arn:aws:sqs:eu-central-1:123456789012:q carol exact",
				"deleted SQS::QueuePolicy eu-central-1 123456789012/q policy alice exact", "deleted SQS::QueuePolicy https://sqs/123456789012/q policy alice exact",
			},
		},
		{
			"a permission that is taken from a queue may have been the last one",
			[]string{event(1, "bob", "sqs", "RemovePermission", `{"queueUrl":"https://sqs/123456789012/q","label":"l"}`, none, "")},
			[]string{
				"edited SQS::Queue arn:aws:sqs:eu-central-1:123456789012:q policy,public bob exact",
				"created SQS::QueuePolicy arn:aws:sqs:eu-central-1:123456789012:q bob likely", "edited SQS::QueuePolicy arn:aws:sqs:eu-central-1:123456789012:q bob exact",
				"deleted SQS::QueuePolicy eu-central-1 123456789012/q bob exact", "deleted SQS::QueuePolicy https://sqs/123456789012/q bob exact",
			},
		},
		{
			"the policy of a topic, and no other attribute",
			[]string{
				event(1, "alice", "sns", "CreateTopic", `{"name":"t"}`, `{"topicArn":"arn:t"}`, ""),
				event(2, "bob", "sns", "SetTopicAttributes", `{"topicArn":"arn:t","attributeName":"DisplayName","attributeValue":"x"}`, none, ""),
				event(3, "carol", "sns", "SetTopicAttributes", `{"topicArn":"arn:t","attributeName":"Policy","attributeValue":"{}"}`, none, ""),
				event(4, "dave", "sns", "AddPermission", `{"topicArn":"arn:t","label":"l"}`, none, ""),
			},
			[]string{
				"created SNS::Topic arn:t alice exact", "edited SNS::Topic arn:t display_name bob exact",
				"edited SNS::Topic arn:t policy,public carol exact", "edited SNS::Topic arn:t policy,public dave exact",
				"created SNS::TopicPolicy arn:t carol likely", "edited SNS::TopicPolicy arn:t carol exact", "edited SNS::TopicPolicy arn:t dave exact",
			},
		},
		{"a service of one name is not another's", []string{event(1, "bob", "redshift", "CreateCluster", `{"name":"c"}`, none, "")}, nil},
	}
	for _, test := range tests {
		log := readOnce(t, test.events...)
		if diff := cmp.Diff(test.want, describe(log.Events)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.reason, diff)
		}
	}
}

func TestActors(t *testing.T) {
	t.Parallel()
	role := func(session, issuer, more string) string {
		return fmt.Sprintf(`{"type":"AssumedRole","arn":"arn:aws:sts::123456789012:assumed-role/r/%s","sessionContext":{"sessionIssuer":{"arn":"arn:aws:iam::123456789012:role/%s"}%s}}`, session, issuer, more)
	}
	for _, test := range []struct{ reason, who, name, confidence string }{
		{"a user", alice, "alice", "exact"},
		{"whoever assumes a role chooses the session's name", role("carol", "admin", ""), "carol", "likely"},
		{"Identity Center chooses it", role("carol@example.org", "aws-reserved/sso.amazonaws.com/eu-central-1/AWSReservedSSO_Admin_1", ""), "carol@example.org", "exact"},
		{"a path that only looks like it", role("carol", "x/aws-reserved/sso.amazonaws.com/AWSReservedSSO_Admin_1", ""), "carol", "likely"},
		{"a source identity", role("x", "admin", `,"sourceIdentity":"dave"`), "dave", "exact"},
		{"a service with a role", role("AutoScaling", "aws-service-role/autoscaling.amazonaws.com/AWSServiceRoleForAutoScaling", ""), "autoscaling.amazonaws.com", "exact"},
		{"a service", `{"type":"AWSService","invokedBy":"cloudformation.amazonaws.com"}`, "cloudformation.amazonaws.com", "exact"},
		{"a user through a service", `{"type":"IAMUser","userName":"alice","arn":"a","invokedBy":"cloudformation.amazonaws.com"}`, "alice", "likely"},
		{"root", `{"type":"Root","arn":"arn:aws:iam::123456789012:root"}`, "root", "exact"},
		{"another account", `{"type":"AWSAccount","accountId":"999999999999"}`, "account 999999999999", "likely"},
		{"none", `{}`, "unknown", "unknown"},
	} {
		log := readOnce(t, event(1, test.who, "iam", "CreateUser", `{"userName":"u"}`, "null", `,"sourceIPAddress":"192.0.2.1","userAgent":"agent\u001b[31m"`))
		a := log.Events[0].Actor
		if got := fmt.Sprint(a.Name, " ", a.Confidence); got != test.name+" "+test.confidence {
			t.Errorf("%s: %s, want %s %s", test.reason, got, test.name, test.confidence)
		}
		if !strings.Contains(a.Evidence, "CreateUser, event CreateUser-1-iam") || !strings.Contains(a.Evidence, "from 192.0.2.1") || strings.Contains(a.Evidence, "\x1b") {
			t.Errorf("%s: evidence %q", test.reason, a.Evidence)
		}
	}
}

func TestRestart(t *testing.T) {
	t.Parallel()
	folder, account := t.TempDir(), Account{"123456789012", "aws"}
	user := func(minute int, name string) string {
		return event(minute, "alice", "iam", "CreateUser", fmt.Sprintf(`{"userName":%q}`, name), "null", "")
	}
	client := &fakeClient{pages: map[string][]any{"us-east-1": {user(20, "c"), user(10, "b"), user(5, "a")}}}
	config := Config{Lookback: time.Hour, Pages: 2}
	log := New(config, testEnv(folder), &Pace{}).Read(t.Context(), Server{Client: client}, account, []string{"us-east-1"}, at(30))
	if got := describe(log.Events); len(got) != 2 || !strings.Contains(log.Unknown("global"), "is read in the next scans") || log.Unread() != "" {
		t.Errorf("two pages of three: %v, %q, %q", got, log.Unknown("global"), log.Unread())
	}
	client = &fakeClient{pages: map[string][]any{"us-east-1": {user(5, "a") + "," + user(20, "c")}}}
	log = New(config, testEnv(folder), &Pace{}).Read(t.Context(), Server{Client: client}, account, []string{"us-east-1"}, at(31))
	want := []string{"created IAM::User a alice exact", "created IAM::User b alice exact", "created IAM::User c alice exact"}
	if diff := cmp.Diff(want, describe(log.Events)); diff != "" {
		t.Errorf("events after a restart (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("us-east-1 %d 50", at(10).Unix()), fmt.Sprintf("us-east-1 %d 50", at(-30).Unix())}, client.calls); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if strings.Contains(log.Unknown("global"), "next scans") {
		t.Errorf("the gap is left: %s", log.Unknown("global"))
	}
	log = New(config, testEnv(folder), &Pace{}).Read(t.Context(), Server{Client: &fakeClient{}}, Account{"999999999999", "aws"}, []string{"us-east-1"}, at(32))
	if len(log.Events) > 0 {
		t.Errorf("events of another account: %v", describe(log.Events))
	}
}

func TestFailures(t *testing.T) {
	t.Parallel()
	user := event(20, "alice", "iam", "CreateUser", `{"userName":"u"}`, "null", "")
	denied := &awsapi.Error{Status: 400, Code: "AccessDeniedException"}
	client := &fakeClient{pages: map[string][]any{"us-east-1": {user}, "eu-central-1": {denied}}}
	log := New(Defaults(), testEnv(""), &Pace{}).Read(t.Context(), Server{Client: client}, Account{"123456789012", "aws"}, []string{"eu-central-1"}, at(30))
	if len(log.Events) != 1 || !strings.Contains(log.Unread(), "in eu-central-1 could not be read: 400 AccessDeniedException; grant cloudtrail:LookupEvents") {
		t.Errorf("one region denied: %v, %q", describe(log.Events), log.Unread())
	}
	if !strings.Contains(log.Unknown("eu-central-1"), "grant cloudtrail:LookupEvents") || strings.Contains(log.Unknown("global"), "grant") || !strings.Contains(log.Unknown("eu-west-1"), "add the region to regions") {
		t.Errorf("Unknown() = %q, %q, %q", log.Unknown("eu-central-1"), log.Unknown("global"), log.Unknown("eu-west-1"))
	}
	client = &fakeClient{pages: map[string][]any{"us-east-1": {user, user, &awsapi.Error{Status: 400, Code: "ThrottlingException"}}}}
	log = New(Defaults(), testEnv(""), &Pace{}).Read(t.Context(), Server{Client: client}, Account{"123456789012", "aws"}, []string{"us-east-1"}, at(30))
	if len(log.Events) != 1 || !strings.Contains(log.Unread(), "the next scan goes on") {
		t.Errorf("an error after two pages: %v, %q", describe(log.Events), log.Unread())
	}
	client = &fakeClient{pages: map[string][]any{"us-east-1": {&httpclient.TooLarge{Limit: 1}}}}
	New(Defaults(), testEnv(""), &Pace{}).Read(t.Context(), Server{Client: client}, Account{"123456789012", "aws"}, []string{"us-east-1"}, at(30))
	if len(client.calls) != 3 || !strings.HasSuffix(client.calls[2], " 2") {
		t.Errorf("large pages: %v", client.calls)
	}
}

func TestConfigCheck(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{Lookback: -1, Pages: 1}, {Lookback: maxAge + 1, Pages: 1}, {Pages: -1}, {Pages: 10_001}} {
		if c.Check() == nil {
			t.Errorf("%+v is accepted", c)
		}
	}
	if err := Defaults().Check(); err != nil {
		t.Error(err)
	}
	if d := Defaults(); !d.Reads(false) || d.Reads(true) || !(Config{Lookback: 1, Pages: 1}).Reads(true) || (Config{Lookback: 1}).Reads(false) {
		t.Error("Reads() is wrong: a compatible server needs lookback, and 0 pages read nothing")
	}
}

func FuzzDecodeEvent(f *testing.F) {
	f.Add(`{"eventID":"1","eventTime":"2026-11-29T03:00:00Z","eventSource":"ec2.amazonaws.com","eventName":"CreateTags","requestParameters":{"resourcesSet":{"items":[{"resourceId":"i-1"}]},"tagSet":{"items":[{"key":"a"}]}}}`)
	f.Add(`{"eventID":"1","eventTime":"2026-11-29T03:00:00Z","eventSource":"route53.amazonaws.com","eventName":"ChangeResourceRecordSets","requestParameters":{"hostedZoneId":"Z","changeBatch":{"changes":[{"action":"CREATE"}]}}}`)
	operations := table()
	f.Fuzz(func(t *testing.T, text string) {
		r, ok := decodeEntry(model.MapOf(model.Field{Name: "CloudTrailEvent", Value: model.StringOf(text)}), Account{"123456789012", "aws"}, operations)
		if !ok {
			return
		}
		if r.ID == "" || r.At.IsZero() || r.Actor.Name == "" {
			t.Errorf("record %+v", r)
		}
		for _, c := range r.Changes {
			if c.ID == "" || c.Kind == prefix {
				t.Errorf("change %+v", c)
			}
		}
		auditEvents([]record{r, r})
	})
}
