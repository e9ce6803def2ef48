package backend_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

func TestWeb(t *testing.T) {
	t.Parallel()
	store := serve(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/open":
			fmt.Fprint(w, content)
		case r.URL.Path == "/basic" && user == "ci" && password == "hunter2",
			r.URL.Path == "/header" && r.Header.Get("Private-Token") == "hunter2" && r.Header.Get("X-Other") == "a:b",
			r.URL.Path == "/query" && r.URL.RawQuery == "token=hunter2":
			fmt.Fprint(w, content)
		case r.URL.Path == "/new":
			w.WriteHeader(http.StatusNoContent)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	})
	password, headers := file(t, "hunter2\n"), file(t, "Private-Token: hunter2\r\nX-Other:a:b\n")
	cases := map[string]struct {
		reason  string
		path    string
		http    backend.HTTP
		shown   string
		wantErr string
	}{
		"Open":     {"without credentials", "/open", backend.HTTP{}, "/open", ""},
		"Basic":    {"with a password", "/basic", backend.HTTP{Username: "ci", PasswordFile: password}, "/basic", ""},
		"Header":   {"with headers", "/header", backend.HTTP{HeadersFile: headers}, "/header", ""},
		"Query":    {"a query is not shown", "/query?token=hunter2", backend.HTTP{}, "/query?…", ""},
		"Denied":   {"a token is missing", "/query", backend.HTTP{}, "", "401 Unauthorized; check backend.http.username"},
		"New":      {"204, as from GitLab before the first apply", "/new", backend.HTTP{}, "", "there is no state"},
		"NoFile":   {"the password's file is gone", "/basic", backend.HTTP{Username: "ci", PasswordFile: "/nowhere/file"}, "", "read secret file /nowhere/file"},
		"NoHeader": {"a file without headers", "/header", backend.HTTP{HeadersFile: file(t, "hunter2")}, "", `want one "Name: value" per line`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.HTTP = tc.http
			got, err := all(t.Context(), open(t, store.URL+tc.path, s))
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) || strings.Contains(err.Error(), "hunter2") {
					t.Errorf("%s: got %v, want %q", tc.reason, err, tc.wantErr)
				}
				return
			}
			if diff := cmp.Diff([]string{store.URL + tc.shown + ": " + content}, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
	t.Run("User", func(t *testing.T) {
		t.Parallel()
		s := settings()
		s.HTTP.PasswordFile = password
		got, err := all(t.Context(), open(t, "http://ci@"+store.host()+"/basic", s))
		if diff := cmp.Diff([]string{store.URL + "/basic: " + content}, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("ClearText", func(t *testing.T) {
		t.Parallel()
		s := settings()
		s.HTTP.PasswordFile = password
		_, err := all(t.Context(), open(t, "http://state.example.org/basic", s))
		if err == nil || !strings.Contains(err.Error(), "would send the secret in clear text; use https") {
			t.Errorf("got %v", err)
		}
	})
}

func TestWebTLS(t *testing.T) {
	t.Parallel()
	store, authority := serveTLS(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, content) })
	for name, tc := range map[string]struct{ authority, wantErr string }{
		"Trusted": {authority, ""},
		"Unknown": {"", "set ca_file to the authority that signed the certificate"},
		"NoFile":  {"/nowhere/ca.pem", "read ca_file"},
		"NoCert":  {file(t, "no certificate"), "no certificate in PEM form"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.HTTP.CAFile = tc.authority
			source, err := backend.Open(store.URL+"/state", s)
			if err == nil {
				_, err = all(t.Context(), source)
			}
			if tc.wantErr == "" && err != nil || tc.wantErr != "" && (err == nil || !strings.Contains(err.Error(), tc.wantErr)) {
				t.Errorf("got %v, want %q", err, tc.wantErr)
			}
		})
	}
}

// consul behaves like Consul's key/value store.
func consul(t *testing.T) http.HandlerFunc {
	index := `{"current-hash":"abc","chunks":["app/big/tfstate.abc/0","app/big/tfstate.abc/1"]}`
	packed := gzipped(content)
	values := map[string]string{
		"app/plain": content, "app/packed": packed, "app/plain-env:prod": "prod", "app/plain-env:test": "test", "app/plain/.lock": "", "app/plain/.lockinfo": "{}",
		"app/big": index, "app/big/tfstate.abc/0": packed[:10], "app/big/tfstate.abc/1": packed[10:],
		"app/gone": `{"current-hash":"abc","chunks":["app/gone/tfstate.abc/0"]}`, "app/evil": `{"current-hash":"abc","chunks":["vault/core/key"]}`, "vault/core/key": "hunter2",
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Consul-Token") != "hunter2" || r.URL.Query().Get("dc") != "dc1" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		key := strings.TrimPrefix(r.URL.Path, "/v1/kv/")
		if r.URL.Query().Has("keys") {
			var found []string
			for name := range values {
				if strings.HasPrefix(name, key) {
					found = append(found, name)
				}
			}
			if err := json.NewEncoder(w).Encode(found); err != nil {
				t.Error(err)
			}
			return
		}
		value, ok := values[key]
		if !ok || !r.URL.Query().Has("raw") {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, value)
	}
}

func TestConsul(t *testing.T) {
	t.Parallel()
	store := serve(t, consul(t))
	token := file(t, "hunter2\n")
	cases := map[string]struct {
		reason     string
		path       string
		workspaces []string
		want       []string
		wantErr    string
	}{
		"Plain":      {"a value", "app/plain", nil, []string{"app/plain: " + content}, ""},
		"Packed":     {"a gzip value", "app/packed", nil, []string{"app/packed: " + content}, ""},
		"Chunks":     {"a gzip state in chunks", "app/big", nil, []string{"app/big: " + content}, ""},
		"Workspace":  {"a workspace", "app/plain", []string{"prod"}, []string{"app/plain-env:prod: prod"}, ""},
		"Workspaces": {"all workspaces, without locks", "app/plain", []string{"*"}, []string{"app/plain: " + content, "app/plain-env:prod: prod", "app/plain-env:test: test"}, ""},
		"Glob":       {"a pattern, without chunks", "app/p**", nil, []string{"app/packed: " + content, "app/plain: " + content, "app/plain-env:prod: prod", "app/plain-env:test: test"}, ""},
		"Gone":       {"a chunk that is gone", "app/gone", nil, nil, "chunk app/gone/tfstate.abc/0 is missing: the state was probably written"},
		"Evil":       {"a chunk outside of the value's path", "app/evil", nil, nil, "the value lists a chunk outside of its own path"},
		"Absent":     {"no value", "app/absent", nil, nil, "there is no state"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.Consul.Scheme, s.Consul.Datacenter, s.Consul.TokenFile, s.Workspaces = "http", "dc1", token, tc.workspaces
			checkStates(t, tc.reason, open(t, "consul://"+store.host()+"/"+tc.path, s), "consul://"+store.host()+"/", tc.want, tc.wantErr)
		})
	}
}

// secrets behaves like a Kubernetes API server.
func secrets(t *testing.T) http.HandlerFunc {
	// Terraform compresses a state before it splits it. Here the parts are not compressed, so that
	// their lengths are known.
	full := strings.Repeat("x", 1<<20)
	states := map[string]string{
		"tfstate-default-shop": gzipped(content), "tfstate-prod-shop": gzipped("prod"),
		"tfstate-big-shop": full, "tfstate-big-shop-part-1": full, "tfstate-big-shop-part-2": "end",
		"tfstate-even-shop": full,
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer hunter2" {
			w.WriteHeader(http.StatusForbidden)
			return
		}
		var answer any
		name, one := strings.CutPrefix(r.URL.Path, "/api/v1/namespaces/infra/secrets/")
		state, found := states[name]
		switch {
		case one && !found:
			w.WriteHeader(http.StatusNotFound)
			return
		case one:
			answer = map[string]any{"data": map[string]string{"tfstate": base64.StdEncoding.EncodeToString([]byte(state))}}
		case r.URL.Query().Get("labelSelector") == "tfstate=true,tfstateSecretSuffix=shop" && strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadataList"):
			items := []any{}
			for _, item := range [][2]string{{"tfstate-default-shop", "default"}, {"tfstate-prod-shop", "prod"}, {"tfstate-big-shop", "big"}, {"tfstate-big-shop-part-1", "big"}, {"tfstate-big-shop-part-2", "big"}} {
				items = append(items, map[string]any{"metadata": map[string]any{"name": item[0], "labels": map[string]string{"tfstateWorkspace": item[1]}}})
			}
			// The listing has two pages.
			answer = map[string]any{"metadata": map[string]string{"continue": "more"}, "items": items[:2]}
			if r.URL.Query().Get("continue") == "more" {
				answer = map[string]any{"metadata": map[string]string{}, "items": items[2:]}
			}
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}
}

func TestKubernetes(t *testing.T) {
	t.Parallel()
	store, authority := serveTLS(t, secrets(t))
	kubeconfig := func(token string) string {
		return file(t, fmt.Sprintf(`{"apiVersion":"v1","kind":"Config","current-context":"a","contexts":[{"name":"a","context":{"cluster":"a","user":"a"}}],
			"clusters":[{"name":"a","cluster":{"server":%q,"certificate-authority":%q}}],"users":[{"name":"a","user":{"token":%q}}]}`, store.URL, authority, token))
	}
	good := kubeconfig("hunter2")
	plugin := file(t, strings.Replace(readFile(t, good), `"token":"hunter2"`, `"exec":{"apiVersion":"client.authentication.k8s.io/v1","command":"sleep","interactiveMode":"Never"}`, 1))
	big := strings.Repeat("x", 2<<20) + "end"
	cases := map[string]struct {
		reason     string
		suffix     string
		workspaces []string
		kubeconfig string
		want       []string
		wantErr    string
	}{
		"Default":    {"the default workspace", "shop", nil, good, []string{"tfstate-default-shop: " + content}, ""},
		"Workspace":  {"a workspace", "shop", []string{"prod"}, good, []string{"tfstate-prod-shop: prod"}, ""},
		"Parts":      {"a state in parts", "shop", []string{"big"}, good, []string{"tfstate-big-shop: " + big}, ""},
		"Even":       {"a state that just fills its secret", "shop", []string{"even"}, good, []string{"tfstate-even-shop: " + big[:1<<20]}, ""},
		"Workspaces": {"all workspaces, without parts", "shop", []string{"*"}, good, []string{"tfstate-big-shop: " + big, "tfstate-default-shop: " + content, "tfstate-prod-shop: prod"}, ""},
		"Absent":     {"no such secret", "other", nil, good, nil, "there is no state"},
		"Denied":     {"a wrong token", "shop", nil, kubeconfig("other"), nil, "403 Forbidden; grant get on the secret"},
		"Plugin":     {"a credential plugin", "shop", nil, plugin, nil, "uses a credential plugin"},
		"NoConfig":   {"no kubeconfig", "shop", nil, "/nowhere/config", nil, "set backend.kubernetes.kubeconfig"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.Kubernetes.Kubeconfig, s.Workspaces = tc.kubeconfig, tc.workspaces
			checkStates(t, tc.reason, open(t, "kubernetes://infra/"+tc.suffix, s), "kubernetes://infra/", tc.want, tc.wantErr)
		})
	}
}

// cloud behaves like Terraform Cloud. Its states are at archive.
func cloud(t *testing.T, archive func() string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/archive/own" {
			fmt.Fprint(w, "own "+r.Header.Get("Authorization"))
			return
		}
		if r.Header.Get("Authorization") != "Bearer hunter2" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		workspace := func(name string) map[string]any {
			return map[string]any{"id": "ws-" + name, "attributes": map[string]string{"name": name}}
		}
		version := func(url string) map[string]any {
			return map[string]any{"data": map[string]any{"attributes": map[string]string{"hosted-state-download-url": url}}}
		}
		answers := map[string]any{
			"/api/v2/organizations/shop/workspaces/web":       map[string]any{"data": workspace("web")},
			"/api/v2/organizations/shop/workspaces/own":       map[string]any{"data": workspace("own")},
			"/api/v2/organizations/shop/workspaces/new":       map[string]any{"data": workspace("new")},
			"/api/v2/organizations/shop/workspaces/odd":       map[string]any{"data": workspace("odd")},
			"/api/v2/workspaces/ws-web/current-state-version": version(archive() + "/signed"),
			"/api/v2/workspaces/ws-own/current-state-version": version("https://" + r.Host + "/archive/own"),
			"/api/v2/workspaces/ws-odd/current-state-version": version("http://example.org/state"),
			"/api/v2/organizations/shop/workspaces":           map[string]any{"data": []any{workspace("web")}, "meta": map[string]any{"pagination": map[string]any{"next-page": 2}}},
		}
		answer, ok := answers[r.URL.Path]
		if r.URL.Query().Get("page[number]") == "2" {
			answer = map[string]any{"data": []any{workspace("own"), workspace("new")}, "meta": map[string]any{"pagination": map[string]any{"next-page": nil}}}
		}
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		if err := json.NewEncoder(w).Encode(answer); err != nil {
			t.Error(err)
		}
	}
}

func TestRemote(t *testing.T) {
	t.Parallel()
	elsewhere := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "elsewhere "+r.Header.Get("Authorization"))
	})
	store, authority := serveTLS(t, cloud(t, func() string { return elsewhere.URL }))
	token := file(t, "hunter2\n")
	cases := map[string]struct {
		reason    string
		workspace string
		token     string
		want      []string
		wantErr   string
	}{
		"Elsewhere": {"the token is not sent to other hosts", "web", token, []string{"web: elsewhere "}, ""},
		"Own":       {"the token is sent to an archive on the same host", "own", token, []string{"own: own Bearer hunter2"}, ""},
		"Glob":      {"a pattern over two pages", "ow*", token, []string{"own: own Bearer hunter2"}, ""},
		"Nothing":   {"a pattern of nothing", "x*", token, nil, "no state found"},
		"New":       {"a workspace without a state", "*w*", token, nil, "read state remote://" + store.host() + "/shop/new: there is no state"},
		"Odd":       {"an archive without encryption", "odd", token, nil, "the API returned no usable URL of the state"},
		"Absent":    {"no such workspace", "gone", token, nil, "there is no state; check the location"},
		"Denied":    {"a wrong token", "web", file(t, "other"), nil, "401 Unauthorized; check backend.remote.token_file"},
		"NoToken":   {"no token", "web", "", nil, "read secret file"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.Remote = backend.Remote{TokenFile: tc.token, CAFile: authority}
			checkStates(t, tc.reason, open(t, "remote://"+store.host()+"/shop/"+tc.workspace, s), "remote://"+store.host()+"/shop/", tc.want, tc.wantErr)
		})
	}
}
