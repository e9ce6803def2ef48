package netbox

import (
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/netbox/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/netboxapi"
)

// Config configures a netbox source.
type Config struct {
	// URL is the address of NetBox, such as https://netbox.example.org. It is required.
	URL string `mapstructure:"url"`
	// TokenFile is the file with the API token, of version 1 or 2. It is required.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// CAFile is a file with the certificate authorities to trust instead of those of the system.
	// Without it, those of the system are trusted.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Concurrency is the maximum number of concurrent requests.
	Concurrency int `mapstructure:"concurrency"`
	// Rate is the maximum number of requests per second; 0 for no limit.
	Rate float64 `mapstructure:"rate"`
	// Timeout is the time limit of a request, including its response.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody is the size limit of a response, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
	// PageSize is the number of objects per request. NetBox returns 1000 at most, unless its
	// setting MAX_PAGE_SIZE differs.
	PageSize int `mapstructure:"page_size"`
	// ExcludeKinds are patterns of kinds that are not read ("users.*").
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// Changes is the maximum age of entries of the changelog to read. 0 disables reading it, so
	// that findings do not name who made a change.
	Changes time.Duration `mapstructure:"changes"`
	// MaxChanges is the maximum number of entries of the changelog to read, newest first. 0
	// disables reading it.
	MaxChanges int `mapstructure:"max_changes"`
	// Unrestricted confirms that the token's permissions have no constraints, if the token is not
	// permitted to read them.
	Unrestricted bool `mapstructure:"unrestricted"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		Concurrency: 4,
		Timeout:     time.Minute,
		MaxBody:     64 << 20,
		PageSize:    1000,
		Changes:     90 * 24 * time.Hour, // the default of NetBox's CHANGELOG_RETENTION
		MaxChanges:  20_000,
	}
}

// complete checks the settings and brings the URL into its canonical form.
func (c Config) complete() (Config, error) {
	c.URL = baseOf(c.URL)
	return c, errors.Join(c.checkURL(), c.checkToken(), c.checkLimits())
}

// baseOf returns an address without the path of the API.
func baseOf(address string) string {
	return strings.TrimRight(strings.TrimSuffix(strings.TrimRight(address, "/"), netboxapi.Path), "/")
}

func (c Config) checkURL() error {
	if c.URL == "" {
		return errors.New("setting url is missing: set the address of NetBox, such as https://netbox.example.org")
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || u.RawQuery != "" || u.Fragment != "":
		return errors.New("setting url is not an address: want one such as https://netbox.example.org")
	case u.User != nil:
		return errors.New("setting url must not hold credentials: use token_file")
	case u.Scheme == "http" && !httpclient.Loopback(u.Hostname()):
		return errors.New("setting url must begin with https://: an API token must not cross the network in the clear")
	}
	return nil
}

func (c Config) checkToken() error {
	if c.TokenFile == "" {
		return errors.New("setting token_file is missing: set the file that holds the API token; see docs/netbox.md")
	}
	return nil
}

func (c Config) checkLimits() error {
	if err := c.limits(0).Check(); err != nil {
		return err
	}
	if c.PageSize < 2 {
		return errors.New("setting page_size must be more than 1: a page begins with the last object of the one before")
	}
	if c.Rate < 0 || c.Changes < 0 || c.MaxChanges < 0 {
		return errors.New("settings rate, changes and max_changes must not be below 0; 0 switches them off")
	}
	return collectors.CheckPatterns(c.ExcludeKinds, "users.token or users.*")
}

// limits returns the limits of the requests; backoff is the pause before the second attempt.
func (c Config) limits(backoff time.Duration) httpclient.Limits {
	return httpclient.Limits{Concurrency: c.Concurrency, Rate: c.Rate, Timeout: c.Timeout, MaxBody: c.MaxBody, Backoff: backoff}
}

// excludes reports whether a kind is excluded.
func (c Config) excludes(k *normalize.Kind) bool { return collectors.Excludes(c.ExcludeKinds, k.Name) }

// logged reports whether the changelog is read.
func (c Config) logged() bool { return c.Changes > 0 && c.MaxChanges > 0 }
