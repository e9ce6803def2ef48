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

// fluxObject returns an object of Flux that is ready. spec, status and owners are in flow style.
func fluxObject(kind, spec, status, owners string) string {
	return fmt.Sprintf(`{apiVersion: %s.toolkit.fluxcd.io/v1, kind: %s, metadata: {name: web, namespace: flux-system, generation: 2, managedFields: [%s]}, spec: {interval: 1h%s}, status: {observedGeneration: 2, %s}}`,
		map[string]string{"Kustomization": "kustomize", "HelmRelease": "helm", "GitRepository": "source"}[kind], kind, owners, spec, status)
}

// TestFluxChecks checks which states of objects of Flux are violations.
func TestFluxChecks(t *testing.T) {
	t.Parallel()
	const ready = `conditions: [{type: Ready, status: "True", reason: Succeeded}]`
	for name, tc := range map[string]struct {
		object string
		want   []string
	}{
		"Ready":                 {fluxObject("Kustomization", "", ready, ""), []string{}},
		"New":                   {fluxObject("GitRepository", "", "", ""), []string{}},
		"Suspended":             {fluxObject("Kustomization", ", suspend: true", ready, `{manager: flux, operation: Update, time: '2026-11-28T10:00:00Z', fieldsV1: {'f:spec': {'f:suspend': {}}}}`), []string{"flux/suspended spec.suspend flux"}},
		"Not ready":             {fluxObject("HelmRelease", "", `conditions: [{type: Ready, status: "False", reason: InstallFailed, message: hunter2}]`, ""), []string{"flux/not-ready unknown"}},
		"Lies":                  {fluxObject("HelmRelease", "", `conditions: [{type: Ready, status: "False", reason: 'hunter2 x'}]`, ""), []string{"flux/not-ready unknown"}},
		"Working":               {fluxObject("HelmRelease", "", `conditions: [{type: Ready, status: Unknown, reason: Progressing}]`, ""), []string{"flux/not-ready unknown"}},
		"Working and suspended": {fluxObject("HelmRelease", ", suspend: true", `conditions: [{type: Ready, status: Unknown}]`, ""), []string{"flux/suspended spec.suspend unknown"}},
		"Stalled":               {fluxObject("GitRepository", "", `conditions: [{type: Stalled, status: "True", reason: InvalidPath}]`, ""), []string{"flux/stalled unknown"}},
		"Behind":                {fluxObject("Kustomization", "", ready+`, lastAppliedRevision: 'main@sha1:a', lastAttemptedRevision: 'main@sha1:b'`, ""), []string{"flux/behind unknown"}},
		"Applying":              {fluxObject("Kustomization", "", `conditions: [{type: Reconciling, status: "True", reason: Progressing}, {type: Ready, status: Unknown, reason: Progressing}], lastAppliedRevision: 'main@sha1:a', lastAttemptedRevision: 'main@sha1:b'`, ""), []string{"flux/not-ready unknown"}},
		"Seen and not ready": {strings.Replace(fluxObject("Kustomization", "", `conditions: [{type: Ready, status: "False", reason: BuildFailed, observedGeneration: 2}]`, ""), "status: {observedGeneration: 2", "status: {observedGeneration: -1", 1),
			[]string{"flux/not-ready unknown"}},
		"Not seen": {strings.Replace(fluxObject("Kustomization", "", ready, ""), "observedGeneration: 2", "observedGeneration: 1", 1), []string{"flux/not-observed unknown"}},
		"Not seen and suspended": {strings.Replace(fluxObject("Kustomization", ", suspend: true", ready, ""), "observedGeneration: 2", "observedGeneration: 1", 1),
			[]string{"flux/suspended spec.suspend unknown"}},
		"Drift detection off": {fluxObject("HelmRelease", ", driftDetection: {mode: disabled, ignore: [{paths: [/spec]}]}", ready, ""),
			[]string{"flux/drift-detection-off spec.driftDetection.mode unknown", "flux/drift-ignored spec.driftDetection.ignore unknown"}},
		"Drift detection on": {fluxObject("HelmRelease", ", driftDetection: {mode: enabled}", ready, ""), []string{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := kube.NewResource("prod", object(t, tc.object), model.NewSealer([]byte("key")))
			if err != nil {
				t.Fatal(err)
			}
			got := []string{}
			for _, v := range r.Violations {
				got = append(got, strings.Join(strings.Fields(v.Check+" "+v.Path+" "+v.Actor.Name), " "))
				if v.Severity == "" || strings.Contains(v.Reason, "hunter2") || v.Path != "" && v.Value == nil {
					t.Errorf("violation %+v", v)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestFluxAppliedCommit checks of which commit the inventory of a Kustomization has everything.
func TestFluxAppliedCommit(t *testing.T) {
	t.Parallel()
	const ready, commit = `conditions: [{type: Ready, status: "True"}]`, "0123456789abcdef0123456789abcdef01234567"
	for reason, tc := range map[string]struct{ spec, status, want string }{
		"applied":                    {"", ready + `, lastAppliedRevision: 'main@sha1:` + commit + `'`, commit},
		"applied, and attempted":     {"", ready + `, lastAppliedRevision: 'main@sha1:` + commit + `', lastAttemptedRevision: 'main@sha1:` + commit + `'`, commit},
		"an older version of Flux":   {"", ready + `, lastAppliedRevision: main/` + commit, commit},
		"a commit alone":             {"", ready + `, lastAppliedRevision: 'sha1:` + commit + `'`, commit},
		"sha256":                     {"", ready + `, lastAppliedRevision: 'main@sha256:` + commit + commit[:24] + `'`, commit + commit[:24]},
		"no commit":                  {"", ready + `, lastAppliedRevision: 'v1.0.0'`, ""},
		"a branch that ends like it": {"", ready + `, lastAppliedRevision: 'main` + commit + `'`, ""},
		"another one was attempted":  {"", ready + `, lastAppliedRevision: 'main@sha1:` + commit + `', lastAttemptedRevision: 'main@sha1:x'`, ""},
		"at work":                    {"", `conditions: [{type: Ready, status: Unknown}], lastAppliedRevision: 'main@sha1:` + commit + `'`, ""},
		"failed":                     {"", `conditions: [{type: Ready, status: "False"}], lastAppliedRevision: 'main@sha1:` + commit + `'`, ""},
		"new":                        {"", ready, ""},
		"another cluster":            {", kubeConfig: {secretRef: {name: a}}", ready, "none"},
	} {
		r, err := kube.NewResource("prod", object(t, fluxObject("Kustomization", tc.spec, tc.status, "")), model.NewSealer([]byte("key")))
		if err != nil {
			t.Fatal(err)
		}
		got := "none"
		if r.Inventory != nil {
			got = r.Inventory.Commit
		}
		if got != tc.want {
			t.Errorf("%s: %q, want %q", reason, got, tc.want)
		}
	}
	r, err := kube.NewResource("prod", object(t, strings.Replace(fluxObject("Kustomization", "", ready+`, lastAppliedRevision: 'main@sha1:`+commit+`'`, ""), "observedGeneration: 2", "observedGeneration: 1", 1)), model.NewSealer([]byte("key")))
	if err != nil || r.Inventory.Commit != "" {
		t.Errorf("a spec that was not seen: %+v, error %v", r.Inventory, err)
	}
	left, err := kube.NewResource("prod", object(t, `{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: b, labels: {kustomize.toolkit.fluxcd.io/name: apps, kustomize.toolkit.fluxcd.io/namespace: flux-system}}}`), model.NewSealer([]byte("key")))
	if want := (model.Ref{Kind: r.Kind, ID: "flux-system/apps"}); err != nil || left.Origin.AppliedBy != want || left.Inventory != nil {
		t.Errorf("labels name %v, want %v, error %v", left.Origin.AppliedBy, want, err)
	}
}

// TestFluxAtWork checks that no check is over while Flux tries again.
func TestFluxAtWork(t *testing.T) {
	t.Parallel()
	for status, want := range map[string][]string{"Unknown": {"flux/behind", "flux/not-ready"}, "True": nil, "False": nil} {
		r, err := kube.NewResource("prod", object(t, fluxObject("Kustomization", "", `conditions: [{type: Ready, status: "`+status+`", reason: Progressing}]`, "")), model.NewSealer([]byte("key")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Undecided); diff != "" {
			t.Errorf("%s: %s", status, diff)
		}
	}
}

// TestSettleChecks checks that an object that waits for others is a violation only if none of them is.
func TestSettleChecks(t *testing.T) {
	t.Parallel()
	taken := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	const waiting, failed, ready, working, hung = `{type: Ready, status: "False", reason: DependencyNotReady}`, `{type: Ready, status: "False", reason: BuildFailed}`, `{type: Ready, status: "True"}`,
		`{type: Ready, status: Unknown, lastTransitionTime: '2026-11-28T11:00:01Z'}`, `{type: Ready, status: Unknown, lastTransitionTime: '2026-11-28T11:00:00Z'}`
	// of returns a Kustomization that depends on others.
	of := func(name, condition, spec string, dependsOn ...string) model.Value {
		if len(dependsOn) > 0 {
			spec += ", dependsOn: [{name: " + strings.Join(dependsOn, "}, {name: ") + "}]"
		}
		return object(t, strings.Replace(fluxObject("Kustomization", spec, "conditions: ["+condition+"]", ""), "name: web,", "name: "+name+",", 1))
	}
	unseen := func(at, field string) model.Value {
		return object(t, strings.Replace(fluxObject("Kustomization", "", "conditions: ["+ready+"]", `{manager: flux, operation: Update, time: '`+at+`', fieldsV1: {'f:`+field+`': {'f:x': {}}}}`), "observedGeneration: 2", "observedGeneration: 1", 1))
	}
	since := func(at string) string {
		return `{type: Ready, status: "True", lastTransitionTime: '` + at + `'}`
	}
	for reason, tc := range map[string]struct {
		objects []model.Value
		want    []string
	}{
		"the cause is ready just now":  {[]model.Value{of("a", since("2026-11-28T11:59:30Z"), ""), of("b", waiting, "", "a")}, []string{"b undecided flux/not-ready"}},
		"the cause was ready before":   {[]model.Value{of("a", since("2026-11-28T11:50:00Z"), ""), of("b", waiting, "", "a")}, []string{"b flux/not-ready"}},
		"the cause has no condition":   {[]model.Value{of("a", "", ""), of("b", waiting, "", "a")}, []string{"b undecided flux/not-ready"}},
		"the cause fails":              {[]model.Value{of("a", failed, ""), of("b", waiting, "", "a"), of("c", waiting, "", "b")}, []string{"a flux/not-ready", "b undecided flux/not-ready", "c undecided flux/not-ready"}},
		"the cause is suspended":       {[]model.Value{of("a", ready, ", suspend: true"), of("b", waiting, "", "a")}, []string{"a flux/suspended", "b undecided flux/not-ready"}},
		"Flux works on the cause":      {[]model.Value{of("a", working, ""), of("b", waiting, "", "a")}, []string{"a undecided flux/not-ready", "b undecided flux/not-ready"}},
		"the controller hangs":         {[]model.Value{of("a", hung, ""), of("b", waiting, "", "a")}, []string{"a flux/not-ready", "b undecided flux/not-ready"}},
		"work without a time":          {[]model.Value{of("a", "{type: Ready, status: Unknown}", "")}, []string{"a flux/not-ready"}},
		"work that begins next year":   {[]model.Value{of("a", "{type: Ready, status: Unknown, lastTransitionTime: '2027-11-28T11:00:00Z'}", "")}, []string{"a flux/not-ready"}},
		"the cause is ready":           {[]model.Value{of("a", ready, ""), of("b", waiting, "", "a")}, []string{"b flux/not-ready"}},
		"the cause is missing":         {[]model.Value{of("b", waiting, "", "a")}, []string{"b flux/not-ready"}},
		"one of several fails":         {[]model.Value{of("a", ready, ""), of("b", failed, ""), of("c", waiting, "", "a", "b")}, []string{"b flux/not-ready", "c undecided flux/not-ready"}},
		"they wait for each other":     {[]model.Value{of("a", waiting, "", "b"), of("b", waiting, "", "a")}, []string{"a flux/not-ready", "b flux/not-ready"}},
		"it waits for itself":          {[]model.Value{of("a", waiting, "", "a")}, []string{"a flux/not-ready"}},
		"a failure with a dependency":  {[]model.Value{of("a", failed, ""), of("b", failed, "", "a")}, []string{"a flux/not-ready", "b flux/not-ready"}},
		"changed a moment ago":         {[]model.Value{unseen("2026-11-28T11:59:30Z", "spec")}, []string{"web undecided flux/not-observed"}},
		"changed before":               {[]model.Value{unseen("2026-11-28T11:50:00Z", "spec")}, []string{"web flux/not-observed"}},
		"an annotation that changed":   {[]model.Value{unseen("2026-11-28T11:59:30Z", "metadata")}, []string{"web flux/not-observed"}},
		"a time that is in the future": {[]model.Value{unseen("2026-11-28T18:00:00Z", "spec")}, []string{"web flux/not-observed"}},
	} {
		s := snapshotAt(t, taken, tc.objects...)
		before := make([]int, len(s.Resources))
		for i := range s.Resources {
			before[i] = len(s.Resources[i].Violations)
		}
		original := slices.Clone(s.Resources)
		kube.SettleChecks(&s)
		var got []string
		for i := range s.Resources {
			if len(original[i].Violations) != before[i] {
				t.Errorf("%s: the original resource was changed", reason)
			}
			for _, v := range s.Resources[i].Violations {
				got = append(got, s.Resources[i].Name+" "+v.Check)
			}
			for _, check := range s.Resources[i].Undecided {
				if check != "flux/behind" && !slices.ContainsFunc(s.Resources[i].Violations, func(v model.Violation) bool { return v.Check == check }) {
					got = append(got, s.Resources[i].Name+" undecided "+check)
				}
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestFluxInventory checks which objects a Kustomization of Flux installed.
func TestFluxInventory(t *testing.T) {
	t.Parallel()
	const entries = `inventory: {entries: [{id: web_shop_apps_Deployment, v: v1}, {id: _a__b_rbac.authorization.k8s.io_ClusterRole, v: v1}, {id: web_settings__ConfigMap, v: v1}, {id: nonsense}, {id: a_b_}, {id: ___}, {}]}`
	for spec, want := range map[string][]model.Ref{
		"": {{Kind: "kubernetes/ClusterRole.rbac.authorization.k8s.io", ID: "a:b"}, {Kind: "kubernetes/ConfigMap", ID: "web/settings"}, {Kind: "kubernetes/Deployment.apps", ID: "web/shop"}},
		", kubeConfig: {secretRef: {name: edge}}": nil,
	} {
		r, err := kube.NewResource("prod", object(t, fluxObject("Kustomization", spec, entries, "")), model.NewSealer([]byte("key")))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, r.Installs); diff != "" {
			t.Error(diff)
		}
	}
}
