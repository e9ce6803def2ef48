package backend_test

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
)

// gs behaves like the JSON API of Cloud Storage.
func gs(t *testing.T, authorization string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/token" {
			fmt.Fprint(w, `{"access_token":"a-token","expires_in":3600,"token_type":"Bearer"}`)
			return
		}
		if r.Header.Get("Authorization") != authorization {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		query := r.URL.Query()
		path := strings.Split(r.RequestURI, "?")[0]
		object, isObject := strings.CutPrefix(path, "/storage/v1/b/bucket/o/")
		name, err := url.PathUnescape(object)
		switch {
		case path == "/storage/v1/b/bucket/o":
			listed, next := page(query.Get("prefix"), query.Get("pageToken"))
			answer := map[string]any{"nextPageToken": next}
			items := []map[string]string{}
			for _, name := range listed {
				items = append(items, map[string]string{"name": name})
			}
			answer["items"] = items
			if err := json.NewEncoder(w).Encode(answer); err != nil {
				t.Error(err)
			}
		case isObject && err == nil && !strings.Contains(object, "/") && query.Get("alt") == "media" && slices.Contains(append(keys(), "app/prod.tfstate", "default.tfstate", "odd key+100%&.tfstate/default.tfstate"), name):
			fmt.Fprint(w, name)
		default:
			w.WriteHeader(http.StatusNotFound)
		}
	}
}

func TestGS(t *testing.T) {
	t.Parallel()
	store := serve(t, gs(t, ""))
	cases := map[string]struct {
		reason     string
		location   string
		workspaces []string
		want       []string
	}{
		"Object":     {"an object", "bucket/app/a.tfstate", nil, []string{"app/a.tfstate"}},
		"Prefix":     {"the backend's prefix", "bucket/odd key+100%&.tfstate/", []string{"default"}, nil},
		"Bare":       {"a bucket without prefix", "bucket", nil, []string{"default.tfstate"}},
		"Workspace":  {"a workspace below the prefix", "bucket/app", []string{"prod"}, []string{"app/prod.tfstate"}},
		"Beside":     {"a workspace next to an object", "bucket/app/a.tfstate", []string{"prod"}, []string{"app/prod.tfstate"}},
		"Workspaces": {"all workspaces", "bucket/app", []string{"*"}, []string{"app/a.tfstate", "app/b.tfstate"}},
		"Glob":       {"a pattern", "bucket/env:/*/app/a.tfstate", nil, []string{"env:/prod/app/a.tfstate", "env:/test/app/a.tfstate"}},
		"All":        {"the whole bucket", "bucket/", nil, []string{"app/a.tfstate", "app/b.tfstate", "app/deep/c.tfstate", "env:/prod/app/a.tfstate", "env:/test/app/a.tfstate", "odd key+100%&.tfstate", "prod/app/a.tfstate"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.GS.Endpoint, s.GS.Anonymous, s.Workspaces = store.URL, true, tc.workspaces
			got, err := all(t.Context(), open(t, "gs://"+tc.location, s))
			if tc.want == nil {
				if err == nil || !strings.Contains(err.Error(), "no state found") {
					t.Errorf("%s: got %v, %v", tc.reason, got, err)
				}
				return
			}
			var want []string
			for _, key := range tc.want {
				want = append(want, "gs://bucket/"+key+": "+key)
			}
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("%s: %v (-want +got):\n%s", tc.reason, err, diff)
			}
		})
	}
}

// TestGSServiceAccount authenticates with a key file.
func TestGSServiceAccount(t *testing.T) {
	t.Parallel()
	store := serve(t, gs(t, "Bearer a-token"))
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	account, err := json.Marshal(map[string]string{"type": "service_account", "client_email": "driftd@example.org",
		"private_key": string(pem.EncodeToMemory(block)), "token_uri": store.URL + "/token"})
	if err != nil {
		t.Fatal(err)
	}
	s := settings()
	s.GS.Endpoint, s.GS.CredentialsFile = store.URL, file(t, string(account))
	got, err := all(t.Context(), open(t, "gs://bucket/app/a.tfstate", s))
	if err != nil || len(got) != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	for _, text := range []string{"no JSON", `{"type":"odd","key":"hunter2"}`} {
		s.GS.CredentialsFile = file(t, text)
		if _, err := all(t.Context(), open(t, "gs://bucket/app/a.tfstate", s)); err == nil || !strings.Contains(err.Error(), "not a file of Google credentials") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

const accountKey = "aHVudGVyMiBodW50ZXIyIGh1bnRlcjI="

// azure behaves like the blob service. It requires the account key or a token with a valid
// signature.
func azure(t *testing.T) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Ms-Version") == "" || !azureSigned(t, r) && r.URL.Query().Get("sig") != "abc+/=" {
			w.WriteHeader(http.StatusForbidden)
			fmt.Fprint(w, "\ufeff<Error><Code>AuthenticationFailed</Code></Error>")
			return
		}
		query := r.URL.Query()
		key, isKey := strings.CutPrefix(r.URL.Path, "/states/")
		switch {
		case r.URL.Path == "/states" && query.Get("restype") == "container" && query.Get("comp") == "list":
			listed, next := page(query.Get("prefix"), query.Get("marker"))
			fmt.Fprint(w, `<?xml version="1.0"?><EnumerationResults><Blobs>`)
			for _, name := range listed {
				fmt.Fprint(w, "<Blob><Name>")
				if err := xml.EscapeText(w, []byte(name)); err != nil {
					t.Error(err)
				}
				fmt.Fprint(w, "</Name><Properties/></Blob>")
			}
			fmt.Fprintf(w, "</Blobs><NextMarker>%s</NextMarker></EnumerationResults>", next)
		case isKey && slices.Contains(append(keys(), "app/a.tfstateenv:prod"), key):
			fmt.Fprint(w, key)
		case isKey:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>BlobNotFound</Code></Error>")
		default:
			w.WriteHeader(http.StatusNotFound)
			fmt.Fprint(w, "<Error><Code>ContainerNotFound</Code></Error>")
		}
	}
}

func azureSigned(t *testing.T, r *http.Request) bool {
	key, err := base64.StdEncoding.DecodeString(accountKey)
	if err != nil {
		t.Error(err)
	}
	lines := []string{"GET", "", "", "", "", "", "", "", "", "", "", "",
		"x-ms-date:" + r.Header.Get("X-Ms-Date"), "x-ms-version:" + r.Header.Get("X-Ms-Version"), "/shop" + strings.Split(r.RequestURI, "?")[0]}
	for _, name := range []string{"comp", "marker", "prefix", "restype"} {
		if r.URL.Query().Has(name) {
			lines = append(lines, name+":"+r.URL.Query().Get(name))
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(strings.Join(lines, "\n")))
	return r.Header.Get("Authorization") == "SharedKey shop:"+base64.StdEncoding.EncodeToString(mac.Sum(nil))
}

func TestAzure(t *testing.T) {
	t.Parallel()
	store := serve(t, azure(t))
	byKey, bySAS, byNothing := settings(), settings(), settings()
	byKey.Azure.AccountKeyFile = file(t, accountKey+"\n")
	bySAS.Azure.SASTokenFile = file(t, "?sv=2021&sig=abc%2B%2F%3D\n")
	byNothing.Azure.SASTokenFile = file(t, "sig=hunter2")
	cases := map[string]struct {
		reason     string
		settings   backend.Settings
		key        string
		workspaces []string
		want       []string
		wantErr    string
	}{
		"Key":        {"by the account's key", byKey, "states/app/a.tfstate", nil, []string{"app/a.tfstate"}, ""},
		"SAS":        {"by a token", bySAS, "states/app/a.tfstate", nil, []string{"app/a.tfstate"}, ""},
		"SASListing": {"a listing by a token", bySAS, "states/app/*.tfstate", nil, []string{"app/a.tfstate", "app/b.tfstate"}, ""},
		"Odd":        {"characters that are escaped", byKey, "states/odd key+100%&.tfstate", nil, []string{"odd key+100%&.tfstate"}, ""},
		"Workspace":  {"a workspace", byKey, "states/app/a.tfstate", []string{"prod"}, []string{"app/a.tfstateenv:prod"}, ""},
		"Prefix":     {"a prefix of several pages", byKey, "states/app/", nil, []string{"app/a.tfstate", "app/b.tfstate", "app/deep/c.tfstate"}, ""},
		"OddGlob":    {"a prefix that is signed as sent", byKey, "states/odd key+100%&*", nil, []string{"odd key+100%&.tfstate"}, ""},
		"Denied":     {"a wrong token", byNothing, "states/app/a.tfstate", nil, nil, "403 Forbidden (AuthenticationFailed); grant Storage Blob Data Reader"},
		"Absent":     {"no such blob", byKey, "states/gone", nil, nil, "there is no state"},
		"Container":  {"no such container", byKey, "gone/x/", nil, nil, "404 Not Found (ContainerNotFound)"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tc.settings
			s.Azure.Endpoint, s.Workspaces = store.URL, tc.workspaces
			checkStates(t, tc.reason, open(t, "azurerm://shop/"+tc.key, s), "azurerm://shop/states/", named(tc.want), tc.wantErr)
		})
	}
	t.Run("NoKey", func(t *testing.T) {
		t.Parallel()
		s := settings()
		s.Azure.Endpoint, s.Azure.AccountKeyFile = store.URL, file(t, "hunter2!")
		_, err := all(t.Context(), open(t, "azurerm://shop/states/a", s))
		if err == nil || !strings.Contains(err.Error(), "not an account key") || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("got %v", err)
		}
	})
}
