package kubernetes_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/actuators/kubernetes"
	"github.com/driftd/driftd/internal/kubeapi"
)

// A helmRecord is a Secret with the record of a release.
type helmRecord struct{ namespace, name, data string }

func (f *fake) setRecords(records ...helmRecord) {
	var items []string
	for i, r := range records {
		name := "sh.helm.release.v1." + r.name + ".v1"
		items = append(items, fmt.Sprintf(`{"metadata":{"name":%q,"namespace":%q,"resourceVersion":"%d","labels":{"status":"deployed"}}}`, name, r.namespace, i))
		f.objects["/api/v1/namespaces/"+r.namespace+"/secrets/"+name] = `{"data":{"release":"` + r.data + `"}}`
	}
	f.objects["/api/v1/secrets"] = `{"items":[` + strings.Join(items, ",") + `]}`
}

// releaseOf returns the record of a release with a manifest.
func releaseOf(manifest string) string {
	return kubernetes.PackRelease(`{"name":"r","namespace":"tools","manifest":` + strconv.Quote(manifest) + `}`)
}

const webManifest = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, namespace: shop}\n"

// TestUnreadReleases checks that a record that cannot be read refuses only what it could claim.
func TestUnreadReleases(t *testing.T) {
	t.Parallel()
	broken := map[string]struct{ data, want string }{
		"not base64":  {"!", "it is not the record of a release"},
		"not gzip":    {base64.StdEncoding.EncodeToString([]byte(base64.StdEncoding.EncodeToString([]byte{0x1f, 0x8b, 0x08, 1}))), "it is not the record of a release"},
		"not JSON":    {kubernetes.PackRelease("{"), "it is not the record of a release"},
		"not YAML":    {releaseOf("a: [\n"), "its manifest is not valid YAML"},
		"a bomb":      {kubernetes.PackRelease(strings.Repeat(" ", 17<<20)), "it is larger than 16 MiB"},
		"manifests":   {releaseOf(comments(9 << 20)), "its manifests are larger than 8 MiB"},
		"an object":   {releaseOf(comments(3 << 20)), "an object of it is larger than 2 MiB"},
		"too many":    {releaseOf(strings.Repeat("---\nkind: A\n", 10001)), "it has more than 10000 objects"},
		"one of many": {kubernetes.PackRelease(`{"manifest":"a: [\n---\nkind: A\n","hooks":[{"manifest":"kind: B"}]}`), "its manifest is not valid YAML"},
	}
	signs := map[string]string{
		"label":      `"labels":{"app.kubernetes.io/managed-by":"Helm"}`,
		"annotation": `"annotations":{"meta.helm.sh/release-name":"other"}`,
	}
	for name, tt := range broken {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = web
			f.setRecords(helmRecord{"tenant", "x", tt.data})
			a := f.actuator(t)
			_, err := a.Plan(t.Context(), webSubject())
			checkRefusal(t, err, "declarer", "")
			for sign, metadata := range signs {
				f.objects[webPath] = strings.Replace(web, `"uid":"u1"`, `"uid":"u1",`+metadata, 1)
				_, err = a.Plan(t.Context(), webSubject())
				checkRefusal(t, err, "declarer", "Helm may apply it, since it has the "+sign)
				checkRefusal(t, err, "declarer", "the release in Secret tenant/sh.helm.release.v1.x.v1: "+tt.want)
			}
			f.objects[webPath] = web
			f.setRecords(helmRecord{"shop", "x", tt.data})
			_, err = a.Plan(t.Context(), webSubject())
			checkRefusal(t, err, "declarer", "Helm may apply it: the release in Secret shop/sh.helm.release.v1.x.v1: "+tt.want)
		})
	}
}

// TestUnreadReleaseAndMissing checks that the signs of an object that does not exist are those of its declaration.
func TestUnreadReleaseAndMissing(t *testing.T) {
	t.Parallel()
	f, s := newFake(t), missing()
	f.setRecords(helmRecord{"tenant", "x", "!"})
	_, err := f.actuator(t).Plan(t.Context(), s)
	checkRefusal(t, err, "declarer", "")
	s.Written = value(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":"Helm"}},"data":{"a":"1"}}`)
	_, err = f.actuator(t).Plan(t.Context(), s)
	checkRefusal(t, err, "declarer", "since it has the label app.kubernetes.io/managed-by=Helm")
}

// TestReleaseAmongUnread checks that records that cannot be read hide no other one.
func TestReleaseAmongUnread(t *testing.T) {
	t.Parallel()
	for name, manifest := range map[string]string{
		"first":        webManifest + "---\nkind: A\n",
		"after broken": "a: [\n---\n" + webManifest,
		"in a list":    "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: A}\n- {apiVersion: apps/v1, kind: Deployment, metadata: {name: web, namespace: shop}}\n",
		"marker":       "kind: A\ntext: |\n  x\n--- # Source: x\n" + webManifest,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = web
			f.setRecords(helmRecord{"shop", "x", "!"}, helmRecord{"tools", "web", releaseOf(manifest)})
			_, err := f.actuator(t).Plan(t.Context(), webSubject())
			checkRefusal(t, err, "declarer", "it is part of release web of Helm in namespace tools")
		})
	}
}

// TestReleaseTimes checks that the records of one namespace take no time from the others, that what was read is
// remembered, and that those of the object's own namespace are read first.
func TestReleaseTimes(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	var records []helmRecord
	for i := range 20 {
		records = append(records, helmRecord{"tenant", fmt.Sprintf("x%d", i), "!"})
	}
	f.setRecords(append(records, helmRecord{"tools", "web", releaseOf(webManifest)}, helmRecord{"shop", "own", releaseOf("kind: A\n")})...)
	now, reads := time.Unix(0, 0), []string{}
	f.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, "/api/v1/namespaces/") && strings.Contains(r.URL.Path, "/secrets/") {
			now = now.Add(time.Second)
			reads = append(reads, strings.Split(r.URL.Path, "/")[4])
		}
		return false
	}
	a, err := kubernetes.New(kubernetes.Options{Source: "k8s", Writing: kubeapi.Access{Server: f.URL}, Room: room(), Now: func() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return now }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Plan(t.Context(), webSubject())
	checkRefusal(t, err, "declarer", "it is part of release web of Helm in namespace tools")
	if got := strings.Join(reads, " "); got != "shop tenant tenant tenant tenant tenant tools" {
		t.Errorf("the first plan reads records of %s", got)
	}
	reads = nil
	_, err = a.Plan(t.Context(), webSubject())
	checkRefusal(t, err, "declarer", "it is part of release web")
	if got := strings.Join(reads, " "); got != "tenant tenant tenant tenant tenant" {
		t.Errorf("the second plan reads records of %s", got)
	}
	f.setRecords(append(records, helmRecord{"shop", "own", releaseOf("kind: A\n")})...)
	f.objects[webPath] = strings.Replace(web, `"uid":"u1"`, `"uid":"u1","labels":{"app.kubernetes.io/managed-by":"Helm"}`, 1)
	_, err = a.Plan(t.Context(), webSubject())
	checkRefusal(t, err, "declarer", "the release in Secret tenant/sh.helm.release.v1.x0.v1: it is not the record")
}

// TestNoTimeForRelease checks the words of a record for which there is no time.
func TestNoTimeForRelease(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	f.setRecords(helmRecord{"shop", "a", releaseOf("kind: A\n")}, helmRecord{"shop", "b", releaseOf("kind: A\n")})
	now := time.Unix(0, 0)
	f.before = func(_ http.ResponseWriter, r *http.Request) bool {
		if strings.Contains(r.URL.Path, "/secrets/") {
			now = now.Add(time.Minute)
		}
		return false
	}
	a, err := kubernetes.New(kubernetes.Options{Source: "k8s", Writing: kubeapi.Access{Server: f.URL}, Room: room(), Now: func() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return now }})
	if err != nil {
		t.Fatal(err)
	}
	_, err = a.Plan(t.Context(), webSubject())
	checkRefusal(t, err, "declarer", "the release in Secret shop/sh.helm.release.v1.b.v1: there was no time to read it")
	if _, err = a.Plan(t.Context(), webSubject()); err != nil {
		t.Errorf("the second plan: %v", err)
	}
}

// TestLargePages checks that a list with large objects is read in smaller pages.
func TestLargePages(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.objects[webPath] = web
	f.kinds["/apis/argoproj.io/v1alpha1"] = `{"name":"applications","kind":"Application","namespaced":true,"verbs":["list"]}`
	var limits []string
	large := `{"items":["` + strings.Repeat("x", 64<<20) + `"]}`
	f.before = func(w http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/apis/argoproj.io/v1alpha1/applications" {
			return false
		}
		limit := r.URL.Query().Get("limit")
		limits = append(limits, limit)
		w.Header().Set("Content-Type", "application/json")
		switch {
		case len(limit) > 2:
			_, _ = io.WriteString(w, large)
		case r.URL.Query().Get("continue") == "":
			_, _ = fmt.Fprint(w, `{"metadata":{"continue":"next"},"items":[]}`)
		default:
			_, _ = fmt.Fprint(w, `{"items":[{"metadata":{"name":"shop","namespace":"argocd"},"status":{"resources":[{"group":"apps","kind":"Deployment","namespace":"shop","name":"web"}]}}]}`)
		}
		return true
	}
	_, err := f.actuator(t).Plan(t.Context(), webSubject())
	checkRefusal(t, err, "declarer", "run argocd app sync shop")
	if got := strings.Join(limits, " "); got != "500 100 20 20" {
		t.Errorf("the limits are %s", got)
	}
}

// TestLongListOfReleases verifies that a list of releases without an end refuses only objects with signs of Helm,
// or of its namespace.
func TestLongListOfReleases(t *testing.T) {
	t.Parallel()
	labelled := strings.Replace(web, `"uid":"u1"`, `"uid":"u1","labels":{"app.kubernetes.io/managed-by":"Helm"}`, 1)
	tests := map[string]struct {
		reason, endless, object string
		code                    int
		want                    string
	}{
		"of others":         {reason: "it has no sign", endless: "/api/v1/secrets", object: web},
		"of others, a sign": {reason: "it may be one of the others", endless: "/api/v1/secrets", object: labelled, want: "since it has the label app.kubernetes.io/managed-by=Helm: list the releases of all namespaces: there are too many"},
		"of its own":        {reason: "its list must be complete", endless: "/api/v1/namespaces/shop/secrets", object: web, want: "Helm may apply it: list its releases: there are too many"},
		"overload":          {reason: "large records can cause it", endless: "/api/v1/secrets", object: web, code: 504},
		"overload, a sign":  {reason: "it may be one of the others", endless: "/api/v1/secrets", object: labelled, code: 504, want: "list the releases of all namespaces: 504"},
		"no right":          {reason: "the operator grants it", endless: "/api/v1/secrets", object: web, code: 403, want: "grant get and list on secrets"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.objects[webPath] = tt.object
			now, pages := time.Unix(0, 0), 0
			f.before = func(w http.ResponseWriter, r *http.Request) bool {
				if r.URL.Path != tt.endless {
					return false
				}
				if tt.code != 0 {
					status(w, tt.code, "words")
					return true
				}
				if pages++; pages > 100 {
					panic(http.ErrAbortHandler)
				}
				now = now.Add(time.Second)
				w.Header().Set("Content-Type", "application/json")
				_, _ = fmt.Fprintf(w, `{"metadata":{"continue":"next"},"items":[{"metadata":{"name":"sh.helm.release.v1.x%d.v1","namespace":"tenant","resourceVersion":"1"}}]}`, pages)
				return true
			}
			a, err := kubernetes.New(kubernetes.Options{Source: "k8s", Writing: kubeapi.Access{Server: f.URL}, Room: room(), Now: func() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return now }})
			if err != nil {
				t.Fatal(err)
			}
			_, err = a.Plan(t.Context(), webSubject())
			checkRefusal(t, err, "declarer", tt.want)
			if pages > 10 {
				t.Errorf("%s: %d pages were read", tt.reason, pages)
			}
		})
	}
}

// comments returns comments of a size, in bytes, which are not packed as tightly as a bomb.
func comments(size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "# %d\n", n*n)
	}
	return b.String()
}
