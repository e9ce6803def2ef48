package kube_test

import (
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/match"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

var update = flag.Bool("update", false, "write the golden files anew")

var sealer = model.NewSealer([]byte("test"))

// objects reads the documents of a file, lists taken apart.
func objects(t *testing.T, name string) []model.Value {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	documents, err := decode.YAML(f)
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	var list []model.Value
	for _, d := range documents {
		if items, ok := d.Value.Get("items"); ok {
			list = append(list, items.Items()...)
			continue
		}
		list = append(list, d.Value)
	}
	return list
}

func declaration(t *testing.T, kinds map[string]*model.Kind, name string) model.Declaration {
	t.Helper()
	var claims []model.Claim
	for i, object := range objects(t, name+".yaml") {
		claim, err := kube.NewClaim(object, kube.ClaimOptions{Declaration: name, Address: fmt.Sprintf("%s.yaml:%d", name, i),
			Sealer: sealer, Kinds: kinds})
		if err != nil {
			t.Fatal(err)
		}
		claims = append(claims, claim)
	}
	kube.RelateClaims(claims)
	return model.Declaration{Name: name, Governs: []string{"test"}, Claims: claims, Scopes: kube.Governed(claims, nil, nil).Scopes}
}

// estate is the pair of declarations and one dump of the cluster.
type estate struct {
	snapshot     model.Snapshot
	declarations []model.Declaration
}

func newEstate(t *testing.T, dump string, change func(model.Value) model.Value) estate {
	t.Helper()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	var resources []model.Resource
	for _, object := range objects(t, dump) {
		maps.Copy(kinds, kube.KindsFromCRD(object))
		r, err := kube.NewResource("test", change(object), sealer)
		if err != nil {
			t.Fatal(err)
		}
		resources = append(resources, r)
	}
	kube.Relate(resources, whole)
	return estate{
		snapshot: model.Snapshot{Source: "test", Resources: resources, Kinds: kinds,
			Coverage: []model.Coverage{{Source: "test", Complete: true}}},
		declarations: []model.Declaration{declaration(t, kinds, "shop"), declaration(t, kinds, "blog")},
	}
}

func (e estate) findings() []model.Finding {
	policy := kube.NewPolicy(nil)
	subjects := match.Match(e.snapshot, e.declarations)
	judged := make([]model.Judged, len(subjects))
	for i := range subjects {
		judged[i] = model.Judged{Subject: &subjects[i], Outcomes: diff.Compare(&subjects[i], diff.Options{Controller: policy.Controller, Exempt: policy.Exempt})}
	}
	return classify.Findings(classify.Input{Judged: judged, Snapshots: []model.Snapshot{e.snapshot},
		Declarations: e.declarations, Now: time.Unix(1e9, 0)}).Current
}

func show(findings []model.Finding) string {
	var b strings.Builder
	for _, f := range findings {
		f = f.Public()
		fmt.Fprintf(&b, "%s %s %s %s by %s %s\n", f.Severity, f.Verdict, f.Kind, f.Key.ID, f.Actor.Name, f.Actor.Confidence)
		if f.Reason != "" {
			fmt.Fprintf(&b, "    because %s\n", f.Reason)
		}
		for _, c := range f.Changes {
			fmt.Fprintf(&b, "    %s:", c.Path)
			for _, side := range []struct {
				name  string
				value *model.Value
			}{{"declared", c.Declared}, {"recorded", c.Recorded}, {"live", c.Live}} {
				if side.value != nil {
					fmt.Fprintf(&b, " %s %s", side.name, side.value)
				}
			}
			if c.Actor != nil {
				fmt.Fprintf(&b, " by %s %s", c.Actor.Name, c.Actor.Confidence)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func same(v model.Value) model.Value { return v }

func withoutManagedFields(v model.Value) model.Value {
	return v.With("metadata", v.At("metadata").Without("managedFields"))
}

// The dumps were read from a real API server, v1.36.3, after kubectl apply of
// shop.yaml (client-side) and blog.yaml (server-side).
func TestFreshEstateIsSilent(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason string
		change func(model.Value) model.Value
	}{
		{"nothing was touched since the apply", same},
		{"defaults are told from edits without a record of writers too", withoutManagedFields},
	} {
		t.Run(tc.reason, func(t *testing.T) {
			t.Parallel()
			if got := show(newEstate(t, "fresh.json", tc.change).findings()); got != "" {
				t.Errorf("findings on a fresh estate:\n%s", got)
			}
		})
	}
}

// After the applies, both namespaces were edited by hand with kubectl set,
// scale, label, annotate, patch, delete, create and rollout.
func TestHandEditsAreFound(t *testing.T) {
	t.Parallel()
	got := show(newEstate(t, "drifted.json", same).findings())
	golden := filepath.Join("testdata", "drifted.golden")
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("findings (-want +got):\n%s", d)
	}
}

func TestOrderOfArrivalNeverMatters(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "drifted.json", same)
	want := show(e.findings())
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 0))
		r.Shuffle(len(e.snapshot.Resources), func(i, j int) {
			e.snapshot.Resources[i], e.snapshot.Resources[j] = e.snapshot.Resources[j], e.snapshot.Resources[i]
		})
		r.Shuffle(2, func(i, j int) { e.declarations[i], e.declarations[j] = e.declarations[j], e.declarations[i] })
		if d := cmp.Diff(want, show(e.findings())); d != "" {
			t.Fatalf("seed %d (-want +got):\n%s", seed, d)
		}
	}
}

func TestNoSecretIsLegible(t *testing.T) {
	t.Parallel()
	e := newEstate(t, "drifted.json", same)
	for _, r := range secret.New(sealer, secret.Options{}).Snapshot(e.snapshot).Resources {
		for _, v := range []*model.Value{&r.Value, r.LastApplied} {
			if v != nil && strings.Contains(string(v.AppendJSON(nil)), "hunter2") {
				t.Errorf("%s holds a secret in clear", r.Key)
			}
		}
	}
}
