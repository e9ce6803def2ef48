//go:build e2e

package e2e

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/awsconfig"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail"
	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail/trailtest"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/tftest"
)

// TestCloudTrailActors lets several people edit by hand in an account that moto simulates,
// behind a stand-in for CloudTrail, and compares whom the reader names.
func TestCloudTrailActors(t *testing.T) {
	t.Parallel()
	server, err := tftest.StartMoto(t.Context())
	stopLater(t, server, err)
	trail := &trailtest.Trail{Users: map[string]string{}, Next: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: server.Address})}
	proxy := httptest.NewServer(trail)
	t.Cleanup(proxy.Close)
	clients := map[string]*awsapi.Client{}
	for _, name := range []string{"alice", "bob", "carol", "pipeline", "driftd"} {
		key := "AKIA" + strings.ToUpper(name)
		trail.Users[key] = name
		file := filepath.Join(t.TempDir(), "credentials")
		if err := os.WriteFile(file, []byte("[test]\naws_access_key_id = "+key+"\naws_secret_access_key = secret\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		clients[name], err = awsapi.Connect(t.Context(), awsapi.Options{
			Options: awsconfig.Options{Region: "eu-central-1", Profile: "test", CredentialsFile: file, ConfigFile: file, Endpoint: proxy.URL},
			Limits:  httpclient.Limits{Concurrency: 4, Timeout: time.Minute, MaxBody: 8 << 20, Backoff: time.Second},
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(clients[name].Close)
	}
	ec2 := &awsapi.Service{ID: "ec2", Protocol: awsapi.EC2, Version: "2016-11-15", Rate: 100}
	iam := &awsapi.Service{ID: "iam", Protocol: awsapi.Query, Version: "2010-05-08", Global: true, Rate: 100}
	send := func(who string, service *awsapi.Service, action string, pairs ...string) model.Value {
		t.Helper()
		input := map[string]any{}
		for i := 0; i < len(pairs); i += 2 {
			input[pairs[i]] = pairs[i+1]
		}
		v, err := clients[who].Do(t.Context(), "eu-central-1", &awsapi.Call{Service: service, Action: action, Input: input})
		if err != nil {
			t.Fatalf("%s %s: %v", who, action, err)
		}
		return v
	}
	const trust = `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"ec2.amazonaws.com"}}]}`
	type answer struct {
		kind, id string
		action   model.Action
		field    string
		who      string
	}
	var want []answer
	expect := func(who, kind, id string, action model.Action, field string) {
		want = append(want, answer{"aws/AWS::" + kind, id, action, field, who})
	}
	vpc := send("pipeline", ec2, "CreateVpc", "CidrBlock", "10.0.0.0/16").At("vpc", "vpcId").Str()
	expect("pipeline", "EC2::VPC", vpc, model.Created, "")
	for _, who := range []string{"alice", "bob", "carol"} {
		group := send("pipeline", ec2, "CreateSecurityGroup", "GroupName", who, "GroupDescription", "d", "VpcId", vpc).At("groupId").Str()
		expect("pipeline", "EC2::SecurityGroup", group, model.Created, "")
		rule := send(who, ec2, "AuthorizeSecurityGroupIngress", "GroupId", group, "IpPermissions.1.IpProtocol", "tcp", "IpPermissions.1.FromPort", "22", "IpPermissions.1.ToPort", "22", "IpPermissions.1.IpRanges.1.CidrIp", "0.0.0.0/0")
		expect(who, "EC2::SecurityGroupRule", rule.At("securityGroupRuleSet").Items()[0].At("securityGroupRuleId").Str(), model.Created, "")
		expect(who, "EC2::SecurityGroup", group, model.Edited, "ingress")
		other := map[string]string{"alice": "bob", "bob": "carol", "carol": "alice"}[who]
		send(other, ec2, "CreateTags", "ResourceId.1", group, "Tag.1.Key", "team", "Tag.1.Value", other)
		expect(other, "EC2::SecurityGroup", group, model.Edited, "tags.team")
		send("pipeline", iam, "CreateUser", "UserName", "user-"+who)
		send("pipeline", iam, "CreateRole", "RoleName", "role-"+who, "AssumeRolePolicyDocument", trust)
		expect("pipeline", "IAM::Role", "role-"+who, model.Created, "")
		key := send(who, iam, "CreateAccessKey", "UserName", "user-"+who).At("AccessKey", "AccessKeyId").Str()
		expect(who, "IAM::AccessKey", key, model.Created, "")
		policy := `{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"*","Resource":"*"}]}`
		send(other, iam, "PutRolePolicy", "RoleName", "role-"+who, "PolicyName", "all", "PolicyDocument", policy)
		expect(other, "IAM::RolePolicy", "role-"+who+":all", model.Created, "")
		send(who, iam, "AttachRolePolicy", "RoleName", "role-"+who, "PolicyArn", "arn:aws:iam::aws:policy/AdministratorAccess")
		expect(who, "IAM::RolePolicyAttachment", "role-"+who+"/arn:aws:iam::aws:policy/AdministratorAccess", model.Created, "")
		send(other, iam, "UpdateAssumeRolePolicy", "RoleName", "role-"+who, "PolicyDocument", trust)
		expect(other, "IAM::Role", "role-"+who, model.Edited, "assume_role_policy")
		send(who, iam, "TagRole", "RoleName", "role-"+who, "Tags.member.1.Key", "a", "Tags.member.1.Value", "b")
		volume := send("pipeline", ec2, "CreateVolume", "AvailabilityZone", "eu-central-1a", "Size", "1").At("volumeId").Str()
		send(who, ec2, "DeleteVolume", "VolumeId", volume)
		expect(who, "EC2::Volume", volume, model.Deleted, "")
	}
	reader := cloudtrail.New(cloudtrail.Defaults(), collectors.Env{Name: "prod", CacheDir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}, &cloudtrail.Pace{})
	log := reader.Read(context.WithoutCancel(t.Context()), cloudtrail.Server{Client: clients["driftd"]}, cloudtrail.Account{Number: trailtest.Account, Partition: "aws"}, []string{"eu-central-1"}, time.Now())
	right, wrong := 0, 0
	for _, w := range want {
		who := ""
		for _, e := range log.Events {
			if e.Kind == w.kind && e.ID == w.id && e.Action == w.action && (w.field == "" || slices.Contains(e.Fields, w.field)) {
				who = e.Actor.Name
			}
		}
		switch who {
		case w.who:
			right++
		case "":
			t.Logf("%+v: unknown", w)
		default:
			wrong++
			t.Errorf("%+v: %s", w, who)
		}
	}
	t.Logf("%d of %d actors right, %d wrong, %d requests throttled", right, len(want), wrong, trail.Throttled)
	if right*100 < 95*len(want) || log.Unread() != "" || trail.Throttled > 0 {
		t.Errorf("%d of %d right; unread %q; throttled %d", right, len(want), log.Unread(), trail.Throttled)
	}
}
