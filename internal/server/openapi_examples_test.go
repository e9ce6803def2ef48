package server

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const apiPage = "../../docs/api.md"

// blocks returns the code blocks of a language.
func blocks(t *testing.T, language string) []string {
	t.Helper()
	text, err := os.ReadFile(apiPage)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, found := range regexp.MustCompile("(?s)```"+language+"\n(.*?)```").FindAllStringSubmatch(string(text), -1) {
		all = append(all, found[1])
	}
	if len(all) == 0 {
		t.Fatalf("%s has no example in %s", apiPage, language)
	}
	return all
}

// TestExamplesWork sends the requests of the API's documentation to a real server.
func TestExamplesWork(t *testing.T) {
	t.Parallel()
	c := newContract(t)
	o := Options{API: rich(t), Pages: http.NotFoundHandler(), Listen: "127.0.0.1:0", Socket: filepath.Join(t.TempDir(), "s"), Log: quiet()}
	o.API.Gate = passwords(t)
	addresses := serve(t, o)
	env := map[string]string{}
	var ran int
	for _, block := range blocks(t, "sh") {
		for line := range strings.Lines(strings.ReplaceAll(block, "\\\n", " ")) {
			words := words(t, line, env)
			if name, value, ok := strings.Cut(words[0], "="); ok && len(words) == 1 {
				env[name] = value
				continue
			}
			ran++
			request := curl(t, words, strings.Replace(env["DRIFTD"], "https://driftd.example.org", "http://"+addresses[1].String(), 1))
			request.socket = o.Socket
			c.example(t, request)
		}
	}
	if ran < 10 {
		t.Errorf("%d examples were run", ran)
	}
}

// words splits a line into words as a shell does, without expansions.
func words(t *testing.T, line string, env map[string]string) []string {
	t.Helper()
	var all []string
	for _, part := range regexp.MustCompile(`'[^']*'|"[^"]*"|[^\s'"]+`).FindAllString(line, -1) {
		switch part[0] {
		case '\'':
			part = part[1 : len(part)-1]
		case '"':
			part = os.Expand(part[1:len(part)-1], func(name string) string { return env[name] })
		}
		all = append(all, part)
	}
	if len(all) == 0 {
		t.Fatalf("%s: %q is no command", apiPage, line)
	}
	return all
}

// A curled is a request as curl would send it.
type curled struct {
	method, url, body, user, socket string
	overSocket                      bool
	header                          http.Header
}

// curl parses the options of curl that the page uses; base is the server's address.
func curl(t *testing.T, words []string, base string) curled {
	t.Helper()
	c := curled{method: http.MethodGet, header: http.Header{}}
	if words[0] != "curl" || words[1] != "-s" {
		t.Fatalf("%s: %q is no `curl -s`", apiPage, words)
	}
	for i := 2; i < len(words); i++ {
		value := func() string { i++; return words[i] }
		switch words[i] {
		case "-u":
			c.user = value()
		case "-X":
			c.method = value()
		case "-d":
			c.body = value()
		case "-H":
			name, text, _ := strings.Cut(value(), ": ")
			c.header.Set(name, text)
		case "--unix-socket":
			_, c.overSocket = value(), true
		default:
			c.url = strings.Replace(words[i], "https://driftd.example.org", base, 1)
		}
	}
	return c
}

// example sends a request, which must succeed, and validates it against the document.
func (c *contract) example(t *testing.T, q curled) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), q.method, q.url, strings.NewReader(q.body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = q.header
	if name, password, ok := strings.Cut(q.user, ":"); ok {
		r.SetBasicAuth(name, password)
	}
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	if q.overSocket {
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", q.socket)
		}
	}
	answer, err := (&http.Client{Transport: transport}).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	body := read(t, answer)
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s: %s %s = %d %s", apiPage, q.method, q.url, answer.StatusCode, body)
	}
	c.hold(t, r, exchange{reason: "the page says so", method: q.method, target: r.URL.RequestURI(), body: q.body}, answer, body)
}

// TestPageAboutTheAPI verifies the other statements of the page.
func TestPageAboutTheAPI(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(apiPage)
	if err != nil {
		t.Fatal(err)
	}
	o := newOutline(t)
	for path, item := range o.at([]string{"paths"}) {
		if path == "/api/v1/openapi.yaml" {
			continue // the page describes it in its first lines
		}
		row := regexp.MustCompile(`(?m)^\| .*` + regexp.QuoteMeta(path) + `[?\x60].*\|$`).FindString(string(text))
		for method := range item.(map[string]any) {
			if !strings.Contains(row, strings.ToUpper(method)) {
				t.Errorf("%s does not list %s %s", apiPage, strings.ToUpper(method), path)
			}
		}
	}
	status, body := get(t, rich(t).Handler(), http.MethodGet, "/api/v1/report?source=prd")
	if !slices.Contains(blocks(t, "json"), body) {
		t.Errorf("%s shows no such error: %d %s", apiPage, status, body)
	}
}
