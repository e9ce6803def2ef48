package links_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/links"
)

func TestFill(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		template string
		values   map[string]string
		want     string
	}{
		"path":                {"https://horizon.example.org/project/instances/{id}/", map[string]string{"id": "a b/c"}, "https://horizon.example.org/project/instances/a%20b%2Fc/"},
		"query":               {"https://cd.example.org/applications?search={name}&n={namespace}", map[string]string{"name": "a&b=c#d", "namespace": "shop"}, "https://cd.example.org/applications?search=a%26b%3Dc%23d&n=shop"},
		"query in a fragment": {"https://x.example.org/#/search?name={name}&n={namespace}", map[string]string{"name": "a&n=evil b", "namespace": "shop"}, "https://x.example.org/#/search?name=a%26n%3Devil%20b&n=shop"},
		"fragment":            {"https://pve.example.org/#v1:0:={kind}%2F{id}", map[string]string{"kind": "qemu", "id": "1#2"}, "https://pve.example.org/#v1:0:=qemu%2F1%232"},
		"no value":            {"https://x.example.org/{id}/{name}", map[string]string{"id": "1"}, ""},
		"a parent":            {"https://x.example.org/a/{id}", map[string]string{"id": ".."}, ""},
		"a parent in a query": {"https://x.example.org/a?b={id}", map[string]string{"id": ".."}, "https://x.example.org/a?b=.."},
		"a line break":        {"https://x.example.org/{id}", map[string]string{"id": "a\nb"}, ""},
		"a file":              {"https://git.example.org/shop/src/commit/{commit}/{path}#L{line}", map[string]string{"commit": commit, "path": "a/b c.yaml", "line": "3"}, "https://git.example.org/shop/src/commit/" + commit + "/a/b%20c.yaml#L3"},
		"a file above":        {"https://git.example.org/{path}", map[string]string{"path": "a/../../b"}, ""},
		"nothing to fill":     {"https://x.example.org/", nil, "https://x.example.org/"},
	} {
		names := append(links.OfResource(), links.OfDeclaration()...)
		got, err := links.Parse(tc.template, names)
		if err != nil || got.Fill(tc.values) != tc.want {
			t.Errorf("%s: %q, %v, want %q", name, got.Fill(tc.values), err, tc.want)
		}
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                 "begins with https:// and a host",
		"javascript:alert({id})":           "begins with https:// and a host",
		"https:///x":                       "begins with https:// and a host",
		"https://{id}.example.org/":        "must follow the host",
		"https://{id}@example.org/":        "user name or a password",
		"https://a:b@example.org/{id}":     "user name or a password",
		"https://x.example.org/{resource}": "unknown placeholder {resource}: want {id}, {kind}, {name}, {namespace}",
		"https://x.example.org/{id":        "a brace without its counterpart",
		"https://x.example.org/%zz":        "want an address such as",
		"https://x.example.org/a b\"<{id}": "must be escaped",
	} {
		if _, err := links.Parse(text, links.OfResource()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// FuzzFill fills a template with any values: the address stays on the host and below the path.
func FuzzFill(f *testing.F) {
	for _, id := range []string{"1", "../x", "%2e%2e", "a\\b", "?x", "\x00", "//evil.example/"} {
		f.Add(id, id)
	}
	template, err := links.Parse("https://x.example.org/a/{id}/b?n={name}", links.OfResource())
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, id, name string) {
		address := template.Fill(map[string]string{"id": id, "name": name})
		if address == "" {
			return
		}
		u, err := url.Parse(address)
		if err != nil || u.Host != "x.example.org" || strings.Count(u.EscapedPath(), "/") != 3 || u.Fragment != "" || len(u.Query()) != 1 || u.Query().Get("n") != name {
			t.Errorf("%q and %q become %s: %v", id, name, address, err)
		}
	})
}
