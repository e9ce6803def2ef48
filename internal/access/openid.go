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

// Bounds of the way through an OpenID provider.
const (
	// openIDTime is how long somebody may take at the provider.
	openIDTime = 10 * time.Minute
	// askAgain is how soon a provider that did not answer is asked again.
	askAgain = 5 * time.Second
	// maxExchanges is how many come back at once.
	maxExchanges = 4
)

// Callback is the path to which the OpenID provider sends people back.
const Callback = "/login/oidc/callback"

// An OpenIDClient is a client of an OpenID provider.
type OpenIDClient struct {
	// Issuer is the provider's address; CheckIssuer accepts it.
	Issuer, ClientID string
	// ClientSecretFile is read each time that it is needed; "" is for a public
	// client.
	ClientSecretFile string
	// CAFile holds the authorities to trust instead of the system's.
	CAFile                 string
	Scopes                 []string
	NameClaim, GroupsClaim string
}

// CheckIssuer tells whether something can be the address of a provider: over
// plain HTTP only on this host.
func CheckIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || !safeScheme(u) {
		return errors.New("issuer: want the provider's https address as its discovery document names it, such as https://login.example.org")
	}
	return nil
}

// safeScheme tells an address whose traffic nobody else reads.
func safeScheme(u *url.URL) bool {
	return u.Scheme == "https" || u.Scheme == "http" && loopbackHost(u.Host)
}

// openID is a provider that is asked about itself when it is first needed.
type openID struct {
	OpenIDClient
	redirect string
	now      func() time.Time
	log      *slog.Logger
	http     *http.Client
	// asking is for those who ask what the provider is, coming for those who come
	// back from it.
	asking, coming queue

	mu       sync.Mutex
	provider *oidc.Provider
	// failed says why the provider was last not reached, and asked when.
	failed error
	asked  time.Time
	// logged is when it was last logged why nobody can log in.
	logged time.Time
}

func newOpenID(o Options, public *url.URL) (*openID, error) {
	c := o.OpenID
	if err := CheckIssuer(c.Issuer); err != nil {
		return nil, err
	}
	if public.Host == "" {
		return nil, errors.New("log in at an OpenID provider: set notify.url, to which it sends people back")
	}
	client, err := newHTTPClient(c.CAFile)
	if err != nil {
		return nil, err
	}
	provider := &openID{OpenIDClient: c, redirect: public.JoinPath(Callback).String(), now: o.Now, log: o.Log, http: client,
		asking: newQueue(1, maxWaiting), coming: newQueue(maxExchanges, maxWaiting)}
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

// ready returns the provider. One that did not answer is asked again, but not at
// once, and by one at a time: few wait for it.
func (o *openID) ready(ctx context.Context) (*oidc.Provider, error) {
	if provider, err := o.known(); provider != nil || err != nil {
		return provider, err
	}
	if !o.asking.enter(ctx) {
		return nil, errors.New("others wait already for its answer")
	}
	defer o.asking.leave()
	if provider, err := o.known(); provider != nil || err != nil {
		return provider, err
	}
	// Whoever asks first may go away; the others still want to know.
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), o.http)
	provider, err := oidc.NewProvider(ctx, o.Issuer)
	if err == nil {
		err = checkEndpoints(provider)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.asked = o.now()
	if o.failed = why(err); err == nil {
		o.provider = provider
	}
	return o.provider, o.failed
}

// known returns the provider, or why it did not answer a moment ago; neither
// where it must be asked.
func (o *openID) known() (*oidc.Provider, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if since := o.now().Sub(o.asked); o.provider == nil && o.failed != nil && since >= 0 && since < askAgain {
		return nil, o.failed
	}
	return o.provider, nil
}

// checkEndpoints refuses addresses that would send secrets in the open.
func checkEndpoints(p *oidc.Provider) error {
	for _, text := range []string{p.Endpoint().AuthURL, p.Endpoint().TokenURL} {
		if u, err := url.Parse(text); err != nil || u.Host == "" || !safeScheme(u) {
			return errors.New("its discovery document has an address that is not https")
		}
	}
	return nil
}

func (o *openID) client(p *oidc.Provider) (*oauth2.Config, error) {
	secret, err := o.secret()
	return &oauth2.Config{ClientID: o.ClientID, ClientSecret: secret, Endpoint: p.Endpoint(), RedirectURL: o.redirect, Scopes: o.Scopes}, err
}

// unavailable is the refusal while the provider cannot be used: the log says why,
// once in a while, and strangers are not told.
func (o *openID) unavailable(err error) *Refused {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := o.now(); now.Sub(o.logged).Abs() >= askAgain {
		o.logged = now
		o.log.Warn("nobody can log in at the OpenID provider", "issuer", o.Issuer, "err", err)
	}
	return &Refused{Status: http.StatusServiceUnavailable, RetryAfter: askAgain,
		Message: fmt.Sprintf("logging in at %s does not work now", o.Issuer), Hint: "driftd tries again by itself, and its log says why"}
}

// A journey is what a browser keeps while its user is at the provider.
type journey struct {
	State    string    `json:"s"`
	Nonce    string    `json:"n"`
	Verifier string    `json:"v"`
	Next     string    `json:"p"`
	Ends     time.Time `json:"e"`
}

// BeginOpenID sends the visitor to the OpenID provider; next is the path of the
// page that they want. The error is a *Refused, and nothing is written then.
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
	j := journey{State: rand.Text(), Nonce: rand.Text(), Verifier: oauth2.GenerateVerifier(), Next: LocalPath(next), Ends: g.options.Now().Add(openIDTime)}
	sealed, err := g.seal(j)
	if err == nil && len(sealed) > maxCookie {
		j.Next = "/" // no browser would keep it
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
	return &Refused{Status: http.StatusForbidden, Message: "nobody logs in at an OpenID provider here",
		Hint: "see server.access.oidc of the configuration"}
}

// seal writes a journey so that nobody can change it.
func (g *Gate) seal(j journey) (string, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return "", fmt.Errorf("remember the login: %w", err)
	}
	body := base64.RawURLEncoding.EncodeToString(text)
	mac := g.mac("openid", body)
	return body + "." + base64.RawURLEncoding.EncodeToString(mac[:]), nil
}

// unseal reads a journey that this Gate has sealed and that has not ended.
func (g *Gate) unseal(sealed string) (j journey, ok bool) {
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

// EndOpenID begins a session for whoever comes back from the OpenID provider,
// and returns the path of the page that they wanted. The error is a *Refused.
func (g *Gate) EndOpenID(w http.ResponseWriter, r *http.Request) (next string, err error) {
	if g.openID == nil {
		return "", noOpenID()
	}
	sealed, _ := g.cookie(r, openIDCookie)
	j, ok := g.unseal(sealed)
	if query := r.URL.Query(); !ok || !hmac.Equal([]byte(query.Get("state")), []byte(j.State)) {
		return "", &Refused{Status: http.StatusForbidden, Message: "this login was not begun in this browser, or over ten minutes ago",
			Hint: "begin it again at " + g.public.JoinPath("/login").String()}
	}
	g.setCookie(w, r, openIDCookie, "", -1)
	l := lane{g.publicLane(r).name, g.openID.coming}
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
	g.failures.give(l.name, g.options.Now())
	g.begin(w, r, session{name: who.name, groups: g.roles.kept(who.groups)})
	return LocalPath(j.Next), nil
}
