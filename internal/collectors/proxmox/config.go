package proxmox

import (
	"errors"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/pveapi"
)

// Config configures a proxmox source. The account is an API token (TokenID and TokenFile) or a user
// with a password (Username and PasswordFile).
type Config struct {
	// URL is the address of a node of the cluster, such as https://pve.example.org:8006. It is
	// required.
	URL string `mapstructure:"url"`
	// TokenID is the ID of an API token, user@realm!name.
	TokenID string `mapstructure:"token_id"`
	// TokenFile is the file with the token's secret.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Username is a user, user@realm, who logs in without a token.
	Username string `mapstructure:"username"`
	// PasswordFile is the file with the user's password.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// CAFile is a file with the certificate authorities to trust instead of those of the system,
	// such as a copy of /etc/pve/pve-root-ca.pem of a node.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Fingerprint is the SHA-256 digest of the server's certificate. It replaces the check of the
	// certificate authority.
	Fingerprint string `mapstructure:"fingerprint"`
	// Concurrency is the maximum number of concurrent requests to one node.
	Concurrency int `mapstructure:"concurrency"`
	// Rate is the maximum number of requests per second; 0 for no limit.
	Rate float64 `mapstructure:"rate"`
	// Timeout is the time limit of a request, including its response.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody is the size limit of a response, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
	// ExcludeKinds are patterns of kinds that are not read ("firewall_*").
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// GuestAgent enables a query for the IP addresses of each running guest, with one additional
	// request for each.
	GuestAgent bool `mapstructure:"guest_agent"`
	// LogSince is the maximum age of log entries to read; 0 disables reading the logs, so that all
	// authors are unknown.
	LogSince time.Duration `mapstructure:"log_since"`
}

// Defaults returns the default settings.
func Defaults() Config {
	return Config{
		Concurrency: 4,
		Timeout:     30 * time.Second,
		MaxBody:     64 << 20,
		LogSince:    90 * 24 * time.Hour,
	}
}

// complete checks the settings and normalizes the address and the fingerprint.
func (c Config) complete() (Config, error) {
	access, err := c.Access().Complete()
	c.URL, c.Fingerprint = access.URL, access.Fingerprint
	return c, errors.Join(err, c.checkLimits())
}

// Access returns the settings of the connection.
func (c Config) Access() pveapi.Access {
	return pveapi.Access{URL: c.URL, CAFile: c.CAFile, Fingerprint: c.Fingerprint,
		Account: pveapi.Account{TokenID: c.TokenID, TokenFile: c.TokenFile, Username: c.Username, PasswordFile: c.PasswordFile}}
}

func (c Config) checkLimits() error {
	if err := (httpclient.Limits{Concurrency: c.Concurrency, Timeout: c.Timeout, MaxBody: c.MaxBody}).Check(); err != nil {
		return err
	}
	if c.Rate < 0 || c.LogSince < 0 {
		return errors.New("settings rate and log_since must not be below 0; 0 switches them off")
	}
	return collectors.CheckPatterns(c.ExcludeKinds, "backup_job or firewall_*")
}

// limits returns the limits of the requests. backoff is the pause before the second attempt.
// Concurrency, which is per node, is enforced by the callers.
func (c Config) limits(backoff time.Duration) httpclient.Limits {
	return httpclient.Limits{Concurrency: maxRequests, Rate: c.Rate, Timeout: c.Timeout, MaxBody: c.MaxBody, Backoff: backoff}
}

// excludes reports whether a kind is excluded.
func (c Config) excludes(kind string) bool { return collectors.Excludes(c.ExcludeKinds, kind) }

// account returns the name of the account in the notation of Proxmox VE.
func (c Config) account() string { return c.Access().Name() }
