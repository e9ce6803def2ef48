package secret_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

func parse(t *testing.T, text string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// sealed returns the paths at which a value is sealed.
func sealed(t *testing.T, r *secret.Room, kind, text string) []string {
	t.Helper()
	var paths []string
	r.Found(kind, parse(t, text), func(path, _, _ string) { paths = append(paths, path) })
	return paths
}

// TestSecretInside seals all data of a Secret that is inside of another object, or of a copy in its own annotations.
func TestSecretInside(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		kind, text string
		want       []string
	}{
		"a template": {"kubernetes/ManifestWork.work.open-cluster-management.io", `{"manifests":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"db"},"stringData":{"motd":"plain","n":1},"data":{"a":{"b":"x"}}}]}`,
			[]string{"manifests[0].data.a.b", "manifests[0].stringData.motd", "manifests[0].stringData.n"}},
		"a ConfigMap in a template": {"kubernetes/ManifestWork.work.open-cluster-management.io", `{"manifests":[{"apiVersion":"v1","kind":"ConfigMap","data":{"motd":"plain"}}]}`, nil},
		"a copy":                    {"kubernetes/Secret", `{"annotations":{"last":"{\"data\":{\"motd\":\"cGxhaW4=\"}}"}}`, []string{"annotations.last"}},
		"a copy in YAML":            {"kubernetes/Secret", `{"annotations":{"last":"apiVersion: v1\nkind: Secret\nstringData:\n  motd: plain text\n"}}`, []string{"annotations.last"}},
		"a patch":                   {"kubernetes/Secret", `{"annotations":{"last":"[{\"op\":\"replace\",\"path\":\"/data/motd\",\"value\":\"cGxhaW4=\"}]"}}`, []string{"annotations.last"}},
		"a patch of its labels":     {"kubernetes/Secret", `{"annotations":{"last":"[{\"op\":\"replace\",\"path\":\"/metadata/labels/a\",\"value\":\"b\"}]"}}`, nil},
	} {
		if d := cmp.Diff(tc.want, sealed(t, room(secret.Options{}), tc.kind, tc.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

func TestTree(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, text string
		want         []string
	}{
		{"keys of any map", `{"data":{"password":"x1","url":"http://h","token":"x2"}}`, []string{"data.password", "data.token"}},
		{"variables", `{"env":[{"name":"DB_PASSWORD","value":"x"},{"name":"LEVEL","value":"debug"},{"name":"SIGNING_KEY","value":"x"}]}`,
			[]string{"env[name=DB_PASSWORD].value", "env[name=SIGNING_KEY].value"}},
		{"a variable that is read from a secret", `{"env":[{"name":"PASSWORD","valueFrom":{"secretKeyRef":{"name":"s","key":"password"}}}]}`, nil},
		{"a variable that refers to another", `{"env":[{"name":"PASSWORD","value":"$(DB_PASSWORD)"}]}`, nil},
		{"tags as a cloud has them", `{"tags":[{"Key":"api-token","Value":"x"},{"Key":"team","Value":"shop"}]}`, []string{"tags[0].Value"}},
		{"headers", `{"httpHeaders":[{"name":"Authorization","value":"Bearer abc"}]}`, []string{"httpHeaders[name=Authorization].value"}},
		{"an argument and the next", `{"args":["--db-password","hunter","--verbose"]}`, []string{"args[1]"}},
		{"an argument with its value", `{"args":["--token=x","--level=debug"]}`, []string{"args[0]"}},
		{"a program and its arguments", `{"command":["/usr/bin/redis-cli"],"args":["-a","x","ping"]}`, []string{"args[1]"}},
		{"a program in its command", `{"command":["mysql","-uroot","-px"]}`, []string{"command[2]"}},
		{"a flag of a program that takes no secret there", `{"command":["ls","-a","x"]}`, nil},
		{"a number is a password", `{"password":1234,"replicas":3,"pin":"0000"}`, []string{"password", "pin"}},
		{"a boolean is none", `{"password":true,"token":"false"}`, nil},
		{"a list of secrets", `{"tokens":["a","b"],"secrets":["name-of-one"]}`, []string{"tokens[0]", "tokens[1]"}},
		{"a map of secrets", `{"secrets":{"db":"x","name":"shop"}}`, []string{"secrets.db"}},
		{"the value of a secret", `{"password":{"value":"x"}}`, []string{"password.value"}},
		{"a reference to a secret", `{"secret":{"secretName":"s","defaultMode":420},"secretRef":{"name":"s"},"imagePullSecrets":[{"name":"s"}]}`, nil},
		{"what is said about a secret", `{"secretName":"s","tokenExpirationSeconds":"3600","passwordPolicy":"strict","TOKEN_FILE":"/x"}`, nil},
		{"a quota", `{"hard":{"secrets":"10","count/secrets":"5"}}`, nil},
		{"a path under the name of a key", `{"TLS_KEY":"/etc/tls/tls.key","GOOGLE_APPLICATION_CREDENTIALS":"/etc/gcp.json"}`, nil},
		{"a mask of the system", `{"cipassword":"**********"}`, nil},
		{"what decides drift", `{"replicas":3,"image":"web:1.5","uid":"8f14e45f-ceea-467f-a0e6-3b2c1d0e9f8a","checksum/config":"0f3c0a2b4c5d6e7f"}`, nil},
	} {
		if d := cmp.Diff(tc.want, sealed(t, room(secret.Options{}), "kubernetes/Pod", tc.text)); d != "" {
			t.Errorf("%s: sealed (-want +got):\n%s", tc.reason, d)
		}
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	const text = `{"spec":{"license":"x","items":[{"name":"a","text":"y","n":4}],"password":"z","url":"http://u:pw@h"}}`
	for _, tc := range []struct {
		reason  string
		options secret.Options
		want    []string
	}{
		{"none", secret.Options{}, []string{"spec.password", "spec.url"}},
		{"a name", secret.Options{Names: []string{"LICENSE"}}, []string{"spec.license", "spec.password", "spec.url"}},
		{"a pattern of names", secret.Options{Names: []string{"lic*"}}, []string{"spec.license", "spec.password", "spec.url"}},
		{"a path without keys", secret.Options{Paths: []string{"spec.items.text"}}, []string{"spec.items[name=a].text", "spec.password", "spec.url"}},
		{"all below a path", secret.Options{Paths: []string{"spec.items"}},
			[]string{"spec.items[name=a].n", "spec.items[name=a].name", "spec.items[name=a].text", "spec.password", "spec.url"}},
		{"the path of this kind", secret.Options{Paths: []string{"Pod spec.license"}}, []string{"spec.license", "spec.password", "spec.url"}},
		{"the path of another kind", secret.Options{Paths: []string{"Node spec.license"}}, []string{"spec.password", "spec.url"}},
		{"a name that is excepted: forms count", secret.Options{Except: []string{"password", "url"}}, []string{"spec.url"}},
		{"a path that is excepted", secret.Options{Except: []string{"Pod spec.url"}}, []string{"spec.password"}},
		{"all below is excepted", secret.Options{Except: []string{"spec"}}, nil},
		{"an exception counts before a path", secret.Options{Paths: []string{"spec.license"}, Except: []string{"spec.license"}}, []string{"spec.password", "spec.url"}},
	} {
		if d := cmp.Diff(tc.want, sealed(t, room(tc.options), "kubernetes/Pod", text)); d != "" {
			t.Errorf("%s: sealed (-want +got):\n%s", tc.reason, d)
		}
	}
}

// TestQuota tests that the limits of a quota are not sealed by the names of the kinds that they
// count, as they are not in a stored finding.
func TestQuota(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		reason, kind, text string
		want               []string
	}{
		{"counts", "kubernetes/ResourceQuota", `{"spec":{"hard":{"secrets":"2k","count/secrets":2000,"count/tokens.example.org":"1500","vault-secrets.storageclass.storage.k8s.io/requests.storage":"1.5Gi"}}}`, nil},
		{"a quota of OpenShift", "kubernetes/ClusterResourceQuota.quota.openshift.io", `{"spec":{"quota":{"hard":{"secrets":"2k"}}}}`, nil},
		{"another text", "kubernetes/ResourceQuota", `{"spec":{"hard":{"secrets":"k2","count/secrets":"1KB"}}}`, []string{`spec.hard["count/secrets"]`, "spec.hard.secrets"}},
		{"another field", "kubernetes/ResourceQuota", `{"spec":{"secrets":"2k"}}`, []string{"spec.secrets"}},
		{"another kind", "kubernetes/ConfigMap", `{"spec":{"hard":{"secrets":"2k"}}}`, []string{"spec.hard.secrets"}},
	} {
		if d := cmp.Diff(tc.want, sealed(t, room(secret.Options{}), tc.kind, tc.text)); d != "" {
			t.Errorf("%s (-want +got):\n%s", tc.reason, d)
		}
	}
	if d := cmp.Diff([]string{"hard.secrets"}, sealed(t, room(secret.Options{Names: []string{"secrets"}}), "kubernetes/ResourceQuota", `{"hard":{"secrets":"2k"}}`)); d != "" {
		t.Errorf("a name of the operator (-want +got):\n%s", d)
	}
	count := model.StringOf("2k")
	f := model.Finding{Key: model.Key{Kind: "kubernetes/ResourceQuota"}, Changes: []model.Change{{Path: "spec.hard.secrets", Live: &count}}}
	if room(secret.Options{}).Finding(&f); f.Changes[0].Secret {
		t.Errorf("a stored finding is sealed: %v", f.Changes[0])
	}
}
