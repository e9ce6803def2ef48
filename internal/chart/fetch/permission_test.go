package fetch_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/chart/fetch"
)

// permit returns the permission for URLs.
func permit(t *testing.T, prefixes ...string) fetch.Permission {
	t.Helper()
	p, err := fetch.ParsePermission(prefixes)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestPermissionTexts names what is wrong with an entry, without showing it.
func TestPermissionTexts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://u:s3cr3t@charts.example.org": "has credentials", "charts.example.org": "has no host", "http://charts.example.org": "is neither https nor oci",
		"https://charts.example.org?token=s3cr3t": "has parameters", "https://charts.example.org/*": "is a pattern", "https://*.example.org": "is a pattern",
		"https://charts.example.org/a/../b": "has a path with encoded characters or steps upwards", "https://[": "is no URL",
	} {
		_, err := fetch.ParsePermission([]string{"https://charts.example.org", text})
		if err == nil || !strings.HasPrefix(err.Error(), "entry 2 "+want+": want a URL such as ") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if _, err := fetch.ParsePermission([]string{"https://[2001:db8::1]:8443/charts"}); err != nil {
		t.Error(err)
	}
}

// TestPermission matches schemes, hosts and whole segments of paths.
func TestPermission(t *testing.T) {
	t.Parallel()
	p := permit(t, "https://charts.example.org/shop", "oci://registry.example.org/charts/", "https://all.example.org")
	for url, want := range map[string]bool{
		"https://charts.example.org/shop":              true,
		"https://charts.example.org/shop/":             true,
		"https://CHARTS.example.org:443/shop/a":        true,
		"https://charts.example.org/shopping":          false,
		"https://charts.example.org/":                  false,
		"https://charts.example.org:8443/shop":         false,
		"https://charts.example.org/shop/../admin":     false,
		"https://charts.example.org/shop/%2e%2e/admin": false,
		"https://charts.example.org/shop/..%2fadmin":   false,
		"https://charts.example.org/shop//a":           false,
		"https://charts.example.org@evil.example/shop": false,
		"https://u:p@charts.example.org/shop":          false,
		"https://charts.example.org.evil.example/shop": false,
		"http://charts.example.org/shop":               false,
		"oci://charts.example.org/shop":                false,
		"oci://registry.example.org/charts/blog":       true,
		"oci://registry.example.org/charts":            true,
		"oci://registry.example.org/chart":             false,
		"https://registry.example.org/charts/blog":     false,
		"https://all.example.org":                      true,
		"https://all.example.org/any/a-1.0.0%2Bx.tgz":  true,
		"https://all.example.org\\@evil.example/a":     false,
		"file:///etc/passwd":                           false,
		"":                                             false,
	} {
		if got := p.Allows(url); got != want {
			t.Errorf("%s: %t, want %t", url, got, want)
		}
	}
	if fetch.Permission(nil).Allows("https://charts.example.org") {
		t.Error("an empty permission allows a URL")
	}
	for _, bad := range []string{"", "charts.example.org", "http://charts.example.org", "https://u:p@charts.example.org", "https://charts.example.org?a=b", "git://charts.example.org", "https://charts.example.org/../a"} {
		if _, err := fetch.ParsePermission([]string{bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// TestWithin sends no request to a host that is not permitted, wherever a server leads.
func TestWithin(t *testing.T) {
	t.Parallel()
	for _, oci := range []bool{true, false} {
		other := strange(t)
		s := start(t)
		settings := s.settings(t, oci)
		allowed := permit(t, settings.OCI+settings.Repo)
		settings.Within = &allowed
		if _, got, err := read(t, settings); err != nil || got != archive {
			t.Errorf("oci %t: %q, %v", oci, got, err)
		}
		inner := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" && r.URL.Path != "/token" {
				http.Redirect(w, r, other.URL+"/hop", http.StatusFound)
				return
			}
			inner.ServeHTTP(w, r)
		})
		settings = s.settings(t, oci)
		settings.Within = &allowed
		if _, _, err := read(t, settings); err == nil || !strings.Contains(err.Error(), "below no URL of the setting charts") || len(other.seen) > 0 {
			t.Errorf("oci %t: %v, %q", oci, err, other.seen)
		}
	}
	t.Run("index", func(t *testing.T) {
		t.Parallel()
		other, s := strange(t), start(t)
		settings := s.settings(t, false)
		allowed := permit(t, settings.Repo)
		settings.Within, s.at = &allowed, other.URL+"/archive"
		if _, _, err := read(t, settings); err == nil || len(other.seen) > 0 {
			t.Errorf("%v, %q", err, other.seen)
		}
	})
	t.Run("realm", func(t *testing.T) {
		t.Parallel()
		other, s := strange(t), start(t)
		s.realm = other.URL + "/token"
		settings := s.settings(t, true)
		settings.Username, settings.PasswordFile = "", ""
		allowed := permit(t, settings.OCI)
		settings.Within = &allowed
		if _, _, err := read(t, settings); err == nil || len(other.seen) > 0 {
			t.Errorf("%v, %q", err, other.seen)
		}
	})
}

// TestNextSteps names no settings in errors on charts that objects in git name, because there are none for them.
func TestNextSteps(t *testing.T) {
	t.Parallel()
	for _, oci := range []bool{true, false} {
		s := start(t)
		settings := s.settings(t, oci)
		allowed := permit(t, settings.OCI+settings.Repo)
		settings.Within, settings.Username, settings.PasswordFile = &allowed, "", ""
		if _, _, err := read(t, settings); err == nil || !strings.Contains(err.Error(), "401 Unauthorized: no password is sent to a URL in git: declare the release with the type helm") {
			t.Errorf("oci %t: %v", oci, err)
		}
	}
	settings := plain("https://charts.invalid", "blog.tgz", t.TempDir())
	allowed := permit(t, settings.Repo)
	settings.Within = &allowed
	if _, _, err := read(t, settings); err == nil || strings.Contains(err.Error(), "oci or repo") {
		t.Error(err)
	}
}
