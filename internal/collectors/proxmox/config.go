package proxmox

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/httpclient"
)

// Config configures a proxmox source. The account is an API token (TokenID and
// TokenFile), or a user with a password (Username and PasswordFile).
type Config struct {
	// URL is the address of a node of the cluster, such as https://pve.example.org:8006. It is
	// required.
	URL string `mapstructure:"url"`
	// TokenID is the id of an API token, user@realm!name.
	TokenID string `mapstructure:"token_id"`
	// TokenFile is the file with the token's secret.
	TokenFile string `mapstructure:"token_file" path:"true"`
	// Username is a user, user@realm, who logs in without a token.
	Username string `mapstructure:"username"`
	// PasswordFile is the file with the user's password.
	PasswordFile string `mapstructure:"password_file" path:"true"`
	// CAFile holds the authorities to trust in place of those of the system, such as a copy of
	// /etc/pve/pve-root-ca.pem of a node.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// Fingerprint is the SHA-256 digest of the server's certificate. It replaces the check of the
	// authority.
	Fingerprint string `mapstructure:"fingerprint"`
	// Concurrency is the largest number of simultaneous requests to one node.
	Concurrency int `mapstructure:"concurrency"`
	// Rate is the largest number of requests per second; 0 for no limit.
	Rate float64 `mapstructure:"rate"`
	// Timeout is the time limit of a request, including its answer.
	Timeout time.Duration `mapstructure:"timeout"`
	// MaxBody is the size limit of an answer, in bytes.
	MaxBody int64 `mapstructure:"max_body"`
	// ExcludeKinds are patterns of kinds that are not read ("firewall_*").
	ExcludeKinds []string `mapstructure:"exclude_kinds"`
	// GuestAgent enables a query for the IP addresses of each running guest, with one more request
	// for each.
	GuestAgent bool `mapstructure:"guest_agent"`
	// LogSince is the age of the oldest log entries to read; 0 disables the logs, and all authors
	// are unknown.
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
	c.URL = strings.TrimSuffix(strings.TrimSuffix(strings.TrimRight(c.URL, "/"), apiPath), "/")
	c.Fingerprint = strings.ToLower(strings.ReplaceAll(c.Fingerprint, ":", ""))
	return c, errors.Join(c.checkURL(), c.checkAccount(), c.checkTrust(), c.checkLimits())
}

func (c Config) checkURL() error {
	if c.URL == "" {
		return errors.New("setting url is missing: set the address of a node, such as https://pve.example.org:8006")
	}
	u, err := url.Parse(c.URL)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http":
		return errors.New("setting url is not a URL: want one such as https://pve.example.org:8006")
	case u.User != nil:
		return errors.New("setting url must not hold credentials: use token_id and token_file")
	case u.Scheme == "http" && !httpclient.Loopback(u.Hostname()):
		return errors.New("setting url must begin with https://: an API token must not be sent unencrypted")
	}
	return nil
}

func (c Config) checkAccount() error {
	token, password := c.TokenID+c.TokenFile != "", c.Username+c.PasswordFile != ""
	switch {
	case token && password:
		return errors.New("settings token_id and username exclude each other: keep one, with its file")
	case !token && !password:
		return errors.New("setting token_id is missing: set it and token_file, or username and password_file; docs/proxmox.md describes how to create a token")
	case token && c.TokenFile == "":
		return errors.New("setting token_file is missing: set the file that holds the token's secret")
	case token && strings.Contains(c.TokenID, "="):
		return errors.New("setting token_id contains the secret: want user@realm!name, such as driftd@pve!ro, and the secret in token_file")
	case token && !isTokenID(c.TokenID):
		return fmt.Errorf("setting token_id is %q: want user@realm!name, such as driftd@pve!ro", c.TokenID)
	case password && c.PasswordFile == "":
		return errors.New("setting password_file is missing: set the file that holds the user's password")
	case password && !isUserID(c.Username):
		return fmt.Errorf("setting username is %q: want user@realm, such as driftd@pve", c.Username)
	}
	return nil
}

func isTokenID(id string) bool {
	user, name, ok := strings.Cut(id, "!")
	return ok && name != "" && !strings.ContainsAny(name, "!= ") && isUserID(user)
}

func isUserID(id string) bool {
	at := strings.LastIndex(id, "@")
	return at > 0 && at < len(id)-1 && !strings.ContainsAny(id, " !=:")
}

func (c Config) checkTrust() error {
	if c.Fingerprint == "" {
		return nil
	}
	if c.CAFile != "" {
		return errors.New("settings ca_file and fingerprint exclude each other: keep one")
	}
	if sum, err := hex.DecodeString(c.Fingerprint); err != nil || len(sum) != 32 {
		return errors.New("setting fingerprint is not a SHA-256 digest: copy it from the node's certificate (pvenode cert info), such as 82:8C:68:…")
	}
	return nil
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
func (c Config) account() string {
	if c.TokenID != "" {
		return c.TokenID
	}
	return c.Username
}
