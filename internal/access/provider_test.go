package access

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"
)

// A provider is a fake OpenID provider.
type provider struct {
	*httptest.Server
	t     testing.TB
	clock *clock
	// key is the published key, and signer the key that signs tokens.
	key, signer *ecdsa.PrivateKey
	secret      string
	// claims are the claims of the ID token, info those of userinfo; nil for none.
	claims, info map[string]any
	// discovery, if not nil, replaces the handler of the discovery document.
	discovery http.HandlerFunc
	// forge changes a token before it is signed.
	forge       func(map[string]any)
	discoveries atomic.Int32

	mu    sync.Mutex
	codes map[string]url.Values
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newProvider(t testing.TB, start func(http.Handler) *httptest.Server) *provider {
	t.Helper()
	key := newKey(t)
	p := &provider{t: t, key: key, signer: key, secret: "shared", codes: map[string]url.Values{},
		claims: map[string]any{"preferred_username": "alice", "groups": []string{"sre", "staff"}}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", p.describe)
	mux.HandleFunc("GET /keys", p.keys)
	mux.HandleFunc("POST /token", p.token)
	mux.HandleFunc("GET /userinfo", p.userinfo)
	p.Server = start(mux)
	t.Cleanup(p.Close)
	return p
}

func (p *provider) describe(w http.ResponseWriter, r *http.Request) {
	p.discoveries.Add(1)
	if p.discovery != nil {
		p.discovery(w, r)
		return
	}
	about := map[string]any{"issuer": p.URL, "authorization_endpoint": p.URL + "/authorize", "token_endpoint": p.URL + "/token",
		"jwks_uri": p.URL + "/keys", "id_token_signing_alg_values_supported": []string{"ES256"}}
	if p.info != nil {
		about["userinfo_endpoint"] = p.URL + "/userinfo"
	}
	p.write(w, about)
}

func (p *provider) write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		p.t.Error(err)
	}
}

func (p *provider) keys(w http.ResponseWriter, _ *http.Request) {
	point, err := p.key.PublicKey.Bytes()
	if err != nil {
		p.t.Error(err)
		return
	}
	p.write(w, map[string]any{"keys": []any{map[string]any{"kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "kid": "1",
		"x": base64.RawURLEncoding.EncodeToString(point[1:33]), "y": base64.RawURLEncoding.EncodeToString(point[33:])}}})
}

// authorize performs a login at the provider and returns the redirect to driftd.
func (p *provider) authorize(location string) *url.URL {
	p.t.Helper()
	u, err := url.Parse(location)
	if err != nil || u.Path != "/authorize" {
		p.t.Fatalf("the redirect to the provider is %q, %v", location, err)
	}
	q := u.Query()
	p.mu.Lock()
	defer p.mu.Unlock()
	code := rand.Text()
	p.codes[code] = q
	back, err := url.Parse(q.Get("redirect_uri"))
	if err != nil {
		p.t.Fatal(err)
	}
	back.RawQuery = url.Values{"code": {code}, "state": {q.Get("state")}, "iss": {p.URL}}.Encode()
	return back
}

// token exchanges a code for tokens, once.
func (p *provider) token(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	began, ok := p.codes[r.PostFormValue("code")]
	delete(p.codes, r.PostFormValue("code"))
	id, secret, basic := r.BasicAuth()
	if !basic {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}
	switch {
	case id != "driftd" || secret != p.secret:
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusUnauthorized)
		p.write(w, map[string]any{"error": "invalid_client", "error_description": "hunter2"})
		return
	case !ok || began.Get("code_challenge_method") != "S256" || oauth2.S256ChallengeFromVerifier(r.PostFormValue("code_verifier")) != began.Get("code_challenge"),
		r.PostFormValue("redirect_uri") != began.Get("redirect_uri"):
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		p.write(w, map[string]any{"error": "invalid_grant"})
		return
	}
	now := p.clock.now()
	token := map[string]any{"iss": p.URL, "aud": "driftd", "sub": "42", "nonce": began.Get("nonce"), "iat": now.Unix(), "exp": now.Add(time.Minute).Unix()}
	for name, value := range p.claims {
		token[name] = value
	}
	if p.forge != nil {
		p.forge(token)
	}
	p.write(w, map[string]any{"access_token": "bearer", "token_type": "Bearer", "id_token": p.sign(token)})
}

func (p *provider) sign(token map[string]any) string {
	body, err := json.Marshal(token)
	if err != nil {
		p.t.Error(err)
	}
	text := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"ES256","kid":"1"}`)) + "." + base64.RawURLEncoding.EncodeToString(body)
	sum := sha256.Sum256([]byte(text))
	r, c, err := ecdsa.Sign(rand.Reader, p.signer, sum[:])
	if err != nil {
		p.t.Error(err)
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	c.FillBytes(signature[32:])
	return text + "." + base64.RawURLEncoding.EncodeToString(signature)
}

func (p *provider) userinfo(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "Bearer bearer" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	p.write(w, p.info)
}

// withProvider returns a fixture with an OpenID provider.
func withProvider(t testing.TB, p *provider, change func(*Options)) *fixture {
	t.Helper()
	folder := t.TempDir()
	secret, ca := filepath.Join(folder, "secret"), ""
	if err := os.WriteFile(secret, []byte("shared\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if cert := p.Certificate(); cert != nil {
		ca = filepath.Join(folder, "ca.pem")
		if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	o := Options{URL: "https://driftd.example.org", Roles: Roles{Viewer: []string{"*"}, Operator: []string{"group:sre"}},
		OpenID: OpenIDClient{Issuer: p.URL, ClientID: "driftd", ClientSecretFile: secret, CAFile: ca, Scopes: []string{"openid", "profile"},
			NameClaim: "preferred_username", GroupsClaim: "groups"}}
	if change != nil {
		change(&o)
	}
	h := newFixture(t, o)
	p.clock = h.clock
	return h
}

// beginOpenID starts a login and returns the redirect to the provider.
func (h *fixture) beginOpenID(next string) (location string, cookies []*http.Cookie) {
	h.t.Helper()
	w := httptest.NewRecorder()
	if err := h.BeginOpenID(w, get(), next); err != nil {
		h.t.Fatal(err)
	}
	if w.Code != http.StatusSeeOther {
		h.t.Fatalf("status = %d", w.Code)
	}
	return w.Header().Get("Location"), kept(w)
}

// endOpenID sends the redirect from the provider.
func (h *fixture) endOpenID(back *url.URL, cookies []*http.Cookie) (next string, kepts []*http.Cookie, err error) {
	w := httptest.NewRecorder()
	next, err = h.EndOpenID(w, request(http.MethodGet, back.String(), "192.0.2.1:40000", nil, cookies...))
	return next, kept(w), err
}
