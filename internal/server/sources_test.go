package server

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

func TestNamedSources(t *testing.T) {
	t.Parallel()
	run := model.Run{Sources: []model.SourceRun{{Name: "prod"}, {Name: "edge"}},
		NotJudged: []model.NotJudged{{Source: "lab"}}, NotGoverned: []model.NotGoverned{{Source: "cloud"}}}
	open := []model.Finding{{Key: model.Key{Source: "plan:infra"}}, {Key: model.Key{Source: "prod"}}, {}}
	want := []string{"cloud", "edge", "lab", "plan:infra", "prod"}
	if diff := cmp.Diff(want, namedSources(&run, open)); diff != "" {
		t.Errorf("each name that is shown can be asked for (-want +got):\n%s", diff)
	}
}
