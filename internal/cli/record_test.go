package cli_test

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/cli"
	"github.com/driftd/driftd/internal/collectors/aws/vocabulary"
	"github.com/driftd/driftd/internal/record/replay"
)

// recordableAccount is the configuration of an account at an address, and of a source that cannot
// be recorded.
const recordableAccount = `
sources:
  - name: prod
    type: aws
    settings: {endpoint: %q, path_style: true, regions: [eu-central-1, us-west-2], services: [ec2, iam], exclude_kinds: [AWS::EC2::SnapshotPermission], profile: test, credentials_file: credentials, config_file: config}
  - name: dump
    type: kubernetes
    settings: {dump: live.yaml}
state_dir: state
`

// TestRecord records a recording, which is a server as any other.
func TestRecord(t *testing.T) {
	t.Parallel()
	recorded, err := replay.Load(filepath.Join("..", "collectors", "aws", "testdata", "recordings", "moto"), vocabulary.Of(""))
	if err != nil {
		t.Fatal(err)
	}
	down := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	for _, test := range []struct {
		reason  string
		handler http.Handler
		args    []string
		code    int
		want    string
		// files is the number of files that are written.
		files int
	}{
		{"an account", recorded, []string{"prod", "-o", "new"}, 0, "new: 123 resources recorded", 5},
		{"into an empty folder", recorded, []string{"prod", "-o", "empty"}, 0, "empty: 123 resources recorded", 5},
		{"into a folder with files", recorded, []string{"prod", "-o", "full"}, 1, "full is not empty: name a new folder", 1},
		{"without a folder", recorded, []string{"prod"}, 1, "no folder: name a new one with -o", 0},
		{"an account that refuses", down, []string{"prod", "-o", "new"}, 1, "record prod: read", 0},
		{"another type", recorded, []string{"dump", "-o", "new"}, 1, "source dump is of type kubernetes: only sources of type aws can be recorded", 0},
		{"no source", recorded, []string{"x", "-o", "new"}, 1, `no source is named "x"`, 0},
	} {
		server := httptest.NewServer(test.handler)
		dir := t.TempDir()
		for _, folder := range []string{"empty", "full"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range map[string]string{
			"driftd.yaml": fmt.Sprintf(recordableAccount, server.URL), "live.yaml": "apiVersion: v1\nkind: List\nitems: []\n", "full/mine": "",
			"credentials": "[test]\naws_access_key_id = AKIATEST\naws_secret_access_key = hunter2hunter2\n", "config": "[profile test]\n",
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		args := append([]string{"sources", "record"}, test.args...)
		folder := ""
		if len(test.args) > 2 {
			folder = filepath.Join(dir, test.args[2])
			args[len(args)-1] = folder
		}
		var out bytes.Buffer
		code := cli.Run(t.Context(), cli.Build{Version: "1.2.3"}, append(args, "--config", filepath.Join(dir, "driftd.yaml")), cli.Streams{Out: &out, Err: &out})
		server.Close()
		if text := strings.ReplaceAll(out.String(), dir+"/", ""); code != test.code || !strings.Contains(text, test.want) || strings.Contains(text, "hunter2") {
			t.Errorf("%s: exit code %d: %s", test.reason, code, text)
		}
		if files, _ := os.ReadDir(folder); folder != "" && len(files) != test.files {
			t.Errorf("%s: %d files, want %d", test.reason, len(files), test.files)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "*unfinished*")); len(left) > 0 {
			t.Errorf("%s: left %v", test.reason, left)
		}
		if _, err := os.Lstat(filepath.Join(dir, "state")); err == nil {
			t.Errorf("%s: a database was made", test.reason)
		}
	}
}
