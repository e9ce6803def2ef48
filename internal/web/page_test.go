package web

import (
	"compress/gzip"
	"flag"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"

	"github.com/driftd/driftd/internal/access"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/store"
)

var update = flag.Bool("update", false, "write the golden files anew")

// golden compares a page with a file in testdata, except for the digests in names of static files.
func golden(t *testing.T, name, page string) {
	t.Helper()
	got := regexp.MustCompile(`(/static/[a-z]+)\.[0-9a-f]{12}\.`).ReplaceAllString(page, "$1.")
	file := filepath.Join("testdata", name+".html")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func calmHouse(t *testing.T) *fakeSite {
	t.Helper()
	s := emptyStore(t)
	save(t, s, store.Record{Run: calmRun()})
	return newHouse(t, s, nil)
}

func stagedHouse(t *testing.T) *fakeSite {
	t.Helper()
	return newHouse(t, filled(t), func(o *Options) { o.Stage = &stage{} })
}

func TestGoldenPages(t *testing.T) {
	t.Parallel()
	h, calm := newHouse(t, filled(t), nil), calmHouse(t)
	for name, tc := range map[string]struct {
		fakeSite *fakeSite
		target   string
	}{
		"list": {h, "/"}, "calm": {calm, "/"}, "never-scanned": {newHouse(t, emptyStore(t), nil), "/"},
		"conflict": {h, "/findings/c0ff11c7"}, "text": {h, "/findings/c0f19a9e"}, "secret": {h, "/findings/5ec7e700"},
		"disputed": {h, "/findings/d15b07ed"}, "restart": {h, "/findings/4e57a470"}, "missing": {h, "/findings/5e1f0a11"},
		"resolved": {h, "/findings/01d00000"}, "timeline": {h, "/timeline"}, "sources": {h, "/sources"}, "decisions": {h, "/decisions"}, "audit": {h, "/audit"},
		"login": {h, "/login?next=/sources"}, "stage": {stagedHouse(t), "/stage"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, tc.fakeSite.page(t, tc.target))
		})
	}
}

// targets returns all pages of a site.
func targets() []string {
	list := []string{"/", "/?q=shop&severity=high&state=open", "/?state=hidden", "/?state=accepted", "/?state=unchecked", "/?state=resolved",
		"/?like=c40d0000", "/?q=nothing+fits", "/?severity=%22%3E%3Cscript%3E&owner=%22%3E%3Cscript%3Ealert(2)%3C/script%3E",
		"/?q=%22%3E%3Cscript%3E&like=%22%3E%3Cscript%3E", "/?notice=revoked", "/timeline", "/timeline?since=24h&what=resolved",
		"/sources", "/decisions", "/audit", "/audit/1", "/login", "/login?next=%22%3E%3Cscript%3E", "/stage"}
	for _, f := range estate() {
		list = append(list, "/findings/"+f.ID)
	}
	return list
}

// TestPagesAreSound checks every page, with hostile findings, against a strict content security
// policy and the needs of screen readers.
func TestPagesAreSound(t *testing.T) {
	t.Parallel()
	h := stagedHouse(t)
	for _, target := range targets() {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			for _, role := range []access.Role{access.Viewer, access.Approver} {
				body := h.ask(t, role, http.MethodGet, target, nil).Body
				for _, secret := range []string{"hunter2", "hunter3", "hunter4", "hunter5", sealed("hunter2").String(), "\u202e", "\u200b"} {
					if strings.Contains(body, secret) {
						t.Errorf("the page shows %q", secret)
					}
				}
				sound(t, body)
			}
		})
	}
}

// sound checks the structure of a page.
func sound(t *testing.T, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	c := &checker{t: t, ids: map[string]bool{}, labels: map[string]bool{}}
	c.walk(root)
	for _, id := range c.inputs {
		if !c.labels[id] {
			t.Errorf("nothing labels the field %q", id)
		}
	}
	if c.mains != 1 || c.firsts != 1 {
		t.Errorf("%d main parts and %d first headings, want one of each", c.mains, c.firsts)
	}
}

type checker struct {
	t             *testing.T
	ids, labels   map[string]bool
	inputs        []string
	mains, firsts int
	level         int
}

func (c *checker) walk(n *html.Node) {
	if n.Type == html.ElementNode {
		c.element(n)
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		c.walk(child)
	}
}

func (c *checker) element(n *html.Node) {
	attr := map[string]string{}
	for _, a := range n.Attr {
		attr[a.Key] = a.Val
		if a.Key == "style" || strings.HasPrefix(a.Key, "on") {
			c.t.Errorf("<%s> has %s=%q", n.Data, a.Key, a.Val)
		}
		if (a.Key == "href" || a.Key == "src" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "?") &&
			!strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(a.Val, "http://localhost:9797/") && !strings.HasPrefix(a.Val, "https://git.example.org/") {
			c.t.Errorf("<%s> leads to %q", n.Data, a.Val)
		}
	}
	if id, ok := attr["id"]; ok {
		if c.ids[id] || id == "" {
			c.t.Errorf("id %q is there twice", id)
		}
		c.ids[id] = true
	}
	switch n.Data {
	case "script":
		if n.FirstChild != nil || attr["src"] == "" {
			c.t.Error("a script stands in the page")
		}
	case "style", "iframe", "object", "base", "img":
		c.t.Errorf("<%s> is on the page", n.Data)
	case "main":
		c.mains++
	case "label":
		c.labels[attr["for"]] = true
	case "input", "select", "textarea":
		if attr["type"] != "hidden" {
			c.inputs = append(c.inputs, attr["id"])
		}
	case "form":
		c.form(n, attr)
	case "h1", "h2", "h3", "h4":
		c.heading(int(n.Data[1] - '0'))
	}
}

func (c *checker) heading(level int) {
	if level == 1 {
		c.firsts++
	}
	if c.level > 0 && level > c.level+1 {
		c.t.Errorf("a heading of level %d follows one of level %d", level, c.level)
	}
	c.level = level
}

// form verifies that a form with a side effect contains the token.
func (c *checker) form(n *html.Node, attr map[string]string) {
	if attr["method"] != "post" {
		return
	}
	for child := range n.Descendants() {
		for _, a := range child.Attr {
			if a.Key == "name" && a.Val == "csrf" {
				return
			}
		}
	}
	c.t.Errorf("the form to %s sends no token", attr["action"])
}

func TestFindingIsShownInFullWithinABound(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	body := h.page(t, "/findings/ba5eba11")
	if len(body) > 2_000_000 {
		t.Errorf("the page weighs %d bytes", len(body))
	}
	if !strings.Contains(body, "characters not shown") {
		t.Error("the page lacks the number of characters that are left out")
	}
	if !strings.Contains(body, `\u202eevil\u202c`) {
		t.Error("what turns text around is not written out")
	}
}

func TestFindingByPrefix(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for name, tc := range map[string]struct {
		reason, target string
		status         int
		want           string
	}{
		"prefix":    {"an address of a finding may be short, as on the command line", "/findings/c0ff", http.StatusSeeOther, "/findings/c0ff11c7"},
		"unknown":   {"the page says that there is none", "/findings/ffffffff", http.StatusNotFound, "no finding has an ID with prefix"},
		"ambiguous": {"the page says which it may be", "/findings/c40d", http.StatusConflict, "c40d0001"},
		"page":      {"so does every other address", "/nothing", http.StatusNotFound, "page not found"},
		"since":     {"a timeline says what it can read", "/timeline?since=yesterday", http.StatusBadRequest, "want one such as"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := h.ask(t, access.Viewer, http.MethodGet, tc.target, nil)
			said := answer.Body + answer.Header.Get("Location")
			if answer.StatusCode != tc.status || !strings.Contains(said, tc.want) {
				t.Errorf("%s, want %d and %q: %s\n%s", answer.Status, tc.status, tc.want, tc.reason, said)
			}
		})
	}
}

func TestFragmentIsTheMainPart(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	answer := h.askAs(t, visitor(access.Operator), http.MethodGet, "/", nil, http.Header{"X-Fragment": {"1"}})
	body := answer.Body
	if !strings.HasPrefix(strings.TrimSpace(body), "<main ") || !strings.HasSuffix(body, "</main>") {
		t.Errorf("a fragment is %.80q … %.40q", body, body[max(0, len(body)-40):])
	}
	if !strings.Contains(h.page(t, "/"), body[strings.Index(body, "<section"):strings.Index(body, "<table")]) {
		t.Error("the fragment shows something else than the page")
	}
}

// TestStaleIsNotCalm verifies that a page is calm only if everything was checked recently.
func TestStaleIsNotCalm(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason string
		change func(*model.Run)
		want   string
	}{
		"calm": {"everything was looked at", func(*model.Run) {}, "calm"},
		"problem": {"a part of a declaration could not be read", func(r *model.Run) {
			r.Declarations = []model.DeclarationRun{{Name: "shop", Problems: []model.Problem{{Address: "a.yaml", Reason: "no YAML"}}}}
		}, "unsure"},
		"stale":  {"a source was not read for three of its intervals", func(r *model.Run) { r.Sources[0].Taken = earlier(31 * time.Minute) }, "unsure"},
		"unread": {"a source could not be read", func(r *model.Run) { r.Sources[0].Err = "connection refused" }, "unsure"},
		"held":   {"a look was not believed", func(r *model.Run) { r.Sources[0].Held = true }, "unsure"},
		"never":  {"a source was never read", func(r *model.Run) { r.Sources[0].Taken = time.Time{} }, "unsure"},
		"gap":    {"a kind could not be read", func(r *model.Run) { r.Coverage[0] = model.Coverage{Source: "prod", Reason: "forbidden"} }, "unsure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, r := emptyStore(t), calmRun()
			tc.change(&r)
			save(t, s, store.Record{Run: r})
			if body := newHouse(t, s, nil).page(t, "/"); !strings.Contains(body, `<section class="mood `+tc.want+`"`) {
				t.Errorf("the page is not %s: %s", tc.want, tc.reason)
			}
		})
	}
}

func TestAnswersAreZippedAndKept(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	zipped := h.askAs(t, visitor(access.Viewer), http.MethodGet, "/", nil, http.Header{"Accept-Encoding": {"br, gzip;q=0.8"}})
	z, err := gzip.NewReader(strings.NewReader(zipped.Body))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Read(make([]byte, 10)); err != nil || zipped.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("a page is not zipped, or kept: %v, %v", err, zipped.Header)
	}
	plain := h.askAs(t, visitor(access.Viewer), http.MethodGet, "/", nil, http.Header{"Accept-Encoding": {"gzip;q=0"}})
	if plain.Header.Get("Content-Encoding") != "" {
		t.Error("a page is zipped for who cannot read it")
	}
	path, err := h.assets.path("page.css")
	if err != nil {
		t.Fatal(err)
	}
	asset := h.ask(t, access.Nobody, http.MethodGet, path, nil)
	if asset.StatusCode != http.StatusOK || !strings.Contains(asset.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("%s: %s, %v", path, asset.Status, asset.Header)
	}
	same := h.askAs(t, access.Visitor{}, http.MethodGet, path, nil, http.Header{"If-None-Match": {asset.Header.Get("Etag")}})
	if same.StatusCode != http.StatusNotModified {
		t.Errorf("what the browser has is sent again: %s", same.Status)
	}
}

// TestScriptsWriteNoMarkup verifies that the scripts never parse external data as markup.
func TestScriptsWriteNoMarkup(t *testing.T) {
	t.Parallel()
	h := newHouse(t, filled(t), nil)
	for name, content := range h.assets.contents {
		for _, wrong := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "http://", "https://", "@import", "url("} {
			if strings.Contains(strings.ReplaceAll(string(content), "http://www.w3.org/2000/svg", ""), wrong) {
				t.Errorf("%s holds %s", name, wrong)
			}
		}
	}
}
