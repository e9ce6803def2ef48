//go:build e2e

package browser

import (
	"os"
	"path"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
)

// pictures is the folder for pictures of the pages.
func pictures(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("DRIFTD_TEST_SCREENSHOTS")
	if dir == "" {
		dir = filepath.Join("..", "..", "bin", "screenshots")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestPictures takes a picture of every page, light and dark, in the sizes of a desktop and a
// phone, for people to review.
func TestPictures(t *testing.T) {
	t.Parallel()
	dir, d, closed, calm, unsure := pictures(t), demo(t), guarded(t), still(t), demo(t)
	chrome.visit(t, unsure.base).open("/stage").act("Let NetBox fail", "Run")
	if err := unsure.awaitPage(t.Context(), "unchecked"); err != nil {
		t.Fatal(err)
	}
	stage := chrome.visit(t, d.base).open("/stage")
	for _, title := range []string{"Open the firewall", "Edit a Deployment", "Create a conflict", "Change a password"} {
		stage.act(title, "Run")
	}
	list := chrome.visit(t, d.base).open("/")
	for _, resource := range []string{"shop/api", "shop/database", "queue-01"} {
		list.awaitText(resource)
	}
	d.decide(t, "acknowledge", path.Base(findingPath(t, d, "shop/api")))
	list.awaitText("Acknowledged")
	paths := map[string]string{"list": "/", "timeline": "/timeline", "sources": "/sources", "decisions": "/decisions", "stage": "/stage",
		"finding": findingPath(t, d, "305"), "disputed": eval[string](list, `[...document.querySelectorAll("a.open")].find(a => a.innerText.includes("queue-01")).pathname`), "nothing": "/?q=nothing-is-called-so"}
	for _, scheme := range []string{"light", "dark"} {
		for _, phone := range []bool{false, true} {
			name := scheme
			if phone {
				name += "-phone"
			}
			look := func(base, path, what string, live bool) {
				t.Run(what+"-"+name, func(t *testing.T) { // closes the tab
					t.Parallel()
					p := chrome.visit(t, base)
					p.inScheme(scheme)
					if phone {
						p.onPhone()
					} else {
						call(p, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 900, DeviceScaleFactor: 1})
					}
					if p.open(path); live {
						p.awaitLive()
					}
					p.picture(filepath.Join(dir, what+"-"+name+".png"))
				})
			}
			for what, at := range paths {
				look(d.base, at, what, true)
			}
			look(calm.base, "/", "calm", true)
			look(unsure.base, "/", "unsure", true)
			look(closed.base, "/login", "login", false)
		}
	}
}

// still returns an estate without drift.
func still(t *testing.T) *daemon {
	t.Helper()
	e := drifted(3)
	e.live = nil
	for _, o := range e.declared {
		data, _ := o["data"].(map[string]any)
		e.live = append(e.live, configMap("shop", o["metadata"].(map[string]any)["name"].(string), "nina", data))
	}
	return serve(t, e.files(t), "in sync")
}

// picture takes a picture of the whole page.
func (p *tab) picture(file string) {
	p.Helper()
	whole := true
	shot := call(p, page.CaptureScreenshot, page.CaptureScreenshotParams{CaptureBeyondViewport: &whole})
	if err := os.WriteFile(file, shot.Data, 0o600); err != nil {
		p.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() < 1000 {
		p.Errorf("the picture %s is empty", file)
	}
}
