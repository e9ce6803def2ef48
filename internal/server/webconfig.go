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

// CheckWebConfig reads a file that turns on TLS and passwords, in the form
// that Prometheus' exporters share. "" is no file and no error.
func CheckWebConfig(file string) error {
	if err := web.Validate(file); err != nil {
		// What the parser quotes may be a password.
		text := regexp.MustCompile("`[^`]*`").ReplaceAllString(err.Error(), "`…`")
		return fmt.Errorf("read web_config_file %s: %s", file, text)
	}
	return nil
}

// Vouched returns what names the visitors whom a server with such a file has
// verified before it asks: the user of a password, the common name of a client's
// certificate. It reads the file at each request, as that server does.
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

// hasUser tells whether the file asks for the password of a user of that name;
// one that cannot be read does not.
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
