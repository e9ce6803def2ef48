//go:build e2e

package browser

import (
	_ "embed"
	"testing"

	"github.com/chromedp/cdproto/emulation"
)

// sight returns the accessibility problems of a page, for people with low vision, a keyboard or
// a screen reader.
//
//go:embed sight.js
var sight string

// onPhone sets the size of a phone.
func (p *tab) onPhone() {
	p.Helper()
	call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 360, Height: 800, DeviceScaleFactor: 2, Mobile: true})
}

// inScheme sets the preferred colour scheme: light or dark.
func (p *tab) inScheme(scheme string) {
	p.Helper()
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
}

// notSideways fails if the page is wider than its window.
func (p *tab) notSideways(path string) {
	p.Helper()
	wide := eval[[]string](p, `(() => {
		const width = document.documentElement.clientWidth;
		if (document.documentElement.scrollWidth <= width && innerWidth <= Math.max(width, screen.width)) return [];
		return ["width " + document.documentElement.scrollWidth + " in " + width].concat([...document.querySelectorAll("body *")].filter(e => e.getBoundingClientRect().right > width + 1)
			.slice(0, 5).map(e => e.tagName + "." + e.className + " to " + Math.round(e.getBoundingClientRect().right)));
	})()`)
	if len(wide) > 0 {
		p.Errorf("%s goes sideways: %q", path, wide)
	}
}

// TestAccessibility checks every page, light and dark, in the sizes of a desktop and a phone.
func TestAccessibility(t *testing.T) {
	t.Parallel()
	d := guarded(t)
	for _, scheme := range []string{"light", "dark"} {
		for _, phone := range []bool{false, true} {
			name := scheme + " desk"
			if phone {
				name = scheme + " phone"
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p, login := chrome.visit(t, shop.base), chrome.visit(t, d.base)
				login.expect("404")
				p.expect("404")
				for _, v := range []*tab{p, login} {
					v.inScheme(scheme)
					if phone {
						v.onPhone()
					}
				}
				for _, path := range []string{"/", "/?q=nothing-is-called-so", "/timeline", "/sources", "/decisions", "/stage", "/audit", "/audit/0", findingPath(t, shop, "shop/web"), findingPath(t, shop, "305"), "/findings/000000000000"} {
					p.open(path)
					p.judge(path)
				}
				login.open("/login")
				login.judge("/login")
				login.open("/")
				login.judge("/login?next")
			})
		}
	}
}

func (p *tab) judge(path string) {
	p.Helper()
	for _, flaw := range eval[[]string](p, sight) {
		p.Errorf("%s: %s", path, flaw)
	}
	p.notSideways(path)
}

// TestTheme chooses a theme other than the system's preference: the choice is kept, and the
// pages that follow are never drawn in the other one.
func TestTheme(t *testing.T) {
	t.Parallel()
	p := chrome.visit(t, shop.base)
	p.inScheme("light")
	p.open("/")
	light := eval[string](p, ground)
	p.find("button", "Use the dark theme").click()
	p.await(jsf(ground+" !== %q", light))
	dark := eval[string](p, ground)
	p.open("/sources")
	if got := eval[string](p, ground); got != dark {
		t.Errorf("the next page is %s, want %s", got, dark)
	}
	p.find("button", "Use the light theme").click()
	p.await(jsf(ground+" === %q", light))
}

const ground = `getComputedStyle(document.body).backgroundColor`
