package kube_test

import (
	"testing"
	"time"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// TestFluxFetched checks what the status of a GitRepository shows of the fetched commit.
func TestFluxFetched(t *testing.T) {
	t.Parallel()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	for reason, tc := range map[string]struct {
		kind, spec, status string
		want               *model.Fetched
	}{
		"fetched": {"GitRepository", "", `artifact: {revision: 'main@sha1:` + commit + `', lastUpdateTime: '2026-06-01T12:00:00Z'}`,
			&model.Fetched{Commit: commit, At: time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)}},
		"never":        {"GitRepository", "", "", &model.Fetched{}},
		"no revision":  {"GitRepository", "", "artifact: {revision: 'x', lastUpdateTime: 'y'}", &model.Fetched{}},
		"suspended":    {"GitRepository", ", suspend: true", `artifact: {revision: 'main@sha1:` + commit + `'}`, nil},
		"another kind": {"OCIRepository", "", `artifact: {revision: 'latest@sha256:` + commit + `'}`, nil},
	} {
		text := `{apiVersion: source.toolkit.fluxcd.io/v1, kind: ` + tc.kind + `, metadata: {name: a, namespace: b}, spec: {interval: 1m` + tc.spec + `}, status: {` + tc.status + `}}`
		r, err := kube.NewResource("prod", object(t, text), model.NewSealer([]byte("key")))
		if err != nil {
			t.Fatal(err)
		}
		switch got := r.Fetched; {
		case (got == nil) != (tc.want == nil):
			t.Errorf("%s: %+v", reason, got)
		case got != nil && (got.Commit != tc.want.Commit || !got.At.Equal(tc.want.At) || got.Behind.Check != "flux/source-behind"):
			t.Errorf("%s: %+v", reason, got)
		}
	}
}
