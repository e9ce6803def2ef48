//go:build e2e

package browser

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// stays marks the page, so that a reload would be detected.
func (p *tab) stays() {
	p.Helper()
	eval[chromedp.Void](p, `window.stayed = true`)
}

// stayed fails if the page was reloaded since.
func (p *tab) stayed() {
	p.Helper()
	if !eval[bool](p, `window.stayed === true`) {
		p.Error("the page was loaded anew")
	}
}

// TestAcknowledgeIsSeenByOthers acknowledges a finding in one browser, and checks the open page
// of another one.
func TestAcknowledgeIsSeenByOthers(t *testing.T) {
	t.Parallel()
	d := demo(t)
	other := chrome.visit(t, d.base).open("/")
	other.await(`document.getElementById("live").textContent === "live"`)
	other.stays()
	p := chrome.visit(t, d.base).open("/")
	p.find("link", "Deployment shop/web").follow()
	p.find("textbox", "Action taken").write("reverting it at ten")
	p.buttonBelow("Action taken").follow()
	p.find("status", "")
	p.awaitText("Acknowledged. Others see that you are working on it.")
	p.awaitText("reverting it at ten")
	if strings.Contains(p.address(), "notice") {
		t.Errorf("the address is %s: what was said once would be said again", p.address())
	}
	other.awaitText("Acknowledged")
	other.stayed()

	// After it is revoked, the page is as before.
	p.find("button", "Revoke").follow()
	p.awaitText("Decision revoked")
	other.awaitGone("acknowledged")
	other.stayed()
}

// buttonBelow returns the button of the form that contains a field.
func (p *tab) buttonBelow(field string) thing {
	p.Helper()
	name := eval[string](p, jsf(`[...document.querySelectorAll("label")].find(l => l.innerText.includes(%q)).control.form.querySelector("button").innerText`, field))
	list, err := p.things(p.ctx, "button", name)
	if err != nil || len(list) == 0 {
		p.Fatalf("no button is below %q: %v", field, err)
	}
	return list[len(list)-1]
}

// TestBreakSomething makes each change of the demonstration in one browser: its finding appears
// in another one, Slack is notified, and it is resolved when the change is reverted.
func TestBreakSomething(t *testing.T) {
	t.Parallel()
	d := demo(t)
	list := chrome.visit(t, d.base).open("/")
	list.await(`document.getElementById("live").textContent === "live"`)
	list.stays()
	p := chrome.visit(t, d.base).open("/stage")
	for _, act := range []struct{ title, appears, actor string }{
		{"Edit a Deployment", "shop/api", "nina@example.org"},
		{"Grow a virtual machine", "app-01", "carol@pve"},
		{"Delete a ConfigMap", "shop/payment", "omar@example.org"},
	} {
		p.act(act.title, "Run")
		list.awaitText(act.appears)
		list.awaitText(act.actor)
		p.await(jsf(`[...document.querySelectorAll("article")].some(a => a.innerText.includes(%q))`, act.appears))
		if !eval[bool](p, `document.getElementById("notice") !== null`) {
			p.Error("the notice is gone after an update, and the buttons have moved")
		}
		p.act(act.title, "Undo")
		list.awaitGone(act.appears)
	}
	list.awaitText("2 findings")
	list.stayed()
}

// act presses the button of an action, which has to describe its effect.
func (p *tab) act(title, does string) {
	p.Helper()
	button := p.find("button", title)
	if !strings.HasPrefix(button.name, does) {
		p.Fatalf("the button is %q, want %q", button.name, does)
	}
	button.follow()
}

// decide makes a decision about a finding, over the socket like the command.
func (d *daemon) decide(t *testing.T, kind, id string) (decision string) {
	t.Helper()
	var made struct{ Decisions []struct{ ID string } }
	body := map[string]any{"kind": kind, "findings": []string{id}, "reason": "tried", "owner": "ops", "until": "1h"}
	if kind == "acknowledge" {
		delete(body, "until")
		delete(body, "owner")
	}
	d.send(t, http.MethodPost, "/api/v1/decisions", body, &made)
	if len(made.Decisions) != 1 {
		t.Fatalf("%d decisions were made, want 1", len(made.Decisions))
	}
	return made.Decisions[0].ID
}

// send sends a request over the socket.
func (d *daemon) send(t *testing.T, method, path string, body, answer any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", filepath.Join(d.dir, d.state, "driftd.sock"))
	}}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), method, "http://driftd"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	status, said, err := answerOf(&http.Client{Transport: transport}, r)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s %s: %d %.500s %v", method, path, status, said, err)
	}
	if err := json.Unmarshal([]byte(said), answer); err != nil {
		t.Fatalf("%s %s: %v: %.500s", method, path, err, said)
	}
}
