package server

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestNamedSources(t *testing.T) {
	t.Parallel()
	run := model.Run{Sources: []model.SourceRun{{Name: "prod"}, {Name: "edge"}},
		NotJudged: []model.NotJudged{{Source: "lab"}}, NotGoverned: []model.NotGoverned{{Source: "cloud"}}}
	open := []*model.Outline{{Key: model.Key{Source: "plan:infra"}}, {Key: model.Key{Source: "prod"}}, {}}
	want := []string{"cloud", "edge", "lab", "plan:infra", "prod"}
	if diff := cmp.Diff(want, namedSources(&run, open)); diff != "" {
		t.Errorf("each name that is shown can be asked for (-want +got):\n%s", diff)
	}
}

func TestSourcePatterns(t *testing.T) {
	t.Parallel()
	h := api(t).Handler()
	for _, page := range []string{"report", "findings", "diff"} {
		_, want := get(t, h, http.MethodGet, "/api/v1/"+page+"?source=edge")
		status, got := get(t, h, http.MethodGet, "/api/v1/"+page+"?source=e%2A")
		if diff := cmp.Diff(want, got); status != http.StatusOK || diff != "" {
			t.Errorf("%s: a pattern differs from the name that it matches, status %d (-want +got):\n%s", page, status, diff)
		}
	}
}
