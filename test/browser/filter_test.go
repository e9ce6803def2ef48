//go:build e2e

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestFilterAsOneTypes searches, chooses, follows a link and goes back.
func TestFilterAsOneTypes(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base).open("/")
	search := p.find("searchbox", "Search")
	search.write("carol 245")
	p.await(`location.search === "?q=carol+245"`)
	p.await(`document.querySelectorAll("#main a.open").length === 1`)
	p.find("link", "305")
	if at := eval[string](p, "document.activeElement.type"); at != "search" {
		t.Errorf("the focus went to %s while somebody typed", at)
	}
	if caret := eval[int](p, "document.activeElement.selectionStart"); caret != len("carol 245") {
		t.Errorf("the caret went to %d while somebody typed", caret)
	}
	p.find("link", "305").follow()
	p.back()
	p.await(`location.search === "?q=carol+245" && document.querySelector("input[type=search]").value === "carol 245"`)
	p.find("link", "305")
	p.find("searchbox", "Search").write("")
	p.await(`location.search === ""`)
	p.find("link", "Deployment shop/web")

	p.find("checkbox", "medium").click()
	p.await(`location.search === "?severity=medium"`)
	p.awaitGone("shop/web")
	p.find("link", "Clear").click()
	p.await(`location.search.length <= 1`)
	p.find("link", "Deployment shop/web")

	p.open("/?q=nothing-is-called-so")
	p.awaitText("No finding matches")
}

// TestPages goes through many findings page by page, with and without JavaScript.
func TestPages(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(250).files(t), "250 findings")
	p := chrome.visit(t, d.base).open("/")
	seen := map[string]bool{}
	for page := 1; page <= 3; page++ {
		p.awaitText(fmt.Sprintf("Page %d of 3", page))
		for _, name := range eval[[]string](p, `[...document.querySelectorAll("#main a.open")].map(a => a.innerText)`) {
			seen[name] = true
		}
		if page < 3 {
			p.find("link", "Next").follow()
		}
	}
	if len(seen) != 250 {
		t.Errorf("the pages show %d findings, want 250", len(seen))
	}
	p.find("link", "Previous").follow()
	p.awaitText("Page 2 of 3")
	// A filter starts at the first page again.
	p.find("searchbox", "Search").write("config-007")
	p.await(`location.search === "?q=config-007"`)
	p.awaitText("1 finding")

	// Without JavaScript.
	q := chrome.visit(t, d.base)
	q.withoutScripts()
	q.open("/")
	q.find("link", "Next").click()
	q.find("link", "Previous")
	if !strings.Contains(q.address(), "page=2") {
		t.Errorf("the second page is at %s", q.address())
	}
}

// TestTypingIsKept sends an event while a form is being filled in.
func TestTypingIsKept(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(2).files(t), "2 findings")
	p := chrome.visit(t, d.base).open(findingPath(t, d, "shop/config-000"))
	p.await(`document.getElementById("live").textContent === "live"`)
	p.find("textbox", "Owner, a person or a team").write("team-shop")
	p.find("textbox", "Reason").write("half a sen")
	eval[chromedp.Void](p, `document.querySelector("details").open = true; window.kept = document.activeElement`)
	revision := eval[string](p, `document.getElementById("main").dataset.revision`)
	d.decide(t, "acknowledge", d.findings(t.Context(), t)[1].ID)
	p.await(jsf(`document.getElementById("main").dataset.revision !== %q`, revision))
	p.await(`document.activeElement === window.kept && window.kept.value === "half a sen" && document.querySelector("details").open`)
	p.await(`[...document.querySelectorAll("input")].some(e => e.value === "team-shop")`)
}
