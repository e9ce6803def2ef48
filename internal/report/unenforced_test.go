package report

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
)

// TestUnenforced checks that reports show which tool leaves a difference as it is, of a field and of a resource, in all formats.
func TestUnenforced(t *testing.T) {
	t.Parallel()
	field, whole := finding("field", model.Changed, model.High, "Deployment/shop/web"), finding("whole", model.Missing, model.High, "Service/shop/web")
	field.Changes = []model.Change{
		{Path: "spec.replicas", Declared: text("3"), Live: text("5"), Unenforced: "Argo CD ignores this field"},
		{Path: "data.text", Declared: text("a\nb\n"), Live: text("a\nc\n"), Actor: &model.Actor{Name: "alice", Confidence: model.Exact}, Unenforced: "Argo CD ignores that text"},
	}
	whole.Unenforced = "Flux does not correct this"
	for _, format := range []string{"table", "markdown", "html", "junit", "json"} {
		got := write(t, format, model.Report{Findings: []model.Finding{field, whole}}, Options{Width: 100})
		for _, want := range []string{field.Changes[0].Unenforced, field.Changes[1].Unenforced, whole.Unenforced} {
			if !strings.Contains(got, want) {
				t.Errorf("%s lacks %q:\n%s", format, want, got)
			}
		}
	}
}
