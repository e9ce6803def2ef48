// Package fetch downloads charts from OCI registries and from repositories of charts.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
)

// Settings name one version of a chart.
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
	// CAFile has the authorities to trust instead of the system's; "" for the system's.
	CAFile string
	// Cache is a folder for archives, and Limit bounds an archive, in bytes.
	Cache string
	Limit int64
	// Index reads the entry of the chart in the index of a repository.
	Index func(ctx context.Context, index []byte) (Entry, error)
}

// An Entry is a version of a chart in the index of a repository.
type Entry struct {
	// URLs are where the archive is; relative ones are below the repository. Digest is the SHA-256 of
	// the archive in hexadecimal digits; "" if the index lacks it.
	URLs   []string
	Digest string
}

// exact matches one version: https://semver.org.
var exact = regexp.MustCompile(`^v?(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)\.(?:0|[1-9][0-9]*)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$`)

// pinned matches a digest.
var pinned = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Check returns an error if the settings name no single version of a chart.
func (s *Settings) Check() error {
	if err := s.checkURL(); err != nil {
		return err
	}
	switch {
	case s.Version == "":
		return errors.New("version is not set: name the version of the chart")
	case !exact.MatchString(s.Version):
		return fmt.Errorf("version %q is not an exact version: ranges such as ^1.2.0 or 1.x are not resolved; name one as 1.2.3", s.Version)
	case s.Digest != "" && !pinned.MatchString(s.Digest):
		return fmt.Errorf("digest %q is not a digest: want sha256: and 64 hexadecimal digits", s.Digest)
	case (s.Username == "") != (s.PasswordFile == ""):
		return errors.New("chart_username and chart_password_file belong together: set both or none")
	}
	return nil
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
	index indexState
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
	const timeout, redirects = 30 * time.Second, 5
	through := &guarded{httpclient.Discreet(httpclient.NewBase(trust, httpclient.Limits{Timeout: timeout, Concurrency: 1})), isOwnMachine(base) || s.OCI != "" && httpclient.Loopback(base.Hostname())}
	return &Source{settings: s, base: base, client: &http.Client{Transport: through, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > redirects {
			return errors.New("too many redirects")
		}
		return nil
	}}}, nil
}

// guarded refuses requests without TLS, unless own allows them to this machine.
type guarded struct {
	next http.RoundTripper
	own  bool
}

var errPlain = errors.New("an address without https, to which driftd sends no request")

// RoundTrip implements http.RoundTripper.
func (g *guarded) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != "https" && !(g.own && isOwnMachine(r.URL)) {
		return nil, errPlain
	}
	return g.next.RoundTrip(r)
}

// String returns the place of the chart, for addresses.
func (s *Source) String() string {
	if s.settings.Repo != "" {
		return s.base.JoinPath(s.settings.Chart).String() + "-" + s.settings.Version
	}
	return s.settings.OCI + ":" + s.settings.Version
}

// Fetch downloads the archive, unless the cache has it.
func (s *Source) Fetch(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, err := s.fetch(ctx)
	if err != nil {
		return fmt.Errorf("fetch %s: %w", s, public(err))
	}
	s.found = found
	s.prune()
	return nil
}

// prune removes all but the last archive and its manifest from the cache. A file that remains only
// takes space.
func (s *Source) prune() {
	entries, err := os.ReadDir(s.settings.Cache)
	if err != nil {
		return
	}
	for _, e := range entries {
		if file := filepath.Join(s.settings.Cache, e.Name()); file != s.file(s.found) && file != s.file(s.want()) {
			_ = os.Remove(file)
		}
	}
}

func (s *Source) fetch(ctx context.Context) (digest string, err error) {
	if s.settings.Repo != "" {
		return s.fromRepository(ctx)
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

// cached returns the content with a SHA-256 from the cache.
func (s *Source) cached(digest string) ([]byte, bool) {
	if !pinned.MatchString("sha256:" + digest) {
		return nil, false
	}
	data, err := bounded.ReadRegular(s.file(digest), max(s.settings.Limit, maxManifest))
	return data, err == nil && sumOf(data) == digest
}

// keep adds content to the cache.
func (s *Source) keep(data []byte) (digest string, err error) {
	digest = sumOf(data)
	if err := os.MkdirAll(s.settings.Cache, 0o700); err != nil {
		return "", fmt.Errorf("cache the chart: %w", err)
	}
	made, err := os.CreateTemp(s.settings.Cache, "chart-*.new")
	if err != nil {
		return "", fmt.Errorf("cache the chart: %w", err)
	}
	_, err = made.Write(data)
	if err = errors.Join(err, made.Close()); err == nil {
		err = os.Rename(made.Name(), s.file(digest))
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("cache the chart: %w", err), os.Remove(made.Name()))
	}
	return digest, nil
}

func (s *Source) file(digest string) string {
	return filepath.Join(s.settings.Cache, "chart-"+digest)
}

func sumOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
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
