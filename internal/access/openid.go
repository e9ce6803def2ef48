package access

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/driftd/driftd/internal/credential"
)

// Limits of logins at an OpenID provider.
const (
	// openIDTime is the maximum duration of a login at the provider.
	openIDTime = 10 * time.Minute
	// discoveryRetry is the minimum time between two failed discovery requests.
	discoveryRetry = 5 * time.Second
	// maxExchanges is the maximum number of concurrent code exchanges.
	maxExchanges = 4
)

// Callback is the path to which the OpenID provider redirects after a login.
const Callback = "/login/oidc/callback"

// An OpenIDClient is a client of an OpenID provider.
type OpenIDClient struct {
	// Issuer is the address of the provider, for which CheckIssuer must return nil. ClientID is the ID of
	// the client at the provider.
	Issuer, ClientID string
	// ClientSecretFile is the path of a file with the client secret. It is read each time the secret is
	// needed. "" means a public client.
	ClientSecretFile string
	// CAFile is the path of a file with the CA certificates to trust. "" means those of the system.
	CAFile                 string
	Scopes                 []string
	NameClaim, GroupsClaim string
}

// CheckIssuer returns an error if issuer is not a valid address of a provider. Plain HTTP is only valid for
// a loopback address.
func CheckIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !safeScheme(u) {
		return errors.New("issuer: want the provider's https address as its discovery document names it, such as https://login.example.org")
	}
	return nil
}

// safeScheme reports whether a URL uses https, or http to a loopback address.
func safeScheme(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopbackHost(u.Host)
}

// openID is a client of a provider, whose discovery document is read at the first login.
type openID struct {
	OpenIDClient
	redirect string
	now      func() time.Time
	log      *slog.Logger
	http     *http.Client
	// discovery limits requests for the discovery document, exchanges limits code
	// exchanges.
	discovery, exchanges queue

	mu       sync.Mutex
	provider *oidc.Provider
	// failed is the error of the last request for the discovery document, and requested its
	// time.
	failed    error
	requested time.Time
	// logged is when unavailable last logged an error.
	logged time.Time
}

func newOpenID(o Options, public *url.URL) (*openID, error) {
	c := o.OpenID
	if err := CheckIssuer(c.Issuer); err != nil {
		return nil, err
	}
	if public.Host == "" {
		return nil, errors.New("configure the OpenID provider: set notify.url, to which it redirects after a login")
	}
	client, err := newHTTPClient(c.CAFile)
	if err != nil {
		return nil, err
	}
	provider := &openID{OpenIDClient: c, redirect: public.JoinPath(Callback).String(), now: o.Now, log: o.Log, http: client,
		discovery: newQueue(1, maxWaiting), exchanges: newQueue(maxExchanges, maxWaiting)}
	if _, err := provider.secret(); err != nil {
		return nil, fmt.Errorf("read client_secret_file: %w", err)
	}
	return provider, nil
}

func (o *openID) secret() (string, error) {
	if o.ClientSecretFile == "" {
		return "", nil
	}
	secret, err := credential.Read(o.ClientSecretFile)
	return strings.TrimSpace(secret), err
}

// ready returns the provider and reads its discovery document if needed. Only one request runs
// at a time, and a failed one is repeated at the earliest after discoveryRetry.
func (o *openID) ready(ctx context.Context) (*oidc.Provider, error) {
	if provider, err := o.known(); provider != nil || err != nil {
		return provider, err
	}
	if !o.discovery.enter(ctx) {
		return nil, errors.New("too many logins are waiting for the discovery document")
	}
	defer o.discovery.leave()
	if provider, err := o.known(); provider != nil || err != nil {
		return provider, err
	}
	// The first visitor may cancel the request, but the others need the result.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), o.http)
	provider, err := oidc.NewProvider(ctx, o.Issuer)
	if err == nil {
		err = checkEndpoints(provider)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.requested = o.now()
	if o.failed = why(err); err == nil {
		o.provider = provider
	}
	return o.provider, o.failed
}

// known returns the provider, or the error of a recent failed request. It returns neither if
// the discovery document must be requested.
func (o *openID) known() (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if since := o.now().Sub(o.requested); o.provider == nil && o.failed != nil && since >= 0 && since < discoveryRetry {
		return nil, o.failed
	}
	return o.provider, nil
}

// checkEndpoints returns an error if an endpoint of the provider would receive secrets in the clear.
func checkEndpoints(p *oidc.Provider) error {
	for _, text := range []string{p.Endpoint().AuthURL, p.Endpoint().TokenURL} {
		if u, err := url.Parse(text); err != nil || u.Host == "" || !safeScheme(u) {
			return errors.New("the discovery document has an endpoint that is not https")
		}
	}
	return nil
}

func (o *openID) client(p *oidc.Provider) (*oauth2.Config, error) {
	secret, err := o.secret()
	return &oauth2.Config{ClientID: o.ClientID, ClientSecret: secret, Endpoint: p.Endpoint(), RedirectURL: o.redirect, Scopes: o.Scopes}, err
}

// unavailable logs err, at most once per discoveryRetry, and returns a refusal that does not
// contain it.
func (o *openID) unavailable(err error) *Refused {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.now(); now.Sub(o.logged).Abs() >= discoveryRetry {
		o.logged = now
		o.log.Warn("logins at the OpenID provider fail", "issuer", o.Issuer, "err", err)
	}
	return &Refused{Status: http.StatusServiceUnavailable, RetryAfter: discoveryRetry,
		Message: fmt.Sprintf("login at %s is currently unavailable", o.Issuer), Hint: "try again in a few seconds; the log of driftd contains the reason"}
}

// An oidcFlow is the state of a login at the provider. It is stored in a cookie.
type oidcFlow struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Next     string    `json:"p"`
	Ends     time.Time `json:"e"`
}

// BeginOpenID redirects the visitor to the OpenID provider. After the login, EndOpenID returns next, the
// path of the page to show. If BeginOpenID returns an error, which is a *Refused, it has written no
// response.
func (g *Gate) BeginOpenID(w http.ResponseWriter, r *http.Request, next string) error {
	if g.openID == nil {
		return noOpenID()
	}
	provider, err := g.openID.ready(r.Context())
	if err != nil {
		return g.openID.unavailable(err)
	}
	client, err := g.openID.client(provider)
	if err != nil {
		return g.openID.unavailable(err)
	}
	j := oidcFlow{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: LocalPath(next), Ends: g.options.Now().Add(openIDTime)}
	sealed, err := g.seal(j)
	if err == nil && len(sealed) > maxCookie {
		j.Next = "/" // browsers do not store larger cookies
		sealed, err = g.seal(j)
	}
	if err != nil {
		return g.openID.unavailable(err)
	}
	g.setCookie(w, r, openIDCookie, sealed, openIDTime)
	http.Redirect(w, r, client.AuthCodeURL(j.State, oidc.Nonce(j.Nonce), oauth2.S256ChallengeOption(j.Verifier)), http.StatusSeeOther)
	return nil
}

func noOpenID() *Refused {
	return &Refused{Status: http.StatusForbidden, Message: "login at an OpenID provider is not configured",
		Hint: "set server.access.oidc in the configuration"}
}

// seal encodes and signs a flow.
func (g *Gate) seal(j oidcFlow) (string, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("encode the login state: %w", err)
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	mac := g.mac("openid", body)
	return body + "." + base64.RawURLEncoding.EncodeToString(mac[:]), nil
}

// unseal decodes a flow. It returns false if the signature is invalid or the flow has expired.
func (g *Gate) unseal(sealed string) (j oidcFlow, ok bool) {
	body, sum, _ := strings.Cut(sealed, ".")
	got, err := base64.RawURLEncoding.DecodeString(sum)
	want := g.mac("openid", body)
	if err != nil || !hmac.Equal(got, want[:]) {
		return j, false
	}
	text, err := base64.RawURLEncoding.DecodeString(body)
	if err != nil || json.Unmarshal(text, &j) != nil {
		return j, false
	}
	return j, g.options.Now().Before(j.Ends)
}

// EndOpenID handles the redirect from the OpenID provider. It starts a session, and returns the path that
// was passed to BeginOpenID. If the login fails, it returns a *Refused.
func (g *Gate) EndOpenID(w http.ResponseWriter, r *http.Request) (next string, err error) {
	if g.openID == nil {
		return "", noOpenID()
	}
	sealed, _ := g.cookie(r, openIDCookie)
	j, ok := g.unseal(sealed)
	if query := r.URL.Query(); !ok || !hmac.Equal([]byte(query.Get("state")), []byte(j.State)) {
		return "", &Refused{Status: http.StatusForbidden, Message: "this login was not started in this browser, or more than ten minutes ago",
			Hint: "start it again at " + g.public.JoinPath("/login").String()}
	}
	g.setCookie(w, r, openIDCookie, "", -1)
	l := limiter{g.networkLimiter(r).bucket, g.openID.exchanges}
	leave, refused := g.enter(r, l)
	if refused != nil {
		return "", refused
	}
	defer leave()
	who, refused := g.openID.identify(r, j)
	if refused != nil {
		g.options.Log.WarnContext(r.Context(), "login refused at the OpenID provider", "address", g.client(r).String(), "err", refused.Message)
		return "", refused
	}
	g.failures.give(l.bucket, g.options.Now())
	g.begin(w, r, session{name: who.name, groups: g.roles.kept(who.groups)})
	return LocalPath(j.Next), nil
}
