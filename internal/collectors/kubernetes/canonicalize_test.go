package kubernetes

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
)

func parse(t *testing.T, text string) model.Value {
	t.Helper()
	v, err := decode.JSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestWithStored(t *testing.T) {
	t.Parallel()
	named := &model.Schema{List: model.Keyed, Keys: []string{"name"}}
	ports := &model.Schema{List: model.Keyed, Keys: []string{"port", "protocol"}}
	schema := &model.Schema{Fields: map[string]*model.Schema{
		"named": named, "ports": ports, "set": {List: model.Set},
	}}
	tests := map[string]struct{ reason, declared, stored, want string }{
		"scalars":        {"the stored notation is used", `{"cpu":"1000m"}`, `{"cpu":"1"}`, `{"cpu":"1"}`},
		"undeclared":     {"a field that is only stored is dropped", `{"a":1}`, `{"a":1,"b":2}`, `{"a":1}`},
		"dropped":        {"a field that is not stored is dropped", `{"a":1,"b":2}`, `{"a":1}`, `{"a":1}`},
		"empty":          {"an empty value is kept", `{"a":[]}`, `{}`, `{"a":[]}`},
		"null":           {"null is kept", `{"a":null}`, `{}`, `{"a":null}`},
		"keyed":          {"elements are paired by name", `{"named":[{"name":"b","v":1},{"name":"a"}]}`, `{"named":[{"name":"sidecar"},{"name":"a"},{"name":"b","v":2,"w":3}]}`, `{"named":[{"name":"b","v":2},{"name":"a"}]}`},
		"keyed, default": {"the server sets a key that is not declared", `{"ports":[{"port":80,"n":"x"}]}`, `{"ports":[{"port":80,"protocol":"TCP","n":"y"}]}`, `{"ports":[{"port":80,"n":"y"}]}`},
		"keyed, dropped": {"an element that is not stored is kept", `{"named":[{"name":"a","v":1}]}`, `{"named":[]}`, `{"named":[{"name":"a","v":1}]}`},
		"list":           {"elements are paired by position", `{"l":[{"a":1},{"a":2}]}`, `{"l":[{"a":1,"b":0},{"a":3,"b":0}]}`, `{"l":[{"a":1},{"a":3}]}`},
		"longer list":    {"a list of another length is replaced", `{"l":[1]}`, `{"l":[1,2]}`, `{"l":[1,2]}`},
		"set":            {"a set is kept", `{"set":["a"]}`, `{"set":["b","a"]}`, `{"set":["a"]}`},
		"other type":     {"a conversion may change the type", `{"a":"1"}`, `{"a":{"b":1}}`, `{"a":{"b":1}}`},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := withStored(parse(t, tt.declared), parse(t, tt.stored), schema)
			if diff := cmp.Diff(parse(t, tt.want).String(), got.String()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

// dryRuns is a fake that answers dry-run applies and records the requests.
type dryRuns struct {
	*fake
	answer http.HandlerFunc

	mu   sync.Mutex
	sent map[string]string
}

func (d *dryRuns) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPatch {
		d.fake.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	d.sent[r.URL.String()] = r.Header.Get("Content-Type") + " " + string(body)
	d.mu.Unlock()
	d.answer(w, r)
}

func claim(t *testing.T, kind, id, place, name, value string) model.Claim {
	t.Helper()
	version := map[bool]string{true: "apps/v1", false: "v1"}[kind == deployment]
	return model.Claim{Kind: kind, ID: id, Place: place, Name: name, Version: version, Value: parse(t, value)}
}

func TestCanonicalize(t *testing.T) {
	t.Parallel()
	stored := `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop","labels":{"a":"b"},"uid":"1"},"spec":{"cpu":"1","more":2},"status":{}}`
	web := func(t *testing.T) model.Claim {
		t.Helper()
		return claim(t, deployment, "shop/web", "shop", "web", `{"metadata":{"labels":{"a":"b"}},"spec":{"cpu":"1000m"}}`)
	}
	const before, after = `{"metadata":{"labels":{"a":"b"}},"spec":{"cpu":"1000m"}}`, `{"metadata":{"labels":{"a":"b"}},"spec":{"cpu":"1"}}`
	tests := map[string]struct {
		reason string
		mode   string
		answer http.HandlerFunc
		claim  func(*testing.T) model.Claim
		want   string
		sent   map[string]string
		fails  bool
	}{
		"rewritten": {
			reason: "the claim has the stored value", mode: DryRun, answer: write(stored), claim: web, want: after,
			sent: map[string]string{"https://api.example.org:6443/apis/apps/v1/namespaces/shop/deployments/web?dryRun=All&fieldManager=driftd&force=true": "application/apply-patch+yaml " +
				`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"labels":{"a":"b"},"name":"web","namespace":"shop"},"spec":{"cpu":"1000m"}}`},
		},
		"disabled": {reason: "no request is sent", claim: web, want: before, sent: map[string]string{}},
		"rejected": {
			reason: "a rejected claim keeps its value", mode: DryRun, claim: web, want: before,
			answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, 422, "spec.cpu: Invalid value") },
		},
		"unauthorized": {
			reason: "a rejection of the credentials is an error", mode: DryRun, claim: web, want: before, fails: true,
			answer: func(w http.ResponseWriter, _ *http.Request) { refuse(w, 401, "Unauthorized") },
		},
		"secret": {
			reason: "a claim with a digest cannot be sent", mode: DryRun, sent: map[string]string{}, want: `{"data":{"p":"(secret)"}}`,
			claim: func(t *testing.T) model.Claim {
				t.Helper()
				c := claim(t, "kubernetes/ConfigMap", "shop/c", "shop", "c", `{}`)
				c.Value = model.MapOf(model.Field{Name: "data", Value: model.MapOf(model.Field{Name: "p", Value: testSealer().Seal("x")})})
				return c
			},
		},
		"unchecked": {
			reason: "an unchecked claim is not compared", mode: DryRun, sent: map[string]string{}, want: before,
			claim: func(t *testing.T) model.Claim {
				t.Helper()
				c := web(t)
				c.Unchecked = "encrypted"
				return c
			},
		},
		"not served": {
			reason: "no server can apply it", mode: DryRun, sent: map[string]string{}, want: `{}`,
			claim: func(t *testing.T) model.Claim { return claim(t, "kubernetes/Gadget.io", "g", "", "g", `{}`) },
		},
		"name with a path": {
			reason: "a name must not change the path of the request", mode: DryRun, sent: map[string]string{}, want: `{}`,
			claim: func(t *testing.T) model.Claim {
				return claim(t, "kubernetes/ConfigMap", "shop/..", "shop", "../../nodes", `{}`)
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := &dryRuns{fake: newFake(), answer: tt.answer, sent: map[string]string{}}
				c := newTestCluster(t, d, func(c *Config) { c.Canonicalize = tt.mode })
				claims := []model.Claim{tt.claim(t)}
				got, err := c.Canonicalize(t.Context(), claims)
				var access *httpclient.Error
				if (err != nil) != tt.fails || tt.fails && !errors.As(err, &access) {
					t.Fatalf("%s: Canonicalize() = %v", tt.reason, err)
				}
				if s := got[0].Value.String(); s != tt.want {
					t.Errorf("%s: value %s, want %s", tt.reason, s, tt.want)
				}
				if diff := cmp.Diff(tt.sent, d.sent); tt.sent != nil && diff != "" {
					t.Errorf("%s: sent (-want +got):\n%s", tt.reason, diff)
				}
			})
		})
	}
}

func TestCanonicalizeDoesNotModifyItsInput(t *testing.T) {
	t.Parallel()
	d := &dryRuns{fake: newFake(), sent: map[string]string{}, answer: func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"shop"},"spec":{"a":2}}`)
	}}
	c := newTestCluster(t, d, func(c *Config) { c.Canonicalize = DryRun })
	var claims []model.Claim
	for range 50 {
		claims = append(claims, claim(t, deployment, "shop/web", "shop", "web", `{"spec":{"a":1}}`))
	}
	got, err := c.Canonicalize(t.Context(), claims)
	if err != nil {
		t.Fatal(err)
	}
	for i := range claims {
		if claims[i].Value.String() != `{"spec":{"a":1}}` || got[i].Value.String() != `{"spec":{"a":2}}` {
			t.Fatalf("claim %d: %s became %s", i, claims[i].Value, got[i].Value)
		}
	}
}
