package server

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

// shared returns an API with a state folder in which a command scanned another estate after the
// first scan, and with the findings of both.
func shared(t *testing.T) API {
	t.Helper()
	a := api(t)
	at := begin().Add(30 * time.Minute)
	adHoc := run("ad-hoc", at)
	adHoc.Sources = []model.SourceRun{{Name: "kind-dev", Type: "kubernetes", Taken: at}}
	adHoc.Declarations = []model.DeclarationRun{{Name: "try", Type: "manifests"}}
	other := finding("aaaa01", "kind-dev", "Service", model.Missing, at, at)
	other.Declaration = "try"
	blind := finding("aaaa02", "kind-dev", "Secret", model.Unchecked, at, at)
	blind.Declaration = "try"
	here := finding("aaaa03", "prod", "Service", model.Missing, at, at)
	here.Declaration = "try"
	stray := finding("aaaa04", "prod", "Job.batch", model.Unmanaged, at, at)
	stray.Declaration = ""
	s := emptyStore(t)
	a.Store = s
	err := s.Save(store.Record{Run: adHoc, Findings: []model.Finding{other, blind, here, stray}})
	if err != nil {
		t.Fatal(err)
	}
	last := run("last", begin().Add(time.Hour))
	last.Declarations = append(last.Declarations, model.DeclarationRun{Name: "local", Type: "manifests"})
	last.Summary = model.Summary{Resources: 9, InSync: 5, Findings: 77, Unchecked: 77}
	err = s.Save(store.Record{Run: last, Findings: estate(last.Started)})
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// estate returns the findings of the last run: two drifted, one hidden, and one resource that could
// not be checked for two of its claims.
func estate(at time.Time) []model.Finding {
	hidden := finding("bbbb03", "prod", "ConfigMap", model.Changed, at, at)
	hidden.Hidden = "noise"
	twice := finding("bbbb05", "edge", "Secret", model.Unchecked, at, at)
	twice.Declaration = "local"
	return []model.Finding{
		finding("bbbb01", "prod", "Deployment.apps", model.Changed, at, at),
		finding("bbbb02", "prod", "Role", model.Missing, at, at),
		hidden, finding("bbbb04", "edge", "Secret", model.Unchecked, at, at), twice,
	}
}

func TestReport(t *testing.T) {
	t.Parallel()
	client := client(shared(t).Handler())
	// aaaa04 is from the ad-hoc scan but belongs to the estate, and was not resolved.
	whole := model.Summary{Resources: 9, InSync: 5, Findings: 3, Unchecked: 1, Hidden: 1}
	for name, tc := range map[string]struct {
		reason string
		query  Query
		want   []string
	}{
		"all":     {reason: "findings of other scans are not the estate's", want: []string{"aaaa04", "bbbb05", "bbbb04", "bbbb01", "bbbb02"}},
		"verdict": {reason: "a filter shows fewer", query: Query{Verdicts: []string{"changed"}}, want: []string{"bbbb01"}},
		"since":   {reason: "or none", query: Query{Since: "1m"}},
		"source":  {reason: "of one source", query: Query{Sources: []string{"edge"}}, want: []string{"bbbb05", "bbbb04"}},
		"hidden":  {reason: "what is hidden never counts", query: Query{Hidden: true, Verdicts: []string{"changed"}}, want: []string{"bbbb03", "bbbb01"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := client.Report(t.Context(), tc.query)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range r.Findings {
				got = append(got, f.ID)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff(whole, r.Summary); diff != "" {
				t.Errorf("%s: the summary depends on the filter (-want +got):\n%s", tc.reason, diff)
			}
			if diff := cmp.Diff([]model.Revision{{Name: "shop", Revision: "abcdef"}}, r.Scan.Declarations); diff != "" {
				t.Errorf("declarations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFindingsOfOtherScansAreListed(t *testing.T) {
	t.Parallel()
	h := shared(t).Handler()
	if status, body := get(t, h, http.MethodGet, "/api/v1/findings/aaaa01"); status != http.StatusOK {
		t.Errorf("finding = %d %s", status, body)
	}
	list, err := client(h).Findings(t.Context(), Query{})
	if err != nil || len(list) != 8 {
		t.Errorf("got %d findings, %v; want all 8 that are not hidden", len(list), err)
	}
}
