package aws

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/record"
	"github.com/driftd/driftd/internal/record/replay"
)

// recordAccount returns what is read from a server, and the folder of its recording.
func recordAccount(t *testing.T, handler http.Handler, change func(*Config)) (s model.Snapshot, dir string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	c := estateConfig(t, server.URL)
	if change != nil {
		change(&c)
	}
	i := testInventory(t, c)
	r := record.New(i.Vocabulary())
	s, err := i.Record(t.Context(), r.Through)
	if err != nil {
		t.Fatal(err)
	}
	dir = filepath.Join(t.TempDir(), "recording")
	if err = r.Write(dir, record.ManifestOf(&s, "test")); err != nil {
		t.Fatal(err)
	}
	return s, dir
}

// replayed returns what is read from a recording.
func replayed(t *testing.T, dir string) (model.Snapshot, *replay.Server) {
	t.Helper()
	server, err := replay.Load(dir, (&inventory{}).Vocabulary())
	if err != nil {
		t.Fatal(err)
	}
	s, err := collectEstate(t, server, func(c *Config) {
		c.Services = slices.DeleteFunc(knownServices(), func(name string) bool { return !slices.Contains(server.Manifest.Services, name) })
		c.Regions, c.Region = server.Manifest.Regions, ""
		if len(c.Regions) == 0 {
			c.Region = "us-east-1" // there are buckets only
		}
		c.Shares = slices.Contains(c.Services, "ec2") && !slices.Contains(server.Manifest.LeftOut, "aws/AWS::EC2::SnapshotShare")
		for _, kind := range server.Manifest.LeftOut {
			c.ExcludeKinds = append(c.ExcludeKinds, strings.TrimPrefix(kind, Type+"/"))
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, server
}

// shape returns what an account and its recording have in common.
func shape(s *model.Snapshot) []string {
	return replay.Shape(s, regexp.MustCompile(`^(global|(eu|us)-[a-z]+-[0-9])$`).MatchString)
}

// TestRecordEstate checks that a recording of an estate with one of each kind is read as the
// estate is, and contains none of its texts.
func TestRecordEstate(t *testing.T) {
	t.Parallel()
	s, dir := recordAccount(t, wholeEstate(t), func(c *Config) { c.Shares = true })
	again, server := replayed(t, dir)
	if diff := cmp.Diff(shape(&s), shape(&again)); diff != "" {
		t.Errorf("the recording is not read as the estate is (-estate +recording):\n%s", diff)
	}
	if diff := cmp.Diff(server.Manifest.Resources, record.ManifestOf(&again, "").Resources); diff != "" {
		t.Errorf("the manifest has other resources:\n%s", diff)
	}
	for _, name := range slices.Sorted(maps.Keys(server.Answers)) {
		for _, secret := range []string{"123456789012", "hunter2", "PASSWORD", "AKIATEST"} {
			if strings.Contains(name+server.Answers[name].Body, secret) {
				t.Errorf("%s: it contains %q", name, secret)
			}
		}
	}
}

// TestRecordBuckets checks the same of buckets: with names that are words of the API or parts of
// each other, with several pages, in two regions, and with parts that cannot be read.
func TestRecordBuckets(t *testing.T) {
	t.Parallel()
	names := []string{"available", "available-too", "enabled", "default", "acme", "acme.prod", "acme.prod.logs", "policy"}
	buckets := newStore(names...)
	buckets.pageSize, buckets.regions["acme.prod"] = 3, "eu-west-1"
	buckets.buckets["acme"]["policy"] = `{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*","Action":"s3:GetObject","Resource":"arn:aws:s3:::acme/*"}}`
	buckets.buckets["acme"]["tagging"] = `<Tagging ` + namespace + `><TagSet><Tag><Key>Enabled</Key><Value>{"Statement":"x"}</Value></Tag><Tag><Key>&lt;b&gt;</Key><Value>Grüße</Value></Tag></TagSet></Tagging>`
	buckets.buckets["acme.prod.logs"]["acl"] = "!403 AccessDenied"
	buckets.buckets["policy"]["lifecycle"] = `<LifecycleConfiguration ` + namespace + `><Rule><ID>acme rule</ID><Status>Enabled</Status><Filter><Prefix>acme/logs/</Prefix></Filter><Expiration><Days>30</Days></Expiration></Rule></LifecycleConfiguration>`
	s, dir := recordAccount(t, buckets, func(c *Config) { c.Services, c.Region = []string{s3Service}, "us-east-1" })
	again, _ := replayed(t, dir)
	if diff := cmp.Diff(shape(&s), shape(&again)); diff != "" {
		t.Errorf("the recording is not read as the account is (-account +recording):\n%s", diff)
	}
	if len(s.Resources) < 50 {
		t.Errorf("%d resources", len(s.Resources))
	}
}

// TestRecordings reads each recording, and compares the result with a golden file, and with the
// manifest.
func TestRecordings(t *testing.T) {
	t.Parallel()
	recordings, err := filepath.Glob(filepath.Join("testdata", "recordings", "*", record.ManifestFile))
	if err != nil || len(recordings) == 0 {
		t.Fatalf("no recordings: %v", err)
	}
	for _, manifest := range recordings {
		dir := filepath.Dir(manifest)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			s, server := replayed(t, dir)
			compareDump(t, dir+".txt", &s)
			got := record.ManifestOf(&s, "")
			if diff := cmp.Diff(server.Manifest.Resources, got.Resources); diff != "" || server.Manifest.Unread != got.Unread {
				t.Errorf("the account was read otherwise, with %d scopes unread in place of %d (-account +recording):\n%s", got.Unread, server.Manifest.Unread, diff)
			}
		})
	}
}
