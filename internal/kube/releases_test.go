package kube_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// snapshotOf returns a snapshot of objects, with the releases.
func snapshotOf(t *testing.T, objects ...model.Value) model.Snapshot {
	t.Helper()
	return snapshotAt(t, time.Time{}, objects...)
}

func snapshotAt(t *testing.T, taken time.Time, objects ...model.Value) model.Snapshot {
	t.Helper()
	s := model.Snapshot{Source: "test", Taken: taken, Coverage: []model.Coverage{{Source: "test", Complete: true}}, Kinds: map[string]*model.Kind{
		"kubernetes/Secret": {Namespaced: true}, "kubernetes/ConfigMap": {Namespaced: true}, "kubernetes/Namespace": {}}}
	for _, o := range objects {
		r, err := kube.NewResource("test", o, sealer)
		if err != nil {
			t.Fatal(err)
		}
		r.Record = kube.ReadRelease(o, sealer)
		s.Resources = append(s.Resources, r)
	}
	kube.AddReleases(&s)
	return s
}

// showReleases returns the releases of a snapshot with their objects, and those that are unread.
func showReleases(s *model.Snapshot) string {
	var lines []string
	for i := range s.Resources {
		r := &s.Resources[i]
		if r.Kind != kube.ReleaseKind {
			if r.Record != nil {
				lines = append(lines, "a record in "+r.ID)
			}
			continue
		}
		line := fmt.Sprintf("%s v%d %s %s", r.ID, r.Record.Revision, r.Record.Status, r.Value.At("values").AppendJSON(nil))
		for _, o := range r.Record.Objects {
			line += " " + o.ID + "=" + o.Value.At("data", "a").Str()
			if attempted := o.Attempted.At("data", "a").Str(); attempted != "" {
				line += "|" + attempted
			}
		}
		lines = append(lines, line)
	}
	for _, u := range s.Unread {
		lines = append(lines, u.ID+" unread: "+u.Reason)
	}
	return strings.Join(lines, "\n")
}

func TestAddReleases(t *testing.T) {
	t.Parallel()
	secret := func(version int, status, label string, lines ...string) model.Value {
		r := newRecorded(version, status, configMaps(lines...))
		r.Config = map[string]any{"v": version}
		return releaseSecret(t, version, label, pack(t, r))
	}
	for reason, tc := range map[string]struct {
		objects []model.Value
		want    string
	}{
		"the last deployed revision": {
			[]model.Value{secret(1, "deployed", "deployed", "a 1"), secret(2, "deployed", "deployed", "a 2")},
			`web/blog v2 deployed {"v":2} web/a=2`,
		},
		"an upgrade that failed may be applied in part": {
			[]model.Value{secret(1, "deployed", "deployed", "a 1", "b 1", "d 1"), secret(2, "failed", "failed", "a 1", "b 2", "c 2")},
			`web/blog v2 failed {"v":1} web/a=1 web/b=1|2 web/c=|2 web/d=1`,
		},
		"an installation that failed": {[]model.Value{secret(1, "failed", "failed", "a 1")}, `web/blog v1 failed {"v":1} web/a=1`},
		"a superseded revision without its label": {
			[]model.Value{secret(1, "deployed", "deployed", "a 1"), secret(2, "superseded", "deployed", "a 2")},
			`web/blog v1 deployed {"v":1} web/a=1`,
		},
		"an uninstalled release": {[]model.Value{secret(1, "uninstalled", "deployed", "a 1")}, ""},
		"a later revision that cannot be read": {
			[]model.Value{secret(1, "deployed", "deployed", "a 1"), releaseSecret(t, 2, "deployed", "?")},
			"web/blog unread: the record in Secret web/sh.helm.release.v1.blog.v2: it is not the record of a release: delete it if Helm does not need it",
		},
	} {
		s := snapshotOf(t, tc.objects...)
		if diff := cmp.Diff(tc.want, showReleases(&s)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestReleaseObjectsWithoutNamespace proves that objects of kinds without namespaces have the ID
// that they have in the cluster.
func TestReleaseObjectsWithoutNamespace(t *testing.T) {
	t.Parallel()
	s := snapshotOf(t, releaseSecret(t, 1, "deployed", pack(t, newRecorded(1, "deployed", "{apiVersion: v1, kind: Namespace, metadata: {name: shop}}"))))
	if got := showReleases(&s); got != "web/blog v1 deployed {} shop=" {
		t.Errorf("got %s", got)
	}
}

// TestReleaseMakers proves that a release is made by the custom resource that names it.
func TestReleaseMakers(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ object, want string }{
		"its name":               {`{kind: HelmRelease, apiVersion: helm.toolkit.fluxcd.io/v2, metadata: {namespace: web, name: blog}}`, "web/blog"},
		"a target namespace":     {`{kind: HelmRelease, apiVersion: helm.toolkit.fluxcd.io/v2, metadata: {namespace: web, name: blog}, spec: {targetNamespace: x}}`, ""},
		"a name and a namespace": {`{kind: HelmRelease, apiVersion: helm.toolkit.fluxcd.io/v2, metadata: {namespace: flux, name: a}, spec: {releaseName: blog, storageNamespace: web}}`, "flux/a"},
		"k3s":                    {`{kind: HelmChart, apiVersion: helm.cattle.io/v1, metadata: {namespace: kube-system, name: blog}, spec: {targetNamespace: web}}`, "kube-system/blog"},
	} {
		s := snapshotOf(t, releaseSecret(t, 1, "deployed", pack(t, newRecorded(1, "deployed", ""))), object(t, tc.object))
		got := ""
		for i := range s.Resources {
			for _, maker := range s.Resources[i].Makers {
				got += maker.ID
			}
		}
		if got != tc.want {
			t.Errorf("%s: made by %q, want %q", reason, got, tc.want)
		}
	}
}

// TestReleaseCoverage proves that releases are not covered where Secrets are not.
func TestReleaseCoverage(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		coverage []model.Coverage
		want     bool
	}{
		"everything was read":           {[]model.Coverage{{Complete: true}}, true},
		"Secrets are forbidden":         {[]model.Coverage{{Complete: true}, {Kind: "kubernetes/Secret", Reason: "403"}}, false},
		"Secrets are excluded":          {[]model.Coverage{{Complete: true}, {Kind: "kubernetes/Secret", Skipped: true, Reason: "excluded"}}, false},
		"the core group failed":         {[]model.Coverage{{Complete: true}, {Kind: "kubernetes/*.", Reason: "500"}}, false},
		"one namespace may not be read": {[]model.Coverage{{Complete: true}, {Kind: "kubernetes/Secret", Place: "web", Reason: "403"}}, false},
		"another namespace was read":    {[]model.Coverage{{Complete: true}, {Kind: "kubernetes/Secret", Place: "web", Complete: true}, {Kind: "kubernetes/Secret", Reason: "403"}}, true},
	} {
		s := model.Snapshot{Coverage: slices.Clone(tc.coverage), Kinds: map[string]*model.Kind{"kubernetes/Secret": {}}}
		kube.AddReleases(&s)
		unlisted := model.Snapshot{Coverage: slices.Clone(tc.coverage), Kinds: map[string]*model.Kind{}}
		kube.AddReleases(&unlisted)
		for _, s := range []*model.Snapshot{&s, &unlisted} {
			if got, why := s.Covers(kube.ReleaseKind, "web"); got != tc.want {
				t.Errorf("%s: covered: %t (%s), kinds %v", reason, got, why, s.Kinds)
			}
		}
		for _, c := range s.Coverage {
			if c.Kind == kube.ReleaseKind && c.Failed() {
				t.Errorf("%s: the failure is reported twice", reason)
			}
		}
	}
}

// TestReleaseViolations checks the state of the last revision.
func TestReleaseViolations(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		statuses []string
		taken    string
		want     string
	}{
		"deployed":                           {[]string{"failed", "deployed"}, "2026-02-01T00:00:00Z", ""},
		"failed":                             {[]string{"deployed", "failed"}, "2026-02-01T00:00:00Z", "helm/failed"},
		"a deploy that runs":                 {[]string{"deployed", "pending-upgrade"}, "2026-01-02T00:14:59Z", ""},
		"a deploy that did not end":          {[]string{"deployed", "pending-upgrade"}, "2026-01-02T00:15:00Z", "helm/pending"},
		"an uninstall that did not end":      {[]string{"uninstalling"}, "2026-02-01T00:00:00Z", "helm/pending"},
		"a status that Helm does not set":    {[]string{"hunter2"}, "2026-02-01T00:00:00Z", "helm/unknown-status"},
		"a later one that Helm does not set": {[]string{"deployed", "unknown"}, "2026-01-02T00:00:00Z", "helm/unknown-status"},
		"an earlier one":                     {[]string{"unknown", "deployed"}, "2026-02-01T00:00:00Z", ""},
	} {
		var objects []model.Value
		for i, status := range tc.statuses {
			objects = append(objects, releaseSecret(t, i+1, status, pack(t, newRecorded(i+1, status, ""))))
		}
		taken, err := time.Parse(time.RFC3339, tc.taken)
		if err != nil {
			t.Fatal(err)
		}
		s := snapshotAt(t, taken, objects...)
		got := ""
		for i := range s.Resources {
			for _, v := range s.Resources[i].Violations {
				got += v.Check
			}
		}
		if got != tc.want {
			t.Errorf("%s: got %q, want %q", reason, got, tc.want)
		}
	}
}
