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
	var entries []fetch.Entry
	for _, prefix := range prefixes {
		entries = append(entries, fetch.Entry{URL: prefix})
	}
	p, err := fetch.NewPermission(entries)
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
		"https://charts.example.org/a/../b": "has a path with encoded characters or steps upwards", "https://[": "is no URL: want one such as https://charts.example.org",
	} {
		_, err := fetch.NewPermission([]fetch.Entry{{URL: "https://charts.example.org"}, {URL: text}})
		if err == nil || !strings.HasPrefix(err.Error(), "entry 2 "+want) || !strings.Contains(err.Error(), "which permits all below it") || strings.Contains(err.Error(), "s3cr3t") {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	permit(t, "https://[2001:db8::1]:8443/charts", "https://charts.example.org", "https://CHARTS.example.org/")
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
		if _, err := fetch.NewPermission([]fetch.Entry{{URL: bad}}); err == nil {
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
		if _, _, err := read(t, settings); err == nil || !strings.Contains(err.Error(), "401 Unauthorized: if a password is needed, set username and password_file of the entry in the setting charts") {
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

// TestEntries names what is wrong with the credentials of an entry.
func TestEntries(t *testing.T) {
	t.Parallel()
	const repo, registry = "https://charts.example.org", "oci://registry.example.org"
	for _, tc := range []struct {
		entries []fetch.Entry
		want    string
	}{
		{[]fetch.Entry{{URL: repo, Username: "a", PasswordFile: "b", CAFile: "c"}, {URL: repo + "/shop"}}, ""},
		{[]fetch.Entry{{URL: registry, Username: "a", PasswordFile: "b", TokenHost: "auth.example.org:5001"}}, ""},
		{[]fetch.Entry{{URL: repo, Username: "a"}}, "entry 1 has one of username and password_file"},
		{[]fetch.Entry{{URL: repo}, {URL: repo + "/a", PasswordFile: "b"}}, "entry 2 has one of username and password_file"},
		{[]fetch.Entry{{URL: repo, Username: "a", PasswordFile: "b", TokenHost: "auth.example.org"}}, "entry 1 has token_host, which is for oci"},
		{[]fetch.Entry{{URL: registry, TokenHost: "auth.example.org"}}, "entry 1 has token_host, which is for oci with username"},
		{[]fetch.Entry{{URL: registry, Username: "a", PasswordFile: "b", TokenHost: "https://auth.example.org"}}, "is not the name of a host"},
		{[]fetch.Entry{{URL: repo}, {URL: repo + ":443/", Username: "a", PasswordFile: "b"}}, "entry 2 has the URL of another one"},
		{[]fetch.Entry{{URL: repo, Username: "a", PasswordFile: "b"}, {URL: repo + "/", Username: "a", PasswordFile: "b"}}, ""},
	} {
		_, err := fetch.NewPermission(tc.entries)
		if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%v: %v, want %q", tc.entries, err, tc.want)
		}
	}
}

// TestCredentialsOfEntries takes the credentials of the entry with the longest path.
func TestCredentialsOfEntries(t *testing.T) {
	t.Parallel()
	p, err := fetch.NewPermission([]fetch.Entry{
		{URL: "https://charts.example.org", Username: "all", PasswordFile: "all"},
		{URL: "https://charts.example.org/shop/", Username: "shop", PasswordFile: "shop", CAFile: "ca"},
		{URL: "https://charts.example.org/shop/open"},
		{URL: "oci://registry.example.org/charts", Username: "robot", PasswordFile: "robot", TokenHost: "auth.example.org"},
	})
	if err != nil {
		t.Fatal(err)
	}
	for url, want := range map[string]string{
		"https://charts.example.org": "all", "https://charts.example.org/shopping": "all", "https://charts.example.org/shop": "shop",
		"https://charts.example.org/shop/a": "shop", "https://charts.example.org/shop/open/a": "", "https://other.example.org/shop": "",
		"https://charts.example.org:8443/shop": "", "https://registry.example.org/charts": "",
	} {
		if got := p.With(fetch.Settings{Repo: url}); got.Username != want || got.PasswordFile != want || (got.CAFile != "") != (want == "shop") || got.Within == nil {
			t.Errorf("%s: %+v", url, got)
		}
	}
	if got := p.With(fetch.Settings{OCI: "oci://registry.example.org/charts/blog"}); got.Username != "robot" || got.TokenHost != "auth.example.org" {
		t.Errorf("%+v", got)
	}
}

// withEntries starts a server, and returns the settings for its chart, with the password in the entry for the server.
func withEntries(t *testing.T, oci bool, more ...fetch.Entry) (*server, fetch.Settings) {
	t.Helper()
	s := start(t)
	settings := s.settings(t, oci)
	own := fetch.Entry{URL: settings.OCI + settings.Repo, Username: settings.Username, PasswordFile: settings.PasswordFile}
	for i := range more {
		more[i].URL = s.URL + more[i].URL
	}
	p, err := fetch.NewPermission(append(more, own))
	if err != nil {
		t.Fatal(err)
	}
	settings.Username, settings.PasswordFile = "", ""
	return s, p.With(settings)
}

// TestPasswordOfEntry sends the password to the URLs of its entry, and not to those of another one on the same host.
func TestPasswordOfEntry(t *testing.T) {
	t.Parallel()
	for _, oci := range []bool{true, false} {
		s, settings := withEntries(t, oci)
		if _, got, err := read(t, settings); err != nil || got != archive {
			t.Errorf("oci %t: %q, %v, %q", oci, got, err, s.requests)
		}
	}
	for name, lead := range map[string]func(*server){
		"index": func(s *server) { s.at = s.URL + "/elsewhere" },
		"redirect": func(s *server) {
			inner := s.Config.Handler
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/charts/blog-1.0.0.tgz" {
					http.Redirect(w, r, "/elsewhere", http.StatusFound)
					return
				}
				inner.ServeHTTP(w, r)
			})
		},
	} {
		// The server has the archive there only for requests without a password.
		s, settings := withEntries(t, false, fetch.Entry{URL: "/elsewhere"})
		lead(s)
		if _, got, err := read(t, settings); err != nil || got != archive {
			t.Errorf("%s: %q, %v, %q", name, got, err, s.requests)
		}
		s, settings = withEntries(t, false)
		lead(s)
		if _, got, err := read(t, settings); err == nil {
			t.Errorf("%s: the password is not sent below its own entry: %q", name, got)
		}
	}
}

// TestPasswordOfEntryElsewhere sends no password to another host, though an entry permits it.
func TestPasswordOfEntryElsewhere(t *testing.T) {
	t.Parallel()
	for _, oci := range []bool{true, false} {
		other := strange(t)
		s := start(t)
		settings := s.settings(t, oci)
		scheme := "http"
		if oci {
			s.realm, scheme = other.URL+"/token", "oci"
		} else {
			s.at = other.URL + "/archive"
		}
		p, err := fetch.NewPermission([]fetch.Entry{
			{URL: settings.OCI + settings.Repo, Username: settings.Username, PasswordFile: settings.PasswordFile},
			{URL: strings.Replace(other.URL, "http", scheme, 1), Username: "other", PasswordFile: settings.PasswordFile},
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := read(t, p.With(settings)); err == nil {
			t.Errorf("oci %t: the archive was fetched", oci)
		}
		for _, seen := range other.seen {
			if strings.Contains(seen, "Basic") {
				t.Errorf("oci %t: another host has got %q", oci, seen)
			}
		}
	}
}

// TestRefusedPasswordOfEntry names the settings of the entry.
func TestRefusedPasswordOfEntry(t *testing.T) {
	t.Parallel()
	for _, oci := range []bool{true, false} {
		_, settings := withEntries(t, oci)
		settings.Username = "other"
		if _, _, err := read(t, settings); err == nil || !strings.Contains(err.Error(), "401 Unauthorized: check username and password_file of the entry in the setting charts") {
			t.Errorf("oci %t: %v", oci, err)
		}
	}
	s, settings := withEntries(t, true)
	s.realm = strange(t).URL + "/token"
	if _, _, err := read(t, settings); err == nil || !strings.Contains(err.Error(), "set token_host of the entry in the setting charts to it") {
		t.Error(err)
	}
}
