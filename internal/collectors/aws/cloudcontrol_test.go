package aws

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/mapping"
	"github.com/driftd/driftd/internal/model"
)

// A cloudControl answers in the documented form of Cloud Control, and leaves other requests to the recording. See
// https://docs.aws.amazon.com/cloudcontrolapi/latest/APIReference/API_ListResources.html
type cloudControl struct {
	*recording

	// pages are the pages of a list, by region and type. One that begins with "!" is the code of an error.
	pages map[string][]string
}

func (c *cloudControl) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	scope := strings.Split(r.Header.Get("Authorization"), "/")
	if r.Header.Get("X-Amz-Target") != "CloudApiService.ListResources" || scope[3] != "cloudcontrolapi" {
		c.recording.ServeHTTP(w, r)
		return
	}
	var input struct {
		TypeName, NextToken string
		MaxResults          int
	}
	if err := json.NewDecoder(r.Body).Decode(&input); err != nil || input.MaxResults != 100 {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	pages, n := c.pages[scope[2]+" "+input.TypeName], len(input.NextToken)
	if n >= len(pages) {
		pages, n = []string{"!TypeNotFoundException"}, 0
	}
	if code, refused := strings.CutPrefix(pages[n], "!"); refused {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `{"__type":"com.amazon.cloudapiservice#%s","Message":"no %s"}`, code, input.TypeName)
		return
	}
	next := ""
	if n+1 < len(pages) {
		next = fmt.Sprintf(`"NextToken":%q,`, strings.Repeat("x", n+1))
	}
	_, _ = io.WriteString(w, `{`+next+`"TypeName":"`+input.TypeName+`","ResourceDescriptions":[`+pages[n]+`]}`)
}

// described returns an entry of a list with properties; "" for an entry without any.
func described(identifier, properties string) string {
	if properties == "" {
		return fmt.Sprintf(`{"Identifier":%q}`, identifier)
	}
	return fmt.Sprintf(`{"Identifier":%q,"Properties":%q}`, identifier, properties)
}

const (
	vaultARN   = "arn:aws:backup:eu-central-1:123456789012:backup-vault:daily"
	machineARN = "arn:aws:states:eu-central-1:123456789012:stateMachine:orders"
	stackedARN = "arn:aws:backup:eu-central-1:123456789012:backup-vault:stacked"
)

// collectTypes reads an account with types that Cloud Control lists.
func collectTypes(t *testing.T, change func(*cloudControl), types ...string) model.Snapshot {
	t.Helper()
	c := &cloudControl{recording: wholeEstate(t), pages: map[string][]string{
		"eu-central-1 AWS::Backup::BackupVault": {
			described("daily", `{"BackupVaultName":"daily","BackupVaultArn":"`+vaultARN+`","AccessPolicy":"hunter2"}`),
			described("stacked", `{"BackupVaultName":"stacked","BackupVaultArn":"`+stackedARN+`"}`) + "," + described("bare", ""),
		},
		"us-east-1 AWS::Backup::BackupVault":            {described("daily", `{"BackupVaultName":"daily"}`)},
		"eu-central-1 AWS::StepFunctions::StateMachine": {described(machineARN, `{"Arn":"`+machineARN+`","Name":"orders","Tags":[{"Key":"team","Value":"shop"}],"^":{"Identifier":"x"}}`)},
		"us-east-1 AWS::StepFunctions::StateMachine":    {""},
		"us-east-1 AWS::CloudFront::Distribution":       {described("E1", `{"Id":"E1"`)},
		"eu-central-1 AWS::ECS::TaskSet":                {"!InvalidRequestException"},
		"us-east-1 AWS::ECS::TaskSet":                   {"!AccessDeniedException"},
		"eu-central-1 AWS::Scheduler::ScheduleGroup":    {"!UnsupportedActionException"},
		"us-east-1 AWS::Scheduler::ScheduleGroup":       {described("", "{}")},
	}}
	c.instead["GetResources"] = recorded{http.StatusOK, `{"ResourceTagMappingList":[{"ResourceARN":"` + vaultARN + `","Tags":[{"Key":"team","Value":"ops"}]},
		{"ResourceARN":"` + stackedARN + `","Tags":[{"Key":"aws:cloudformation:stack-name","Value":"backups"}]}],"PaginationToken":""}`}
	if change != nil {
		change(c)
	}
	s, err := collectEstate(t, c, func(c *Config) {
		c.Services, c.Regions, c.CloudControl = []string{"route53"}, []string{"eu-central-1", "us-east-1"}, types
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCloudControl checks the resources, their places, tags and stacks.
func TestCloudControl(t *testing.T) {
	t.Parallel()
	s := collectTypes(t, nil, "AWS::Backup::BackupVault", "AWS::StepFunctions::StateMachine", "AWS::CloudFront::Distribution")
	var got []string
	for i := range s.Resources {
		r := &s.Resources[i]
		if strings.Contains(r.Kind, "Route53") {
			continue
		}
		got = append(got, fmt.Sprintf("%s %s in %s: %s %v %s %s", r.Kind, r.ID, r.Place, r.Name, r.Identities, r.Value.AppendJSON(nil), r.SystemOwned))
		if s.Kinds[r.Kind] == nil || s.Kinds[r.Kind].Labels != "tags" {
			t.Errorf("%s has no schema with labels", r.Kind)
		}
	}
	want := []string{
		`aws/AWS::Backup::BackupVault eu-central-1:bare in eu-central-1: bare [] {} `,
		`aws/AWS::Backup::BackupVault eu-central-1:daily in eu-central-1: daily [{arn ` + vaultARN + `}] {"tags":{"team":"ops"}} `,
		`aws/AWS::Backup::BackupVault eu-central-1:stacked in eu-central-1: stacked [{arn ` + stackedARN + `}] {} declared by the CloudFormation stack backups`,
		`aws/AWS::Backup::BackupVault us-east-1:daily in us-east-1: daily [] {} `,
		`aws/AWS::CloudFront::Distribution E1 in global: E1 [] {} `,
		`aws/AWS::StepFunctions::StateMachine ` + machineARN + ` in eu-central-1: orders [{arn ` + machineARN + `}] {"tags":{"team":"shop"}} `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("resources differ (-want +got):\n%s", diff)
	}
	for _, scope := range []model.Scope{{Kind: "aws/AWS::Backup::BackupVault", Place: "us-east-1"}, {Kind: "aws/AWS::StepFunctions::StateMachine", Place: "us-east-1"}, {Kind: "aws/AWS::CloudFront::Distribution", Place: "global"}} {
		if ok, reason := s.Covers(scope.Kind, scope.Place); !ok {
			t.Errorf("%s in %s is not covered: %s", scope.Kind, scope.Place, reason)
		}
	}
	if ok, _ := s.Covers("aws/AWS::Backup::BackupVault", "eu-west-1"); ok {
		t.Error("a region that is not read is covered")
	}
	if text := fmt.Sprintf("%+v", s); strings.Contains(text, "hunter2") {
		t.Error("the snapshot has a property other than the tags, the name and the ARN")
	}
}

// TestCloudControlGaps checks that a type that cannot be listed is unchecked alone, with the reason.
func TestCloudControlGaps(t *testing.T) {
	t.Parallel()
	s := collectTypes(t, nil, "AWS::Backup::BackupVault", "AWS::ECS::TaskSet", "AWS::Scheduler::ScheduleGroup", "AWS::Acme::Missing")
	for _, test := range []struct{ kind, place, want string }{
		{"ECS::TaskSet", "eu-central-1", "400 InvalidRequestException: no AWS::ECS::TaskSet; Cloud Control has no list of all resources of this type here: remove it from cloud_control"},
		{"ECS::TaskSet", "us-east-1", "400 AccessDeniedException: no AWS::ECS::TaskSet; grant cloudformation:ListResources and the rights to list that the type needs"},
		{"Scheduler::ScheduleGroup", "eu-central-1", "400 UnsupportedActionException: no AWS::Scheduler::ScheduleGroup; Cloud Control has no list"},
		{"Scheduler::ScheduleGroup", "us-east-1", "an entry of Scheduler::ScheduleGroup has no id"},
		{"Acme::Missing", "eu-central-1", "400 TypeNotFoundException: no AWS::Acme::Missing; Cloud Control has no list"},
	} {
		if ok, reason := s.Covers("aws/AWS::"+test.kind, test.place); ok || !strings.Contains(reason, test.want) {
			t.Errorf("%s in %s is covered: %t, because %q, want %q", test.kind, test.place, ok, reason, test.want)
		}
	}
	if ok, reason := s.Covers("aws/AWS::Backup::BackupVault", "eu-central-1"); !ok {
		t.Errorf("vaults are not covered: %s", reason)
	}
}

// TestCloudControlTags checks that resources whose stack is not known are unread.
func TestCloudControlTags(t *testing.T) {
	t.Parallel()
	s := collectTypes(t, func(c *cloudControl) {
		c.instead["GetResources"] = recorded{http.StatusBadRequest, `{"__type":"AccessDeniedException","message":"no"}`}
	}, "AWS::Backup::BackupVault")
	if len(s.Unread) != 4 || !strings.Contains(s.Unread[0].Reason, "grant tag:GetResources") {
		t.Errorf("unread: %+v, want four vaults", s.Unread)
	}
	c := &cloudControl{recording: wholeEstate(t), pages: map[string][]string{"us-east-1 AWS::CloudFront::Distribution": {described("E1", "")}}}
	s, err := collectEstate(t, c, func(c *Config) {
		c.Services, c.CloudControl = []string{"route53"}, []string{"AWS::CloudFront::Distribution"}
	})
	if err != nil || len(s.Unread) != 1 || s.Unread[0].Reason != "the tags of what belongs to no region are read in us-east-1: add it to regions" {
		t.Errorf("Collect() without the home region = %v, unread %+v", err, s.Unread)
	}
}

// TestCloudControlMapping checks that the table in docs/aws.md gives instances of Terraform the IDs that the lists have.
func TestCloudControlMapping(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/aws.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "```yaml\nprovider: hashicorp/aws\n")
	table, _, _ := strings.Cut(rest, "```")
	folder := t.TempDir()
	if err = os.WriteFile(filepath.Join(folder, "types.yaml"), []byte("provider: hashicorp/aws\n"+table), 0o600); err != nil {
		t.Fatal(err)
	}
	tables, err := mapping.Load(folder)
	if err != nil {
		t.Fatal(err)
	}
	live := map[model.Ref]string{}
	s := collectTypes(t, nil, "AWS::Backup::BackupVault", "AWS::StepFunctions::StateMachine", "AWS::CloudFront::Distribution")
	for i := range s.Resources {
		r := &s.Resources[i]
		live[model.Ref{Kind: r.Kind, ID: r.ID}] = r.Place
	}
	for name, attributes := range map[string]string{
		"aws_backup_vault":            `{"id":"daily","name":"daily","arn":"` + vaultARN + `"}`,
		"aws_sfn_state_machine":       `{"id":"` + machineARN + `","arn":"` + machineARN + `","name":"orders"}`,
		"aws_cloudfront_distribution": `{"id":"E1","arn":"arn:aws:cloudfront::123456789012:distribution/E1"}`,
	} {
		v, err := decode.JSON([]byte(attributes))
		if err != nil {
			t.Fatal(err)
		}
		typ, _ := tables.Find("registry.terraform.io/hashicorp/aws", name)
		claim, err := typ.Claim(v, model.NewSealer([]byte("key")))
		if place, ok := live[model.Ref{Kind: claim.Kind, ID: claim.ID}]; err != nil || !ok || place != claim.Place {
			t.Errorf("%s claims %s %s in %q: %v; it is live: %t in %q", name, claim.Kind, claim.ID, claim.Place, err, ok, place)
		}
	}
}

// TestCloudControlRemoved checks that a type that is not in cloud_control any more counts as not read, while other kinds
// are unknown.
func TestCloudControlRemoved(t *testing.T) {
	t.Parallel()
	some := collectTypes(t, nil, "AWS::Backup::BackupVault")
	none := collectTypes(t, nil)
	buckets, err := collect(t, newStore("logs"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for reason, test := range map[string]struct {
		snapshot model.Snapshot
		want     string
	}{
		"another type":     {some, "add it to cloud_control, or correct the name of the kind"},
		"no type":          {none, "add it to cloud_control, or correct the name of the kind"},
		"only the buckets": {buckets, "only buckets are read: set services, or cloud_control"},
	} {
		const removed = "aws/AWS::StepFunctions::StateMachine"
		if ok, why := test.snapshot.Covers(removed, "eu-central-1"); ok || !test.snapshot.HasKind(removed) || !strings.Contains(why, test.want) {
			t.Errorf("%s: %s is covered: %t, because %q, known: %t", reason, removed, ok, why, test.snapshot.HasKind(removed))
		}
		if unknown := "aws/AWS::S3::Bucket.Colour"; test.snapshot.HasKind(unknown) {
			t.Errorf("%s: %s is known", reason, unknown)
		}
		if i := slices.IndexFunc(test.snapshot.Coverage, model.Coverage.Failed); i >= 0 {
			t.Errorf("%s: %+v counts as a failure", reason, test.snapshot.Coverage[i])
		}
	}
}
