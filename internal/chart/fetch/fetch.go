// Package fetch downloads charts from OCI registries and from repositories of charts.
package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/lazyregexp"
)

// Settings identify one version of a chart and its place.
type Settings struct {
	// OCI is the URL of the chart in a registry, and Repo that of a repository of charts. One of them is empty.
	OCI, Repo string
	// Chart is the name of the chart in Repo.
	Chart string
	// Version is the exact version. Digest is that of the manifest in a registry, or of the archive in a
	// repository: "sha256:…"; "" if it is not pinned.
	Version, Digest string
	// Username and PasswordFile are the credentials for the registry or the repository.
	Username, PasswordFile string
	// TokenHost is a further host to which the credentials are sent, if the registry requests tokens from
	// it: "auth.example.org". "" means that the registry itself issues tokens.
	TokenHost string
	// CAFile is the path of a file with the certificate authorities to trust. "" means those of the system.
	CAFile string
	// Cache is a folder for archives, which other sources may use at the same time. Without one,
	// nothing is fetched. Limit bounds an archive, in bytes.
	Cache string
	Limit int64
	// Within bounds all requests, also those to which a server leads. It is nil if the owner of driftd
	// has named the chart.
	Within *Permission
	// Index reads the index of a repository.
	Index func(ctx context.Context, index []byte) (chart.Index, error)
}

// exact matches one version: https://semver.org.
var exact = lazyregexp.New(`^v?(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`)

// pinned matches a digest.
var pinned = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

// Check returns an error if the settings name no single version of a chart.
func (s *Settings) Check() error {
	if err := s.checkURL(); err != nil {
		return err
	}
	switch {
	case s.Version == "" && s.OCI != "" && s.Digest != "" && pinned().MatchString(s.Digest):
		// The digest names one version.
	case s.Version == "":
		return errors.New("version is not set: name the version of the chart")
	case !exact().MatchString(s.Version):
		return fmt.Errorf("version %q is not an exact version: ranges such as ^1.2.0 or 1.x are not resolved; name one as 1.2.3", s.Version)
	case s.Digest != "" && !pinned().MatchString(s.Digest):
		return fmt.Errorf("digest %q is not a digest: want sha256: and 64 hexadecimal digits", s.Digest)
	case (s.Username == "") != (s.PasswordFile == ""):
		return errors.New("chart_username and chart_password_file belong together: set both or none")
	}
	return s.checkTokenHost()
}

// checkURL checks OCI, Repo and Chart.
func (s *Settings) checkURL() error {
	switch {
	case s.OCI != "" && s.Repo != "":
		return errors.New("oci and repo are both set: remove one")
	case s.OCI != "" && s.Chart != "":
		return errors.New("chart is a name in a repository, and oci is the URL of the chart itself: remove chart")
	case s.Repo != "" && s.Chart == "":
		return errors.New("chart is not set: name the chart in the repository")
	}
	at, err := url.Parse(s.OCI + s.Repo)
	if err != nil || at.Host == "" || at.User != nil || at.RawQuery+at.Fragment != "" {
		return errors.New("oci and repo take a URL without credentials, such as oci://registry.example.org/charts/blog or https://charts.example.org")
	}
	return s.checkScheme(at)
}

func (s *Settings) checkScheme(at *url.URL) error {
	if s.OCI != "" && at.Scheme != "oci" || s.Repo != "" && at.Scheme != "https" && !isOwnMachine(at) {
		return errors.New("oci and repo take a URL: oci://… for a chart in a registry, https://… for a repository")
	}
	return nil
}

// isOwnMachine reports whether a URL is plain http to this machine.
func isOwnMachine(u *url.URL) bool { return u.Scheme == "http" && httpclient.Loopback(u.Hostname()) }

// A Source is the place of one version of a chart. It is safe for concurrent use.
type Source struct {
	settings Settings
	base     *url.URL
	client   *http.Client
	mu       sync.Mutex
	// found is the SHA-256 of the archive that was last fetched; "" if there is none.
	found string
	// manifest is the digest of the manifest that was last fetched from a registry; "" if there is none.
	manifest string
	index    indexState
}

// New returns the source of a chart. The settings must have been checked.
func New(s Settings) (*Source, error) {
	base, err := url.Parse(s.OCI + s.Repo)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	trust, err := httpclient.Trust(s.CAFile)
	if err != nil {
		return nil, fmt.Errorf("chart: %w", err)
	}
	// The client of registries requests the size of a manifest while it holds an answer without one.
	const timeout, connections = 30 * time.Second, 2
	through := &guarded{httpclient.Discreet(httpclient.NewBase(trust, httpclient.Limits{Timeout: timeout, Concurrency: connections})), isOwnMachine(base) || s.OCI != "" && httpclient.Loopback(base.Hostname()), s.trusted(base), s.sends, s.steps().tokenHost}
	return &Source{settings: s, base: base, client: &http.Client{Transport: through, CheckRedirect: s.redirect}}, nil
}

// String returns the place of the chart, for addresses.
func (s *Source) String() string {
	if s.settings.Repo != "" {
		return s.base.JoinPath(s.settings.Chart).String() + "-" + s.settings.Version
	}
	if s.settings.Version == "" {
		return s.settings.OCI + "@" + s.settings.Digest
	}
	return s.settings.OCI + ":" + s.settings.Version
}

// Fetch downloads the archive, unless the cache contains it. Sources of the same repository may share its
// index; if shared is nil, the source reads its own.
func (s *Source) Fetch(ctx context.Context, shared *Index) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.settings.Cache == "" {
		return fmt.Errorf("fetch %s: there is no folder for archives: set state_dir", s)
	}
	found, err := s.fetch(ctx, shared)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", s, err)
	}
	s.found = found
	s.prune()
	return nil
}

func (s *Source) fetch(ctx context.Context, shared *Index) (digest string, err error) {
	if s.settings.Repo != "" {
		return s.fromRepository(ctx, shared)
	}
	return s.fromRegistry(ctx)
}

// Archive returns the archive that was last fetched.
func (s *Source) Archive() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.cached(s.found)
	if !ok {
		return nil, fmt.Errorf("the archive of %s is no longer in the cache: the next reading fetches it", s)
	}
	return data, nil
}

// Digest returns the SHA-256 of the archive that was last fetched; "" if there is none.
func (s *Source) Digest() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found
}

// Manifest returns the digest of the manifest that was last fetched from a registry, "sha256:…".
func (s *Source) Manifest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.manifest
}

// want returns the SHA-256 in the setting digest; "" if it is not set.
func (s *Source) want() string { return strings.TrimPrefix(s.settings.Digest, "sha256:") }

// password returns the password, or "" if none is set.
func (s *Source) password() (string, error) {
	if s.settings.PasswordFile == "" {
		return "", nil
	}
	return credential.Read(s.settings.PasswordFile)
}
