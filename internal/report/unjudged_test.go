package report

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// unjudged is what a scan did not judge: three objects that a chart may declare,
// of which one is listed, and an older one outside of the governed namespaces.
func unjudged() []model.NotJudged {
	return []model.NotJudged{
		{Source: "prod", Declaration: "shop", Address: "deploy/charts/web", Reason: "a Helm chart\x1b[31m", Count: 3,
			Resources: []model.NotJudgedResource{{Kind: "kubernetes/Deployment.apps", ID: "shop/stray", Place: "shop"}}},
		{Source: "prod", Older: true, Reason: "older", Count: 1, Resources: []model.NotJudgedResource{
			{Kind: "kubernetes/ClusterRoleBinding.rbac.authorization.k8s.io", ID: "ops", Watched: "it grants rights in the whole cluster"}}},
	}
}

func TestWriteNotJudged(t *testing.T) {
	t.Parallel()
	scan := model.Scan{NotJudged: unjudged(), NotGoverned: []model.NotGoverned{{Source: "prod", Place: "kube-system", Declaration: "shop", Remedy: "declare it"}}}
	var b strings.Builder
	if err := WriteNotJudged(&b, "table", scan, Options{}); err != nil {
		t.Fatal(err)
	}
	want := `3 resources not judged, 1 older than the first complete scan

  3 resources in prod may be declared in deploy/charts/web (shop), which cannot be read: a Helm chart\x1b[31m
    Deployment shop/stray
    and 2 more

  1 resource in prod, in no governed namespace and older than the first complete scan
    ClusterRoleBinding ops: it grants rights in the whole cluster

Not governed
  kube-system in prod is not governed: declare it
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestWriteNotJudgedJSON(t *testing.T) {
	t.Parallel()
	for reason, scan := range map[string]model.Scan{
		"some": {NotJudged: unjudged(), NotGoverned: []model.NotGoverned{{Source: "prod", Place: "kube-system"}}},
		"none": {},
	} {
		var b strings.Builder
		if err := WriteNotJudged(&b, "json", scan, Options{}); err != nil {
			t.Fatal(err)
		}
		var got struct {
			NotJudged   []model.NotJudged   `json:"not_judged"`
			NotGoverned []model.NotGoverned `json:"not_governed"`
		}
		if err := json.Unmarshal([]byte(b.String()), &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(scan, model.Scan{NotJudged: got.NotJudged, NotGoverned: got.NotGoverned}, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s", reason, diff)
		}
		if strings.Contains(b.String(), "null") {
			t.Errorf("%s: a list is null:\n%s", reason, &b)
		}
	}
	if err := WriteNotJudged(&strings.Builder{}, "xml", model.Scan{}, Options{}); err == nil {
		t.Error("an unknown format is written")
	}
}

// TestNotJudgedIsNotCalm holds that the headline counts resources that were not
// judged.
func TestNotJudgedIsNotCalm(t *testing.T) {
	t.Parallel()
	r := model.Report{Scan: model.Scan{Complete: true}, Summary: model.Summary{InSync: 5, NotJudged: 2}}
	said, calm := newOutline(&r, phrase.Clock{}).headline()
	if want := "Nothing drifted, 2 not judged, 5 in sync"; said != want || calm {
		t.Errorf("headline %q, calm %t; want %q and not calm", said, calm, want)
	}
	r.Summary.NotJudged = 0
	if _, calm := newOutline(&r, phrase.Clock{}).headline(); !calm {
		t.Error("a complete report without drift is not calm")
	}
}
