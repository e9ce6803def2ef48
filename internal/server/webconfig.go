package server

import (
	"fmt"
	"net/http"
	"os"
	"regexp"

	"github.com/prometheus/exporter-toolkit/web"
	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/access"
)

// CheckWebConfig returns an error if a file that configures TLS and passwords is invalid. Its format is
// that of Prometheus exporters. For "", CheckWebConfig returns nil.
func CheckWebConfig(file string) error {
	if err := web.Validate(file); err != nil {
		// The parser's quotations may contain a password.
		text := regexp.MustCompile("`[^`]*`").ReplaceAllString(err.Error(), "`…`")
		return fmt.Errorf("read web_config_file %s: %s", file, text)
	}
	return nil
}

// Vouched returns a function that returns the visitor whom a server with this web configuration file has
// authenticated: the user of a password, or the common name of a client certificate. Like the server, the
// function reads the file at each request. Vouched returns nil for "".
func Vouched(file string) func(*http.Request) (string, access.Via) {
	if file == "" {
		return nil
	}
	return func(r *http.Request) (string, access.Via) {
		if name, _, ok := r.BasicAuth(); ok && hasUser(file, name) {
			return name, access.Password
		}
		if r.TLS != nil && len(r.TLS.VerifiedChains) > 0 {
			return r.TLS.VerifiedChains[0][0].Subject.CommonName, access.Certificate
		}
		return "", ""
	}
}

// hasUser reports whether the file has a password for the user; false if it cannot be read.
func hasUser(file, name string) bool {
	content, err := os.ReadFile(file)
	if err != nil {
		return false
	}
	var said struct {
		Users map[string]any `yaml:"basic_auth_users"`
	}
	if err := yaml.Unmarshal(content, &said); err != nil {
		return false
	}
	_, ok := said.Users[name]
	return ok
}
