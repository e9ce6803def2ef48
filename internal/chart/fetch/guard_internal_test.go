package fetch

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
)

func parsed(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestRedirectHosts keeps the credentials for the scheme, host and port of the first request only.
func TestRedirectHosts(t *testing.T) {
	t.Parallel()
	for to, kept := range map[string]bool{
		"https://charts.example.org/other":       true,
		"https://evil.charts.example.org/other":  false,
		"https://charts.example.org:8443/other":  false,
		"http://charts.example.org/other":        false,
		"https://charts.example.org.example.net": false,
	} {
		r := &http.Request{URL: parsed(t, to), Header: http.Header{"Authorization": {"Basic x"}}}
		first := &http.Request{URL: parsed(t, "https://charts.example.org/index.yaml")}
		if err := (&Settings{}).redirect(r, []*http.Request{first, r}); err != nil || (r.Header.Get("Authorization") != "") != kept {
			t.Errorf("%s: %v, %v", to, r.Header, err)
		}
	}
}

// TestTrusted allows the hosts that get the password.
func TestTrusted(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		settings Settings
		to       string
		want     bool
	}{
		{Settings{OCI: "oci://r.example.org/a"}, "https://R.example.org:443/token", true},
		{Settings{OCI: "oci://r.example.org/a"}, "https://r.example.org:8443/token", false},
		{Settings{OCI: "oci://r.example.org/a"}, "https://auth.docker.io/token", false},
		{Settings{OCI: "oci://r.example.org/a"}, "https://auth.example.org/token", false},
		{Settings{OCI: "oci://r.example.org/a", TokenHost: "auth.example.org"}, "https://auth.example.org/token", true},
		{Settings{OCI: "oci://r.example.org/a", TokenHost: "auth.example.org"}, "https://auth.example.org:5001/token", false},
		{Settings{OCI: "oci://docker.io/a"}, "https://registry-1.docker.io/v2/", true},
		{Settings{OCI: "oci://registry-1.docker.io/a"}, "https://auth.docker.io/token", true},
		{Settings{OCI: "oci://docker.io/a"}, "https://auth.docker.io/token", true},
		{Settings{OCI: "oci://127.0.0.1/a"}, "http://127.0.0.1/token", true},
		{Settings{Repo: "https://docker.io"}, "https://auth.docker.io/token", false},
	} {
		hosts := tc.settings.trusted(parsed(t, tc.settings.OCI+tc.settings.Repo))
		if got := slices.Contains(hosts, hostOf(parsed(t, tc.to))); got != tc.want {
			t.Errorf("%+v, %s: %t", tc.settings, tc.to, got)
		}
	}
}
