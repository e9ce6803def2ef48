//go:build e2e

package e2e

import (
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws"
	"github.com/driftd/driftd/internal/collectors/aws/vocabulary"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/record"
	"github.com/driftd/driftd/internal/record/replay"
)

// recordingOfMoto is the recording that the tests of the collector read.
const recordingOfMoto = "../../internal/collectors/aws/testdata/recordings/moto"

// TestAWSRecording records the simulated account with the command, and checks that the recording is
// read as the account is, and contains none of its names.
func TestAWSRecording(t *testing.T) {
	t.Parallel()
	s := &shelf{t: t, dir: t.TempDir()}
	state := unpacked(t, "state.json")
	account := startAccount(t, state)
	account.play("estate.jsonl")
	account.findDefaults()
	account.play("edits.jsonl")
	s.write("credentials", "[test]\naws_access_key_id = AKIADRIFTD\naws_secret_access_key = secret-of-the-test\n")
	s.write("config", "[profile test]\nregion = eu-central-1\n")
	source, _, _ := strings.Cut(fmt.Sprintf(estateConfig, account.proxy, "state", ""), "declarations:")
	s.write("driftd.yaml", source+"declarations: []\n")
	dir := filepath.Join(s.dir, "recording")
	cmd := exec.CommandContext(t.Context(), driftdPath(t), "sources", "record", "prod", "-o", dir, "--config", "driftd.yaml")
	cmd.Dir, cmd.Env = s.dir, []string{"HOME=" + s.dir, "PATH=" + os.Getenv("PATH")}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Logf("%s", out)
	text := folderText(t, dir)
	for _, name := range append(namesIn(state), "123456789012", "secret-of-the-test", "AKIADRIFTD", "not-a-real-one-7Q") {
		if strings.Contains(text, name) {
			t.Errorf("the recording contains %q", name)
		}
	}
	if os.Getenv("DRIFTD_TEST_E2E_UPDATE") != "" {
		if err := os.RemoveAll(recordingOfMoto); err != nil {
			t.Fatal(err)
		}
		if err := os.CopyFS(recordingOfMoto, os.DirFS(dir)); err != nil {
			t.Fatal(err)
		}
	}
	server, err := replay.Load(dir, vocabulary.Of(""))
	if err != nil {
		t.Fatal(err)
	}
	replaying := httptest.NewServer(server)
	t.Cleanup(replaying.Close)
	live, again := collectAWS(t, s, account.proxy), collectAWS(t, s, replaying.URL)
	isRegion := regexp.MustCompile(`^(eu|us)-(central|west|east)-[0-9]$`).MatchString
	if diff := cmp.Diff(replay.Shape(&live, isRegion), replay.Shape(&again, isRegion)); diff != "" {
		t.Errorf("the recording is not read as the account is (-account +recording):\n%s", diff)
	}
	if diff := cmp.Diff(server.Manifest.Resources, record.ManifestOf(&live, "").Resources); diff != "" {
		t.Errorf("the manifest has other resources:\n%s", diff)
	}
}

// collectAWS reads an account, or its recording, at an address.
func collectAWS(t *testing.T, s *shelf, address string) model.Snapshot {
	t.Helper()
	c, err := aws.Definition().Open(collectors.Env{Name: "prod", Log: slog.New(slog.DiscardHandler)}, func(into any) error {
		config, ok := into.(*aws.Config)
		if !ok {
			return fmt.Errorf("settings are %T", into)
		}
		config.Endpoint, config.PathStyle, config.Profile = address, true, "test"
		config.CredentialsFile, config.ConfigFile = filepath.Join(s.dir, "credentials"), filepath.Join(s.dir, "config")
		config.Regions, config.Services = []string{"eu-central-1", "us-west-2"}, strings.Fields("s3 ec2 iam sqs sns lambda rds dynamodb ecr elasticloadbalancing eks ecs route53 kms secretsmanager cloudtrail config logs")
		config.ExcludeKinds = []string{"AWS::EC2::SnapshotPermission", "AWS::S3::Bucket.LoggingConfiguration", "AWS::S3::Bucket.RequestPaymentConfiguration", "AWS::S3::Bucket.NotificationConfiguration", "AWS::Lambda::Url"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := c.Collect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return snapshot
}

// folderText returns the content of all files of a folder, with the names of the files.
func folderText(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	var all strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.WriteString(filepath.Base(file) + "\n" + string(content))
	}
	return all.String()
}

// namesIn returns the names and IDs in a state.
func namesIn(state string) []string {
	var all []string
	for _, match := range regexp.MustCompile(`"(?:name|bucket|id|arn|user|role|function_name|description|key_name|url)": ?"([^"]{8,})"`).FindAllStringSubmatch(state, -1) {
		if !strings.HasPrefix(match[1], "arn:aws:iam::aws:") {
			all = append(all, match[1])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}
