package proxmox

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/collectors"
)

func TestConfigProblems(t *testing.T) {
	t.Parallel()
	good := Defaults()
	good.URL, good.TokenID, good.TokenFile = "https://pve.example.org:8006/", "driftd@pve!ro", "token"
	for _, tc := range []struct {
		reason string
		change func(*Config)
		want   string
	}{
		{"valid", func(*Config) {}, ""},
		{"the address with the path of the API", func(c *Config) { c.URL += "api2/json" }, ""},
		{"a user logs in", func(c *Config) {
			c.TokenID, c.TokenFile, c.Username, c.PasswordFile = "", "", "driftd@pve", "password"
		}, ""},
		{"a fingerprint", func(c *Config) { c.Fingerprint = strings.Repeat("AB:", 31) + "AB" }, ""},
		{"no address", func(c *Config) { c.URL = "" }, "setting url is missing"},
		{"an address without a scheme", func(c *Config) { c.URL = "pve.example.org" }, "setting url is not a URL"},
		{"an unencrypted token", func(c *Config) { c.URL = "http://pve.example.org:8006" }, "https://"},
		{"a loopback address", func(c *Config) { c.URL = "http://127.0.0.1:8006" }, ""},
		{"credentials in the address", func(c *Config) { c.URL = "https://root:secret@pve.example.org" }, "must not hold credentials"},
		{"no account", func(c *Config) { c.TokenID, c.TokenFile = "", "" }, "setting token_id is missing"},
		{"two accounts", func(c *Config) { c.Username = "a@pve" }, "exclude each other"},
		{"no secret", func(c *Config) { c.TokenFile = "" }, "setting token_file is missing"},
		{"a token without a name", func(c *Config) { c.TokenID = "driftd@pve" }, "want user@realm!name"},
		{"a token with its secret", func(c *Config) { c.TokenID = "driftd@pve!ro=0f8e" }, "setting token_id contains the secret: want user@realm!name"},
		{"a user without a realm", func(c *Config) {
			c.TokenID, c.TokenFile, c.Username, c.PasswordFile = "", "", "root", "password"
		}, "want user@realm"},
		{"a user without a password", func(c *Config) {
			c.TokenID, c.TokenFile, c.Username = "", "", "root@pam"
		}, "setting password_file is missing"},
		{"an authority and a fingerprint", func(c *Config) { c.CAFile, c.Fingerprint = "ca.pem", strings.Repeat("AB:", 31)+"AB" }, "ca_file and fingerprint exclude each other"},
		{"a SHA-1", func(c *Config) { c.Fingerprint = "AB:CD" }, "not a SHA-256"},
		{"no concurrency", func(c *Config) { c.Concurrency = 0 }, "setting concurrency"},
		{"no timeout", func(c *Config) { c.Timeout = 0 }, "setting timeout"},
		{"no size", func(c *Config) { c.MaxBody = 0 }, "setting max_body"},
		{"a negative rate", func(c *Config) { c.Rate = -1 }, "rate and log_since"},
		{"a pattern", func(c *Config) { c.ExcludeKinds = []string{"[x"} }, "exclude_kinds"},
	} {
		config := good
		tc.change(&config)
		got := ""
		if _, err := config.complete(); err != nil {
			got = err.Error()
		}
		if tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, want %q", tc.reason, got, tc.want)
		}
		if strings.Contains(got, "secret@") || strings.Contains(got, "\n") {
			t.Errorf("%s: %q", tc.reason, got)
		}
	}
}

func TestDefinition(t *testing.T) {
	t.Parallel()
	c, err := Definition().Open(collectors.Env{Name: "pve"}, func(into any) error {
		config, ok := into.(*Config)
		if !ok {
			t.Fatalf("the settings are a %T", into)
		}
		config.URL, config.TokenID, config.TokenFile = "https://pve.example.org:8006", "driftd@pve!ro", "token"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := c.(collectors.Prober); !ok {
		t.Error("the collector is not a Prober")
	}
}
