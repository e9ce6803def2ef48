//go:build e2e

package browser

import (
	"slices"
	"strings"
	"testing"
)

// TestFindingSideBySide opens a finding and reads the declared, recorded and live values side
// by side.
func TestFindingSideBySide(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base).open("/")
	p.find("link", "Deployment shop/web").follow()
	for _, column := range []string{"Field", "Declared", "Live"} {
		p.find("columnheader", column)
	}
	rows := eval[[][]string](p, `[...document.querySelectorAll("table tbody tr")].map(tr => [...tr.children].map(c => c.innerText))`)
	i := slices.IndexFunc(rows, func(row []string) bool { return strings.Contains(row[0], "image") })
	if i < 0 {
		t.Fatalf("no row has the image: %q", rows)
	}
	declared, live := rows[i][1], rows[i][len(rows[i])-1]
	if !strings.Contains(declared, "web:1.4.2") || !strings.Contains(live, "web:1.4.3-hotfix") {
		t.Errorf("declared %q and live %q, want 1.4.2 and 1.4.3-hotfix", declared, live)
	}
	for _, want := range []string{"anna@example.org", "audit log", "kubectl-edit", "History", "opened", "first seen"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the finding does not say %q:\n%s", want, p.text())
		}
	}
	sideBySide := eval[bool](p, `(() => {
		const boxes = [...document.querySelectorAll("table tbody tr")].find(tr => tr.innerText.includes("image")).children;
		const tops = [...boxes].map(b => Math.round(b.getBoundingClientRect().top));
		return tops.every(top => top === tops[0]);
	})()`)
	if !sideBySide {
		t.Error("the sides do not stand beside each other")
	}
	p.back()
	p.find("link", "Deployment shop/web")
}

// TestRecordedSide opens a finding with values that Terraform recorded.
func TestRecordedSide(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base).open("/")
	p.find("link", "305").follow()
	p.find("columnheader", "Recorded")
	for _, want := range []string{"16384", "24576", "carol@pve", "cluster log"} {
		p.awaitText(want)
	}
}

// TestNoSuchFinding opens the page of an unknown finding.
func TestNoSuchFinding(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base)
	p.expect("404")
	p.open("/findings/000000000000")
	p.find("heading", "404")
}
