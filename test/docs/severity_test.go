package docs

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	aws "github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	openstack "github.com/driftd/driftd/internal/openstackapi/normalize"
	proxmox "github.com/driftd/driftd/internal/pveapi/normalize"
)

// TestSeverityTable compares the table of severities with the rules: the page has a row with
// each reason for critical, and with each of Kubernetes for high, and no other reason for
// critical.
func TestSeverityTable(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join(root, "docs/report.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n### Severity\n")
	section, _, _ = strings.Cut(section, "\n### ")
	shown := map[model.Severity]map[string]bool{model.Critical: {}, model.High: {}}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, " | ")
		if severity := model.Severity(strings.TrimPrefix(cells[0], "| ")); len(cells) == 3 && shown[severity] != nil {
			for reason := range strings.SplitSeq(cells[1], ", `") {
				shown[severity][strings.Trim(reason, "`")] = true
			}
		}
	}
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	check := func(kinds map[string]*model.Kind, severities ...model.Severity) {
		for name, kind := range kinds {
			for _, rule := range kind.Severities {
				used[rule.Reason] = used[rule.Reason] || rule.Severity == model.Critical
				for _, severity := range severities {
					if rule.Severity == severity && !shown[severity][rule.Reason] {
						t.Errorf("%s: docs/report.md does not have %q as a reason for %s", name, rule.Reason, severity)
					}
				}
			}
		}
	}
	check(kinds, model.Critical, model.High)
	others := proxmox.Kinds()
	maps.Copy(others, openstack.Schemas())
	maps.Copy(others, aws.Schemas())
	check(others, model.Critical)
	for reason := range shown[model.Critical] {
		if !used[reason] {
			t.Errorf("docs/report.md has %q as a reason for critical, and no rule does", reason)
		}
	}
}
