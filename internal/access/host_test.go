package access

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
)

func TestLoopbackHost(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"127.0.0.1": true, "127.0.0.1:9797": true, "127.255.0.3:1": true, "localhost": true, "LOCALHOST:80": true,
		"[::1]": true, "[::1]:9797": true, "[::ffff:127.0.0.1]:80": true, "[0:0:0:0:0:0:0:1]": true,
		"": false, ":9797": false, "::1": false, "[::1": false, "[::1]9797": false, "[127.0.0.1]": false, "[localhost]": false,
		"127.1": false, "0177.0.0.1": false, "2130706433": false, "0.0.0.0": false, "[::]": false, "10.0.0.1": false,
		"localhost.": false, "localhost.example.org": false, "a.localhost": false, "127.0.0.1.example.org": false,
		"localhost:": false, "localhost:9797:1": false, "localhost:x": false, "localhost:123456": false, "localhost@evil.example.org": false,
		"evil.example.org#localhost": false, "localhost/": false, "localhost ": false, "lоcalhost": false,
	}
	for host, want := range tests {
		if got := loopbackHost(host); got != want {
			t.Errorf("loopbackHost(%q) = %v", host, got)
		}
	}
}

func TestLocalPath(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/findings/abc", "/timeline?since=7d&q=a%20b", "/?q=//evil.example.org", "/a#b", "/?next=https://evil.example.org", "/loginlog", "/?q=ä"} {
		if got := LocalPath(path); got != path {
			t.Errorf("LocalPath(%q) = %q", path, got)
		}
	}
	for _, path := range []string{"", "findings", "//evil.example.org", "///evil.example.org", `/\evil.example.org`, `\\evil.example.org`, "https://evil.example.org", "javascript:alert(1)",
		"/\t/evil.example.org", "/\n/evil.example.org", "/%2f/evil.example.org", "/%5cevil.example.org", "/%", "/a\x00", " /", "/login", "/login?next=/login", "/login/oidc/callback?code=1", "/logout",
		"/%6cogin", "/" + strings.Repeat("a", maxPath), "/\u202e", "/\xff"} {
		if got := LocalPath(path); got != "/" {
			t.Errorf("LocalPath(%q) = %q, want /", path, got)
		}
	}
}

func TestParsePrefix(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"127.0.0.1": "127.0.0.1/32", "10.1.2.3/8": "10.0.0.0/8", "::1": "::1/128", "::ffff:10.0.0.1": "10.0.0.1/32", "::ffff:10.0.0.1/104": "10.0.0.0/8"} {
		if got, err := ParsePrefix(text); err != nil || got.String() != want {
			t.Errorf("ParsePrefix(%q) = %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "host", "10.0.0.1/33", "10.0.0", "fe80::1%eth0", "0.0.0.0/0", "::/0", "::ffff:0.0.0.0/96", "10.0.0.1:80"} {
		if got, err := ParsePrefix(text); err == nil {
			t.Errorf("ParsePrefix(%q) = %v", text, got)
		}
	}
}

func FuzzLocalPath(f *testing.F) {
	for _, seed := range []string{"/", "//a", `/\a`, "/\t/a", "/login", "/a?b=c#d", "/%2f/a", "https:a", "/:80", "/;a", "/.//a", "/..//a", "/%2f%2fe", "/a#//b", "javascript:x"} {
		f.Add(seed)
	}
	base, err := url.Parse("https://driftd.example.org/login")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, next string) {
		got := LocalPath(next)
		u, err := url.Parse(got)
		if err != nil || got[0] != '/' || strings.ContainsAny(got, "\\\r\n\t\x00") || strings.HasPrefix(got, "//") {
			t.Fatalf("LocalPath(%q) = %q, %v", next, got, err)
		}
		if there := base.ResolveReference(u); there.Host != base.Host || there.Scheme != "https" || strings.HasPrefix(there.Path, "//") {
			t.Errorf("LocalPath(%q) leads to %s", next, there)
		}
		if got != next && got != "/" || LocalPath(got) != got {
			t.Errorf("LocalPath(%q) = %q", next, got)
		}
	})
}

func FuzzLoopbackHost(f *testing.F) {
	for _, seed := range []string{"localhost", "127.0.0.1:80", "[::1]:80", "[::1%lo]", "::1", "[", "localhost:", "127.0.0.1:80:80"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, host string) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Host = host
		if !fromLoopback(r) {
			return
		}
		u, err := url.Parse("http://" + host + "/")
		if err != nil {
			t.Fatalf("%q is no host: %v", host, err)
		}
		ip, err := netip.ParseAddr(u.Hostname())
		if !strings.EqualFold(u.Hostname(), "localhost") && (err != nil || !ip.Unmap().IsLoopback()) {
			t.Errorf("%q is taken for this host", host)
		}
	})
}
