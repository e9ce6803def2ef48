//go:build e2e

package browser

import (
	"context"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestListNamesActors reads the list as on a first visit.
func TestListNamesActors(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base).open("/")
	p.find("heading", "2")
	p.find("link", "Deployment shop/web")
	p.find("link", "305")
	for _, want := range []string{"anna@example.org", "shop/web:1.4.3-hotfix", "carol@pve", "24576", "driftd simulates"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the list does not say %q:\n%s", want, p.text())
		}
	}
	p.await(`document.getElementById("live").textContent === "live"`)
	if title := eval[string](p, "document.title"); !strings.Contains(title, "2") {
		t.Errorf("the title of the window is %q: it does not count", title)
	}
	if worst := eval[string](p, `document.querySelector("tbody tr").innerText`); !strings.Contains(worst, "shop/web") {
		t.Errorf("the first finding is %q, want the worst", worst)
	}
}

// TestTheBrowserComplains checks that tests detect each kind of problem.
func TestTheBrowserComplains(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ script, want string }{
		"inline style":   {`document.head.append(Object.assign(document.createElement("style"), {textContent: "b{}"}))`, "Content Security Policy"},
		"inline script":  {`document.head.append(Object.assign(document.createElement("script"), {textContent: "1"}))`, "Content Security Policy"},
		"another origin": {`void fetch("http://127.0.0.2:1/").catch(() => 0)`, "127.0.0.2"},
		"exception":      {`setTimeout(() => { throw new Error("x") })`, "exception"},
		"console":        {`console.error("x")`, "console.error"},
		"dialog":         {`setTimeout(() => alert("x"))`, "dialog"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := chrome.visit(t, shop.base).open("/")
			eval[chromedp.Void](p, test.script)
			if !eventually(p.ctx, func(context.Context) bool { return len(p.unexpected()) > 0 }) {
				t.Fatal("the problem was not detected")
			}
			if flaws := strings.Join(p.unexpected(), "\n"); !strings.Contains(flaws, test.want) {
				t.Errorf("problems %q, want %q", flaws, test.want)
			}
			p.expect("")
		})
	}
}

// TestKeyboardAlone uses no mouse.
func TestKeyboardAlone(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base).open("/")
	p.await(`document.getElementById("live").textContent === "live"`)
	p.press(kb.Tab)
	if first := active(p); first != "Skip to the content" {
		t.Errorf("the first thing that Tab comes to is %q", first)
	}
	p.press("\r")
	p.await(`document.activeElement.id === "main"`)

	p.press("j")
	p.await(`document.activeElement.innerText.includes("shop/web")`)
	p.press("j")
	p.await(`document.activeElement.innerText.includes("305")`)
	p.press("k")
	p.await(`document.activeElement.innerText.includes("shop/web")`)
	p.press(kb.ArrowDown)
	p.await(`document.activeElement.innerText.includes("305")`)

	p.press("/")
	p.await(`document.activeElement.type === "search"`)
	p.press("j")
	p.await(`document.activeElement.value === "j"`)
	p.press("\b", kb.Escape)
	p.await(`document.activeElement.type !== "search"`)

	p.press("?")
	p.find("dialog", "Keyboard shortcuts")
	p.press(kb.Escape)
	p.await(`!document.querySelector("dialog[open]")`)

	p.press("j", "\r")
	p.await(`location.pathname.startsWith("/findings/")`)
	p.find("heading", "shop/web")
	p.press("g", "d")
	p.await(`location.pathname === "/"`)
}

// active returns the text of the element that has the focus.
func active(p *tab) string {
	p.Helper()
	return eval[string](p, `document.activeElement.innerText || document.activeElement.name || document.activeElement.tagName`)
}

// TestTabOrder checks that Tab follows the order of the page, and that each stop is visible.
func TestTabOrder(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/", "/timeline", "/sources", "/decisions", "/stage", findingPath(t, shop, "shop/web")} {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			p := chrome.visit(t, shop.base).open(path)
			walked := map[string]bool{}
			eval[chromedp.Void](p, `window.before = null`)
			for range 400 {
				p.press(kb.Tab)
				stop := eval[tabStop](p, tabStopScript)
				if stop.End || walked[stop.Path] {
					break
				}
				walked[stop.Path] = true
				if !stop.Later {
					t.Errorf("%s comes before what Tab came from", stop.Path)
				}
				if !stop.Seen {
					t.Errorf("nothing shows that %s has the focus", stop.Path)
				}
			}
			if want := eval[int](p, `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, summary")].filter(e => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && e.type !== "radio").length`); len(walked) < want {
				t.Errorf("Tab comes to %d elements, of %d", len(walked), want)
			}
		})
	}
}

// A tabStop is an element that has the focus.
type tabStop struct {
	Path             string
	End, Later, Seen bool
}

const tabStopScript = `(() => {
	const e = document.activeElement;
	if (!e || e === document.body) return {end: true};
	const path = [];
	for (let n = e; n && n !== document.body; n = n.parentElement) path.unshift(n.tagName.toLowerCase() + (n.id ? "#" + n.id : ":" + [...n.parentElement.children].indexOf(n)));
	const later = !window.before || !!(window.before.compareDocumentPosition(e) & Node.DOCUMENT_POSITION_FOLLOWING);
	window.before = e;
	const shows = s => s.outlineStyle !== "none" && parseFloat(s.outlineWidth) > 0 || s.boxShadow !== "none";
	const seen = [e, ...(e.labels || [])].some(b => shows(getComputedStyle(b)) && b.getBoundingClientRect().width > 1);
	return {path: path.join(">"), end: false, later, seen};
})()`

func (p *tab) withoutScripts() {
	p.Helper()
	call(p, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
}

// TestWithoutJavaScript reads the list, a finding and the filter.
func TestWithoutJavaScript(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base)
	p.withoutScripts()
	p.open("/")
	p.find("link", "Deployment shop/web")
	p.find("searchbox", "Search").write("carol")
	p.find("button", "Show").click()
	p.find("link", "Clear")
	p.find("link", "305")
	if p.has("link", "shop/web") {
		t.Error("the filter does not filter without JavaScript")
	}
	p.find("link", "305").click()
	p.find("columnheader", "Declared")
	p.find("heading", "305")
	if p.has("button", "theme") {
		t.Error("a button is shown that does nothing without JavaScript")
	}
}
