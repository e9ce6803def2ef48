package discipline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/discipline"
)

// TestAcceptances finds acceptances without an end.
func TestAcceptances(t *testing.T) {
	t.Parallel()
	files := filesOf(map[string]string{
		"ops/acceptances.yaml": `version: 1
acceptances:
- {source: prod, kind: kubernetes/Deployment.apps, resource: shop/web, reason: r, owner: o, until: 2026-12-24}
- source: prod
  kind: kubernetes/Secret
  resource: shop/db
  until: forever
- {source: prod, kind: proxmox/qemu, resource: "104", until: forever} # driftd:ignore acceptance/no-end the vendor requires it
- source: prod
  kind: kubernetes/Job.batch
  resource: "forever"
- {source: prod, kind: kubernetes/ConfigMap, resource: shop/a, until: 9999-12-31}
`,
		"ops/broken.yaml": "version: 1\nacceptances:\n- {until: forever, kind: a/B, resource: c}\n- {until: [\n",
		"ops/other.yaml":  "until: forever\nlist:\n- until: forever\n  acceptances: []\n",
	})
	found, r := run(t, discipline.Tree{Files: files, Root: "ops", Now: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)})
	want := []string{
		"acceptance/no-end ops/acceptances.yaml:7: the acceptance of Secret shop/db has no end within five years",
		"acceptance/no-end ops/acceptances.yaml:12: the acceptance of ConfigMap shop/a has no end within five years",
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Error(diff)
	}
	if len(r.Exempt) != 1 || r.Exempt[0].Line != 8 {
		t.Errorf("exempt %+v", r.Exempt)
	}
	if len(r.Gaps) != 1 || r.Gaps[0].File != "ops/broken.yaml" {
		t.Errorf("gaps %+v", r.Gaps)
	}
	var bomb strings.Builder
	bomb.WriteString("a: &a [1,1,1,1,1,1,1,1,1,1]\n")
	for _, name := range "bcdefgh" {
		bomb.WriteString(string(name) + ": &" + string(name) + " [" + strings.TrimSuffix(strings.Repeat("*"+string(name-1)+",", 10), ",") + "]\n")
	}
	bomb.WriteString("acceptances: *h\n")
	if found, _ := run(t, discipline.Tree{Files: filesOf(map[string]string{"a.yaml": bomb.String()}), Root: "."}); len(found) > 0 {
		t.Errorf("found %q", found)
	}
}
