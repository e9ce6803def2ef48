//go:build e2e

package browser

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// hostile are names that try to break pages.
func hostile() map[string]string {
	return map[string]string{
		"script":   `<script>window.hit=1;alert(1)</script>`,
		"image":    `"><img src=x onerror="window.hit=1;alert(1)">`,
		"handler":  `' onmouseover='window.hit=1' x='`,
		"link":     `javascript:window.hit=1`,
		"template": `{{.Token}}${window.hit=1}`,
		"reversed": "web\u202egpj.exe\u202c\u2066x",
		"lines":    "one\ntwo\r\nthree\x1b[31m\x00\u2028four",
		"long":     strings.Repeat("long-", 2000),
		"wide":     strings.Repeat("W", 10000),
	}
}

// hostileEstate returns an object for each hostile name, with that name in every possible
// place.
func hostileEstate() estate {
	var e estate
	for _, bad := range hostile() {
		// A template that was not rendered names no object.
		name := strings.NewReplacer("{{", "", "${", "").Replace(bad)
		e.live = append(e.live, map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}})
		declared, live := map[string]any{"value": "plain"}, map[string]any{"value": bad}
		if len(bad) < 1000 { // YAML allows no longer keys
			declared[bad], live[bad] = "plain", bad
		}
		e.declared = append(e.declared, manifest(name, name, declared))
		e.live = append(e.live, configMap(name, name, bad, live))
	}
	return e
}

// TestHostileNames opens every page of an estate whose names are attacks: none of them runs a
// script or breaks the layout.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	e := hostileEstate()
	d := serve(t, e.files(t), "findings")
	list := d.findings(t.Context(), t)
	if len(list) != len(hostile()) {
		t.Fatalf("%d hostile names make %d findings: %v", len(hostile()), len(list), list)
	}
	paths := []string{"/", "/timeline", "/sources", "/decisions", "/?state=accepted",
		"/?q=%3Cscript%3Ealert(1)%3C/script%3E&owner=%22%3E%3Cimg+src=x+onerror=alert(1)%3E&severity=%27%3E", "/login?next=javascript:alert(1)"}
	d.decide(t, "snooze", list[0].ID)
	d.decide(t, "acknowledge", list[1].ID)
	for _, f := range list {
		paths = append(paths, "/findings/"+f.ID)
	}
	p := chrome.visit(t, d.base).open("/")
	for _, want := range []string{`<script>window.hit=1;alert(1)</script>`, `"><img src=x onerror="window.hit=1;alert(1)">`, `{{.Token}}${window.hit=1}`} {
		p.awaitText(want) // names are shown unchanged
	}
	p.picture(filepath.Join(pictures(t), "hostile.png"))
	for _, width := range []int64{1280, 360} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			p := chrome.visit(t, d.base)
			if width == 360 {
				p.onPhone()
			}
			for _, path := range paths {
				p.open(path)
				p.find("banner", "")
				p.unharmed(path)
			}
		})
	}
}

// unharmed fails if a script of a name ran, or the page is wider than its window.
func (p *tab) unharmed(path string) {
	p.Helper()
	eval[chromedp.Void](p, `document.querySelectorAll("main *").forEach(e => e.dispatchEvent(new MouseEvent("mouseover", {bubbles: true})))`)
	if eval[bool](p, `"hit" in window || !!document.querySelector("main img, main script, main [onmouseover], main [onerror], main iframe")`) {
		p.Errorf("something of a name runs on %s", path)
	}
	if links := eval[[]string](p, `[...document.querySelectorAll("a[href], form[action]")].map(e => e.href || e.action).filter(u => !/^http:/.test(u))`); len(links) > 0 {
		p.Errorf("links of %s lead to %.200q", path, links)
	}
	p.notSideways(path)
	if eval[bool](p, `/[\u202a-\u202e\u2066-\u2069\x1b]/.test(document.documentElement.innerHTML)`) {
		p.Errorf("%s holds characters that turn text around", path)
	}
}
