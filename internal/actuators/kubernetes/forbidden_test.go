package kubernetes_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// TestForbiddenCustom checks that a custom resource is changed only for a rule that names its kind, and never created.
func TestForbiddenCustom(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind    string
		verdict model.Verdict
		named   bool
		want    string
	}{
		"a database by a pattern":    {"Cluster.postgresql.cnpg.io", model.Changed, false, "add kubernetes/Cluster.postgresql.cnpg.io to match.kind"},
		"a broker by a pattern":      {"Kafka.kafka.strimzi.io", model.Undeclared, false, "only for a rule that names its kind"},
		"a database by name":         {"Cluster.postgresql.cnpg.io", model.Changed, true, ""},
		"a restore that is missing":  {"Restore.velero.io", model.Missing, true, "driftd never creates a custom resource"},
		"a database that is missing": {"Cluster.postgresql.cnpg.io", model.Missing, true, "driftd never creates a custom resource"},
		"a built-in by a pattern":    {"Deployment.apps", model.Changed, false, ""},
		"one that is missing":        {"Deployment.apps", model.Missing, false, ""},
		"a Job that is missing":      {"Job.batch", model.Missing, true, "driftd never changes a Job.batch: it runs its work once"},
		"a Job":                      {"Job.batch", model.Changed, true, "driftd never changes a Job.batch"},
		"a Pod that is missing":      {"Pod", model.Missing, true, "driftd never creates a Pod"},
		"a Pod":                      {"Pod", model.Changed, true, ""},
		"a CronJob that is missing":  {"CronJob.batch", model.Missing, false, ""},
		"a group of snapshots":       {"VolumeGroupSnapshot.groupsnapshot.storage.k8s.io", model.Changed, true, "data is lost"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := subject(finding(tt.kind, "shop/x"), `{"spec":{"a":1}}`)
			s.Finding.Verdict, s.Named = tt.verdict, tt.named
			_, err := newFake(t).actuator(t).Plan(t.Context(), s)
			if tt.want != "" {
				checkRefusal(t, err, "kind", tt.want)
			} else if r, ok := errors.AsType[*reconcile.Refusal](err); ok && r.Guard == "kind" {
				t.Errorf("Plan() = %v", err)
			}
		})
	}
}

// TestForbiddenFields checks the objects and fields of other kinds that decide over rights, data and addresses.
func TestForbiddenFields(t *testing.T) {
	t.Parallel()
	const set = `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"web","namespace":"shop","uid":"u1"},"spec":{"replicas":3,"persistentVolumeClaimRetentionPolicy":{"whenScaled":"POLICY"}}}`
	tests := map[string]struct{ kind, id, path, policy, want string }{
		"aws-auth":          {"ConfigMap", "kube-system/aws-auth", "data.mapRoles", "", "ConfigMap kube-system/aws-auth: it decides who may do what"},
		"another aws-auth":  {"ConfigMap", "shop/aws-auth", "data.mapRoles", "", ""},
		"type of a Service": {"Service", "shop/web", "spec.type", "", "driftd never changes spec.type of a Service: the API server assigns and releases addresses and ports with it"},
		"another type":      {"Secret", "shop/web", "spec.typeMeta", "", ""},
		"retention":         {"StatefulSet.apps", "shop/web", "spec.persistentVolumeClaimRetentionPolicy.whenDeleted", "Retain", "it decides when data is deleted"},
		"replicas":          {"StatefulSet.apps", "shop/web", "spec.replicas", "Delete", "spec.persistentVolumeClaimRetentionPolicy deletes data with it"},
		"replicas, kept":    {"StatefulSet.apps", "shop/web", "spec.replicas", "Retain", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.kinds["/apis/apps/v1"] = `{"name":"statefulsets","kind":"StatefulSet","namespaced":true,"verbs":["list"]}`
			f.objects["/apis/apps/v1/namespaces/shop/statefulsets/web"] = strings.Replace(set, "POLICY", tt.policy, 1)
			s := subject(finding(tt.kind, tt.id, change(tt.path, "2", "3")), `{"spec":{"replicas":2}}`)
			s.UID = func(model.Ref) string { return "u1" }
			_, err := f.actuator(t).Plan(t.Context(), s)
			if tt.want != "" {
				checkRefusal(t, err, "kind", tt.want)
			} else if r, ok := errors.AsType[*reconcile.Refusal](err); ok && r.Guard == "kind" {
				t.Errorf("Plan() = %v", err)
			}
		})
	}
}

// TestCreateWritten checks that an object is created in the form of the declaration, and put back in that of the cluster.
func TestCreateWritten(t *testing.T) {
	t.Parallel()
	f, s := newFake(t), missing()
	s.Declared = value(`{"data":{"a":"stored"}}`)
	if _, err := mustPlan(t, f.actuator(t), s).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	const path = "/api/v1/namespaces/shop/configmaps/web"
	if got := value(f.objects[path]).At("data", "a").Str(); got != "1" {
		t.Errorf("it is created with %q", got)
	}
	f.objects[path] = strings.Replace(f.objects[path], `"1"`, `"hand"`, 1)
	s = subject(finding("ConfigMap", "shop/web", change("data.a", `"stored"`, `"hand"`)), `{"data":{"a":"1"}}`)
	s.Declared, s.UID = value(`{"data":{"a":"stored"}}`), func(model.Ref) string { return "new" }
	if _, err := mustPlan(t, f.actuator(t), s).Write(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := value(f.objects[path]).At("data", "a").Str(); got != "stored" {
		t.Errorf("it is put back to %q", got)
	}
}
