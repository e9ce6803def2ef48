package kubernetes_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// compared returns the findings on a live object that is declared by a manifest, as a scan makes them.
func compared(t *testing.T, live, manifest string) (all []reconcile.Subject) {
	t.Helper()
	kinds, err := kube.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := decode.YAML(strings.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	claim, err := kube.NewClaim(docs[0].Value, kube.ClaimOptions{Declaration: "git", DefaultNamespace: "shop", Kinds: kinds, Sealer: room().Sealer()})
	if err != nil {
		t.Fatal(err)
	}
	resource, err := kube.NewResource("k8s", value(live), room().Sealer())
	if err != nil {
		t.Fatal(err)
	}
	s := model.Subject{Key: resource.Key, Place: resource.Place, Name: resource.Name, Live: &resource, Kind: kinds[resource.Kind], Claims: []*model.Claim{&claim}}
	for _, o := range diff.Compare(&s, diff.Options{}) {
		f := &model.Finding{ID: "f1", Verdict: o.Verdict, Key: resource.Key, Place: resource.Place, Name: resource.Name, Declaration: "git", Changes: o.Changes}
		all = append(all, reconcile.Subject{Finding: f, Declared: claim.Value, Written: claim.Value, Named: true,
			UID: func(model.Ref) string { return resource.Origin.UID }})
	}
	return all
}

const (
	policyPath = "/apis/networking.k8s.io/v1/namespaces/shop/networkpolicies/web"
	policy     = `{"apiVersion":"networking.k8s.io/v1","kind":"NetworkPolicy","metadata":{"name":"web","namespace":"shop","uid":"n1","generation":2,
"managedFields":[{"manager":"git","operation":"Apply","apiVersion":"networking.k8s.io/v1","fieldsV1":{"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:podSelector":{},"f:policyTypes":{}}}},
{"manager":"kubectl-edit","operation":"Update","apiVersion":"networking.k8s.io/v1","fieldsV1":{"f:spec":{"f:ingress":{}}}}],"labels":{"app":"web"}},
"spec":{"podSelector":{},"policyTypes":["Ingress"],"ingress":LIST}}`
	policyManifest = "apiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata: {name: web, labels: {app: web}}\nspec: {podSelector: {}, policyTypes: [Ingress], ingress: LIST}\n"
)

// TestLists puts lists back whose elements have no keys.
func TestLists(t *testing.T) {
	t.Parallel()
	const (
		one, two, three = `{"from":[{"podSelector":{"matchLabels":{"app":"a"}}}],"ports":[{"port":80,"protocol":"TCP"}]}`,
			`{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}],"ports":[{"port":443,"protocol":"TCP"}]}`,
			`{"from":[{"namespaceSelector":{"matchLabels":{"team":"x"}}}],"ports":[{"port":53,"protocol":"UDP"}]}`
		short = `{"from":[{"podSelector":{"matchLabels":{"app":"a"}}}],"ports":[{"port":80}]}`
	)
	list := func(items ...string) string { return "[" + strings.Join(items, ",") + "]" }
	tests := map[string]struct{ reason, declared, live, want string }{
		"added at the start":    {"the positions of the others changed", list(two, three), list(one, two, three), list(two, three)},
		"added in the middle":   {"the positions of the others changed", list(one, three), list(one, two, three), list(one, three)},
		"removed at the start":  {"its position is the declared one", list(one, two, three), list(two, three), list(one, two, three)},
		"replaced by another":   {"both positions count", list(one, two), list(three, two), list(one, two)},
		"changed and reordered": {"the order means nothing", list(one, two), list(two, strings.Replace(one, "80", "81", 1)), list(one, two)},
		"a field":               {"one field of an element", list(one, two), list(one, strings.Replace(two, "10.0.0.0/8", "0.0.0.0/0", 1)), list(one, two)},
		"a field added":         {"one field of an element", list(one, two), list(one, strings.Replace(two, `"10.0.0.0/8"`, `"10.0.0.0/8","except":["10.1.0.0/16"]`, 1)), list(one, two)},
		"with defaults":         {"the API server sets them again", list(short, two), list(one, three), list(short, two)},
		"all":                   {"nothing is left", list(one), list(two, three), list(one)},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.kinds["/apis/networking.k8s.io/v1"] = `{"name":"networkpolicies","kind":"NetworkPolicy","namespaced":true,"verbs":["list"]}`
			live := strings.Replace(policy, "LIST", tt.live, 1)
			f.objects[policyPath] = live
			all := compared(t, live, strings.Replace(policyManifest, "LIST", tt.declared, 1))
			if len(all) != 1 {
				t.Fatalf("%s: %d findings", tt.reason, len(all))
			}
			a := f.actuator(t)
			c := mustPlan(t, a, all[0])
			p := c.Plan()
			if len(p.Changes) != 1 || p.Changes[0].Path != "spec.ingress" || !p.Changes[0].Old.Equal(value(tt.live)) || p.HandBack != "git" {
				t.Errorf("%s: Plan() = %+v of %+v", tt.reason, p, all[0].Finding.Changes)
			}
			if err := c.Rehearse(t.Context()); err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if _, err := c.Write(t.Context()); err != nil {
				t.Fatalf("%s: %v", tt.reason, err)
			}
			if got := value(f.objects[policyPath]).At("spec", "ingress"); !got.Equal(value(tt.want)) {
				t.Errorf("%s: got %s", tt.reason, got)
			}
			if inspection, err := a.Inspect(t.Context(), all[0].Finding.Key, p); inspection != reconcile.AsWanted || err != nil {
				t.Errorf("%s: Inspect() = %s, %v", tt.reason, inspection, err)
			}
			if _, err := c.Write(t.Context()); !isNotWritten(err) {
				t.Errorf("%s: second Write() = %v", tt.reason, err)
			}
		})
	}
}

// TestListsRefused checks that a list is not replaced by more than the finding has.
func TestListsRefused(t *testing.T) {
	t.Parallel()
	const (
		declared = `[{"from":[{"ipBlock":{"cidr":"10.0.0.0/8"}}]},{"from":[{"ipBlock":{"cidr":"11.0.0.0/8"}}]}]`
		live     = `[{"from":[{"ipBlock":{"cidr":"0.0.0.0/0"}}]},{"from":[{"ipBlock":{"cidr":"11.0.0.0/8"}}]}]`
		path     = "spec.ingress[0].from[0].ipBlock.cidr"
	)
	tests := map[string]struct{ reason, declared, live, path, want string }{
		"as found":        {"nothing else changed", declared, live, path, ""},
		"another element": {"git moved on with the second one", strings.Replace(declared, "11.", "12.", 1), live, path, "differs in more than this finding"},
		"a new element":   {"a hand added another one", declared, strings.Replace(live, "[", `[{"ports":[{"port":1}]},`, 1), path, "differs in more than this finding"},
		"the same again":  {"a hand changed it again", declared, strings.Replace(live, "0.0.0.0/0", "0.0.0.0/1", 1), path, "changed since the scan"},
		"put back":        {"somebody else did it", declared, declared, path, "changed since the scan"},
		"declared anew":   {"git moved on", strings.Replace(declared, "10.", "13.", 1), live, path, "is not declared any more"},
		"list gone":       {"a hand removed it", declared, "null", path, "changed since the scan"},
		"undeclared":      {"git removed it", "null", live, path, "spec.ingress is not declared any more"},
		"no such element": {"the finding is of another version", declared, live, "spec.ingress[7].from[0].ipBlock.cidr", "is not declared any more"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.kinds["/apis/networking.k8s.io/v1"] = `{"name":"networkpolicies","kind":"NetworkPolicy","namespaced":true,"verbs":["list"]}`
			f.objects[policyPath] = strings.Replace(policy, "LIST", tt.live, 1)
			s := subject(finding("NetworkPolicy.networking.k8s.io", "shop/web", change(tt.path, `"10.0.0.0/8"`, `"0.0.0.0/0"`)), "{}")
			s.Declared = value(`{"metadata":{"labels":{"app":"web"}},"spec":{"podSelector":{},"policyTypes":["Ingress"],"ingress":` + tt.declared + `}}`)
			s.UID = func(model.Ref) string { return "n1" }
			_, err := f.actuator(t).Plan(t.Context(), s)
			checkRefusal(t, err, "still-so", tt.want)
		})
	}
}
