//go:build e2e

package e2e

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors/aws/cloudtrail/trailtest"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/test/tftest"
)

// recordedAWS is the recorded estate of AWS.
const recordedAWS = "../../testdata/aws"

// estateConfig reads the simulated account, and plans the recorded root. moto has no list of analyzers.
const estateConfig = `
sources:
  - name: prod
    type: aws
    settings:
      endpoint: %q
      path_style: true
      regions: [eu-central-1, us-west-2]
      services: [s3, ec2, iam, sqs, sns, lambda, rds, dynamodb, ecr, elasticloadbalancing, eks, ecs, route53, kms, secretsmanager, cloudtrail, config, logs]
      # moto ignores the filter for public snapshots, lacks the list of URLs, and answers these of buckets in another form.
      exclude_kinds: [AWS::EC2::SnapshotPermission, AWS::S3::Bucket.LoggingConfiguration, AWS::S3::Bucket.RequestPaymentConfiguration, AWS::S3::Bucket.NotificationConfiguration, AWS::Lambda::Url]
      audit: {lookback: 24h}
      profile: test
      credentials_file: credentials
      config_file: config
declarations:
  - name: infra
    type: terraform
    governs: [prod]
    settings: {dir: root, engine: %s, binary: ./terraform, box: false%s}
`

// replayedCLI is a stand-in for the CLI of Terraform, which prints what the genuine one with the genuine provider printed.
const replayedCLI = `#!/bin/sh
PATH=/bin:/usr/bin
cd "${0%/*}"
case $1 in
version) echo '{"terraform_version":"1.11.4"}' ;;
show) for file; do :; done; cat "$file" ;;
providers) cat schemas.json ;;
plan)
  plan=plan.json
  case " $* " in *" -refresh=false "*) plan=unrefreshed.json ;; esac
  for a; do case $a in -out=*) cp "$plan" "${a#-out=}" ;; esac; done ;;
esac
`

// An awsRequest is one recorded request.
type awsRequest struct {
	Seed                                             int
	Service, Region, Who, Action, Method, Path, Body string
	Headers                                          map[string]string
	Status                                           int
}

// A recordedAccount is an account that moto simulates, behind a stand-in for CloudTrail.
type recordedAccount struct {
	t           *testing.T
	moto, proxy string
	// keys are the access keys by user.
	keys map[string]string
	// others are the IDs of what moto makes up at its start, by the recorded ones.
	others map[string]string
}

// play sends recorded requests, so that the IDs of what they create are the recorded ones.
func (a *recordedAccount) play(file string) {
	a.t.Helper()
	text, err := os.ReadFile(filepath.Join(recordedAWS, file))
	if err != nil {
		a.t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		var r awsRequest
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			a.t.Fatal(err)
		}
		a.send(http.MethodPost, a.moto+fmt.Sprintf("/moto-api/seed?a=%d", r.Seed), "", nil, http.StatusOK)
		header := map[string]string{}
		maps.Copy(header, r.Headers)
		header["Authorization"] = fmt.Sprintf("AWS4-HMAC-SHA256 Credential=%s/20260101/%s/%s/aws4_request, SignedHeaders=host, Signature=0", a.keys[r.Who], r.Region, r.Service)
		a.send(r.Method, a.proxy+r.Path, a.translated(r.Body), header, r.Status)
	}
}

// send sends a request, and returns the answer.
func (a *recordedAccount) send(method, address, body string, header map[string]string, status int) string {
	a.t.Helper()
	r, err := http.NewRequestWithContext(a.t.Context(), method, address, strings.NewReader(body))
	if err != nil {
		a.t.Fatal(err)
	}
	for name, value := range header {
		r.Header.Set(name, value)
	}
	r.Host = "127.0.0.1:5656" // URLs of queues have it.
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		a.t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != status {
		a.t.Fatalf("%s %s: %s %v %.500s", method, address, answer.Status, err, text)
	}
	return string(text)
}

// translated replaces recorded IDs.
func (a *recordedAccount) translated(text string) string {
	for recorded, now := range a.others {
		text = strings.ReplaceAll(text, recorded, now)
	}
	return text
}

// findDefaults finds the default group and network of us-west-2.
func (a *recordedAccount) findDefaults() {
	a.t.Helper()
	text := a.send(http.MethodPost, a.moto, "Action=DescribeSecurityGroups&Version=2016-11-15", map[string]string{
		"Content-Type":  "application/x-www-form-urlencoded",
		"Authorization": "AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/us-west-2/ec2/aws4_request, SignedHeaders=host, Signature=0",
	}, http.StatusOK)
	a.others = map[string]string{"sg-97d4ff5a9ddb0fae7": regexp.MustCompile("sg-[0-9a-f]+").FindString(text), "vpc-f2e06728384fa7815": regexp.MustCompile("vpc-[0-9a-f]+").FindString(text)}
}

// unpacked returns the content of a recorded file.
func unpacked(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(recordedAWS, name+".gz"))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// startAccount starts an account in which nothing was created. state has the access keys of its users.
func startAccount(t *testing.T, state string) *recordedAccount {
	t.Helper()
	moto, err := tftest.StartMoto(t.Context())
	stopLater(t, moto, err)
	account := &recordedAccount{t: t, moto: "http://" + moto.Address, keys: map[string]string{"": "AKIAESTATE0000000000"}}
	trail := &trailtest.Trail{Users: map[string]string{account.keys[""]: "pipeline"}, Next: httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: moto.Address})}
	proxy := httptest.NewServer(trail)
	t.Cleanup(proxy.Close)
	account.proxy = proxy.URL
	for who, key := range peopleOf(t, state) {
		account.keys[who], trail.Users[key] = key, who
	}
	return account
}

// TestAWSEstate compares an estate that the genuine provider of AWS applied with the account that moto simulates: from the state
// and from the plans of the provider, before and after edits by three people.
func TestAWSEstate(t *testing.T) {
	t.Parallel()
	s := &shelf{t: t, dir: t.TempDir()}
	state := unpacked(t, "state.json")
	account := startAccount(t, state)
	for _, dir := range []string{"root", "bin"} {
		if err := os.Mkdir(filepath.Join(s.dir, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"main.tf", "worker.zip"} {
		content, err := os.ReadFile(filepath.Join(recordedAWS, name))
		if err != nil {
			t.Fatal(err)
		}
		s.write("root/"+name, string(content))
	}
	s.write("root/terraform.tfstate", state)
	s.write("schemas.json", unpacked(t, "schemas.json"))
	s.write("credentials", "[test]\naws_access_key_id = AKIADRIFTD\naws_secret_access_key = secret-of-the-test\n")
	s.write("config", "[profile test]\nregion = eu-central-1\n")
	s.write("terraform", replayedCLI)
	if err := os.Chmod(filepath.Join(s.dir, "terraform"), 0o700); err != nil { //nolint:gosec // a program has to be executable
		t.Fatal(err)
	}
	s.write("plan.json", unpacked(t, "clean.json"))
	// Nothing is planned without a refresh: neither the state nor the configuration change.
	s.write("unrefreshed.json", unpacked(t, "clean.json"))
	fromState := fmt.Sprintf(estateConfig, account.proxy, "state", ", state: [root/terraform.tfstate]")
	fromState = strings.Replace(fromState, "dir: root, ", "", 1)
	fromState = strings.Replace(fromState, ", binary: ./terraform, box: false", "", 1)
	s.write("state.yaml", fromState)
	s.write("plan.yaml", fmt.Sprintf(estateConfig, account.proxy, "plan", ""))

	account.play("estate.jsonl")
	account.findDefaults()
	got := "== from the state, after the apply\n" + account.scan(s, "state") + "== from a plan, after the apply\n" + account.scan(s, "plan")
	account.play("edits.jsonl")
	s.write("plan.json", unpacked(t, "edited.json"))
	got += "== from a plan, after the edits\n" + account.scan(s, "plan")
	account.checkPage(s)
	golden := filepath.Join("testdata", "awsestate.txt")
	if os.Getenv("DRIFTD_TEST_E2E_UPDATE") != "" {
		if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("the findings differ from %s (-want +got):\n%s", golden, diff)
	}
}

// checkPage checks that the page of a daemon shows, after its first scan, a rule that everybody can use: as critical, and with
// who made it.
func (a *recordedAccount) checkPage(s *shelf) {
	a.t.Helper()
	config, err := os.ReadFile(filepath.Join(s.dir, "plan.yaml"))
	if err != nil {
		a.t.Fatal(err)
	}
	address := freeAddress(a.t)
	s.write("driftd.yaml", fmt.Sprintf("state_dir: ./served\nserver: {listen: %q}\n%s", address, config))
	d := (&installation{t: a.t, dir: s.dir, address: address}).serve()
	var page string
	d.eventually(startTimeout, "findings on its page", func() (err error) {
		if page, err = d.get("/"); err == nil && !strings.Contains(page, `<tr id="f-`) {
			err = errors.New("no finding is on it")
		}
		return err
	})
	row := regexp.MustCompile(`(?s)<tr id="f-(?:[^<]|<[^t]|<t[^r])*sgr-d7448f42d1771d045.*?</tr>`).FindString(page)
	text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(row, "")
	for _, want := range []string{"critical", "alice"} {
		if !strings.Contains(strings.ToLower(text), want) {
			a.t.Errorf("the row of the rule on the page lacks %q: %q", want, text)
		}
	}
	if strings.Contains(page, "not-a-real-one-7Q") {
		a.t.Error("a secret is on the page")
	}
}

// peopleOf returns the access keys in a state by user.
func peopleOf(t *testing.T, text string) map[string]string {
	t.Helper()
	var state struct {
		Resources []struct {
			Type      string
			Instances []struct {
				Attributes struct{ ID, User string }
			}
		}
	}
	if err := json.Unmarshal([]byte(text), &state); err != nil {
		t.Fatal(err)
	}
	keys := map[string]string{}
	for _, r := range state.Resources {
		for _, i := range r.Instances {
			if r.Type == "aws_iam_access_key" {
				keys[i.Attributes.User] = i.Attributes.ID
			}
		}
	}
	return keys
}

// scan returns the findings of a scan, each as one line.
func (a *recordedAccount) scan(s *shelf, engine string) string {
	a.t.Helper()
	cmd := exec.CommandContext(a.t.Context(), driftdPath(a.t), "scan", "--config", engine+".yaml", "-o", "json", "--state-dir", engine)
	cmd.Dir, cmd.Env = s.dir, []string{"HOME=" + s.dir}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		a.t.Fatal(err)
	}
	var report model.Report
	if err := json.Unmarshal(out, &report); err != nil {
		a.t.Fatalf("engine %s: decode report: %v: %s%s", engine, err, out, &stderr)
	}
	for _, secret := range []string{"not-a-real-one-7Q", "secret-of-the-test"} {
		if strings.Contains(string(out)+stderr.String(), secret) {
			a.t.Errorf("engine %s: a secret is shown", engine)
		}
	}
	var lines []string
	for i := range report.Findings {
		f := &report.Findings[i]
		line := fmt.Sprintf("%s %s %s %s %s by %s", f.Severity, f.Verdict, f.Kind, f.Key.ID, f.Address, f.Actor.Label())
		for _, c := range f.Changes {
			line += " | " + c.Path
			if c.Actor != nil {
				line += " by " + c.Actor.Label()
			}
		}
		if f.Verdict == model.Unchecked {
			line += " | " + f.Reason
		}
		lines = append(lines, line)
	}
	for _, c := range report.Coverage {
		if c.Failed() {
			lines = append(lines, "not read: "+c.Kind+" in "+c.Place+": "+c.Reason)
		}
	}
	slices.Sort(lines)
	return strings.Join(append(lines, ""), "\n")
}
