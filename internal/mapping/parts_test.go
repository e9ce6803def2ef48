package mapping

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestParts checks that the buckets of older providers include their parts, and that those of
// newer ones, whose blocks are copies, include only themselves.
func TestParts(t *testing.T) {
	t.Parallel()
	tables, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	bucket, ok := tables.Find("registry.terraform.io/hashicorp/aws", "aws_s3_bucket")
	if !ok {
		t.Fatal("no table speaks of aws_s3_bucket")
	}
	tests := map[string]struct {
		reason, attributes string
		want               []string
	}{
		"older": {"blocks that are written are parts", `{"bucket": "b", "acl": "private", "policy": null, "cors_rule": [], "versioning": [{"enabled": false}]}`,
			[]string{"aws_s3_bucket.acl", "aws_s3_bucket.versioning"}},
		"newer": {"copies are not", `{"bucket": "b", "object_lock_enabled": false, "acl": "private", "versioning": [{"enabled": true}]}`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var attributes model.Value
			if err := attributes.UnmarshalJSON([]byte(test.attributes)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, part := range tables.Parts(bucket, attributes) {
				got = append(got, part.Name())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestPartsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ reason, parts, says string }{
		"list":    {"parts is a list", "x", "parts must be a list"},
		"when":    {"a part says when it counts", "[{type: lab_disk}]", "a part needs type and if"},
		"unknown": {"a part is a type", "[{type: lab_disk, if: disk}]", "parts of lab_server: no table has a mapped type lab_disk"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			table := "provider: acme/lab\ntypes:\n  lab_server: {kind: a/b, id: x, parts: " + test.parts + "}\n"
			if err := os.WriteFile(filepath.Join(dir, "mine.yaml"), []byte(table), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := Load(dir); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v, want %q", test.reason, err, test.says)
			}
		})
	}
}
