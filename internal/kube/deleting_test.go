package kube_test

import (
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
)

// TestHeldDeletion checks that a declared object that only finalizers hold is reported, with the account that deletes it if an
// audit log has it. An object that nothing holds is gone soon.
func TestHeldDeletion(t *testing.T) {
	t.Parallel()
	const (
		claim = `{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop%s}, spec: {}}`
		space = `{apiVersion: v1, kind: Namespace, metadata: {name: shop%s}, spec: {finalizers: [kubernetes]}}`
		held  = `, uid: u, creationTimestamp: "2026-01-01T00:00:00Z", deletionTimestamp: "2026-02-01T10:00:00Z", finalizers: [kubernetes.io/pvc-protection]`
		ends  = `, uid: u, creationTimestamp: "2026-01-01T00:00:00Z", deletionTimestamp: "2026-02-01T10:00:00Z", deletionGracePeriodSeconds: 30`
	)
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 2, 1, 10, 0, 0, 0, time.UTC)
	for name, tc := range map[string]struct {
		manifest, live string
		declared       bool
		taken          time.Time
		deletedBy      string
		want           string
	}{
		"held":             {claim, held, true, at.Add(time.Hour), "", "violated kubernetes/deleting by unknown 2026-02-01T10:00:00Z"},
		"held, with a log": {claim, held, true, at.Add(time.Hour), "alice", "violated kubernetes/deleting by alice 2026-02-01T09:59:59Z"},
		"a moment ago":     {claim, held, true, at.Add(time.Minute), "", ""},
		"not declared":     {claim, held, false, at.Add(time.Hour), "", ""},
		"gone soon":        {claim, ends, true, at.Add(time.Hour), "", ""},
		"a Namespace":      {space, ends, true, at.Add(time.Hour), "", "violated kubernetes/deleting by unknown 2026-02-01T10:00:00Z"},
		"not deleted":      {space, ", uid: u", true, at.Add(time.Hour), "", ""},
	} {
		r, err := kube.NewResource("live", object(t, strings.Replace(tc.manifest, "%s", tc.live, 1)), sealer)
		if err != nil {
			t.Fatal(err)
		}
		s := model.Snapshot{Source: "live", Taken: tc.taken, Kinds: kinds, Resources: []model.Resource{r}, Coverage: []model.Coverage{{Source: "live", Complete: true}}}
		kube.SettleChecks(&s)
		if tc.deletedBy != "" {
			s.AuditEvents = []model.AuditEvent{{Ref: model.Ref{Kind: r.Kind, ID: r.ID}, Action: model.Deleted, Actor: model.Actor{Name: tc.deletedBy, At: at.Add(-time.Second)}}}
		}
		d := model.Declaration{Name: "d", Governs: []string{"live"}}
		if tc.declared {
			c, err := kube.NewClaim(object(t, strings.Replace(tc.manifest, "%s", "", 1)), kube.ClaimOptions{Declaration: "d", Sealer: sealer, Kinds: kinds})
			if err != nil {
				t.Fatal(err)
			}
			d.Claims = append(d.Claims, c)
		}
		got := ""
		for _, subject := range match.Match(s, []model.Declaration{d}) {
			for _, o := range diff.Judge(&subject, diff.Options{}).Outcomes {
				if o.Verdict == model.Violated {
					got += string(o.Verdict) + " " + o.Check + " by " + o.Actor.Name + " " + o.Actor.At.Format(time.RFC3339)
				}
			}
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestEndedJob checks that a Job that its controller deletes may be absent.
func TestEndedJob(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: b}, spec: {ttlSecondsAfterFinished: 0}}`:       true,
		`{apiVersion: example.org/v1, kind: Job, metadata: {name: a, namespace: b}, spec: {ttlSecondsAfterFinished: 0}}`: false,
		`{apiVersion: batch/v1, kind: Job, metadata: {name: a, namespace: b}, spec: {}}`:                                 false,
	} {
		c, err := kube.NewClaim(object(t, text), kube.ClaimOptions{Declaration: "d", Sealer: sealer})
		if err != nil || c.MayBeAbsent != want {
			t.Errorf("%s may be absent: %t, %v", text, c.MayBeAbsent, err)
		}
	}
}
