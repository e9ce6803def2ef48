//go:build e2e

package browser

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is the time within which a page must reach an expected state.
const patience = 20 * time.Second

// A browser is a running Chromium.
type browser struct{ ctx context.Context }

// startBrowser starts Chromium with an empty profile.
func startBrowser(program, dir string) (stop func(), err error) {
	ctx, end := chromedp.NewExecAllocator(context.Background(), append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("lang", "en-US"),
		chromedp.WindowSize(1280, 1000))...)
	ctx, leave := chromedp.NewContext(ctx)
	stop = func() { leave(); end() }
	if err := chromedp.Do(ctx); err != nil {
		stop()
		return nil, fmt.Errorf("start chromium: %w", err)
	}
	chrome = &browser{ctx}
	return stop, nil
}

// A tab is an open page. An unexpected problem on it fails its test: an error on the console, a
// violation of the content security policy, an exception, a dialog, or a request to another
// origin.
type tab struct {
	*testing.T
	ctx context.Context
	// base is the address of the daemon, without a path.
	base string

	mu       sync.Mutex
	flaws    []string
	expected []string
}

// visit opens an empty tab in a new browser profile.
func (b *browser) visit(t *testing.T, base string) *tab {
	t.Helper()
	ctx, leave := chromedp.NewContext(b.ctx, chromedp.WithNewBrowserContext())
	return newTab(ctx, leave, t, base)
}

func newTab(ctx context.Context, leave func(), t *testing.T, base string) *tab {
	t.Helper()
	p := &tab{T: t, ctx: ctx, base: base}
	t.Cleanup(func() {
		leave()
		for _, flaw := range p.unexpected() {
			t.Errorf("the browser complains: %s", flaw)
		}
	})
	if err := chromedp.Listen(ctx, p.listen); err != nil {
		t.Fatalf("open a tab: %v", err)
	}
	return p
}

// listen records problems. chromedp enables Log and Network.
func (p *tab) listen(event any) {
	switch e := event.(type) {
	case *log.EventEntryAdded:
		if e.Entry.Level == log.EntryLevelError || e.Entry.Level == log.EntryLevelWarning {
			p.note("%s: %s %s", e.Entry.Source, e.Entry.Text, e.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if e.Type == "error" || e.Type == "warning" || e.Type == "assert" {
			p.note("console.%s from %s", e.Type, p.base)
		}
	case *runtime.EventExceptionThrown:
		p.note("exception: %s", e.ExceptionDetails.Text)
	case *page.EventJavascriptDialogOpening:
		p.note("dialog: %s", e.Message)
		go p.dismiss()
	case *network.EventRequestWillBeSent:
		to, err := url.Parse(e.Request.URL)
		if err != nil || to.Scheme != "data" && to.Scheme+"://"+to.Host != p.base {
			p.note("request to another origin: %s", e.Request.URL)
		}
	}
}

// dismiss closes a dialog, which blocks the page.
func (p *tab) dismiss() {
	_, _ = chromedp.Call(p.ctx, page.HandleJavaScriptDialog, page.HandleJavaScriptDialogParams{}) // the problem is recorded
}

func (p *tab) note(format string, args ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.flaws = append(p.flaws, fmt.Sprintf(format, args...))
}

// expect makes problems that contain one of the texts expected.
func (p *tab) expect(parts ...string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.expected = append(p.expected, parts...)
}

// unexpected returns the problems that were not expected.
func (p *tab) unexpected() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(p.flaws), func(flaw string) bool {
		return slices.ContainsFunc(p.expected, func(part string) bool { return strings.Contains(flaw, part) })
	})
}

// do runs an action on the page, within patience.
func (p *tab) do(what string, steps ...chromedp.Action[chromedp.Void]) {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		p.Fatalf("%s: %v", what, err)
	}
}

// open loads a path of the daemon.
func (p *tab) open(path string) *tab {
	p.Helper()
	p.do("open "+path, chromedp.Navigate(p.base+path))
	return p
}

// back presses the back button of the browser.
func (p *tab) back() {
	p.Helper()
	p.do("go back", chromedp.NavigateBack())
}

// press presses keys. The key of a character also inserts the character, unless the page
// prevents it, as with a keyboard.
func (p *tab) press(keys ...string) {
	p.Helper()
	for _, key := range keys {
		if key[0] <= ' ' || len(key) > 1 {
			p.do("press "+key, chromedp.KeyEvent(key))
			continue
		}
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyDown, Key: key, Text: key, UnmodifiedText: key})
		call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: input.DispatchKeyEventTypeKeyUp, Key: key})
	}
}

// call sends a command of the browser's protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	result, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.Fatalf("%s: %v", command.Method, err)
	}
	return result
}

// eval evaluates an expression of JavaScript on the page, and decodes its value.
func eval[T any](p *tab, expression string) T {
	p.Helper()
	result, err := chromedp.Run(p.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		p.Fatalf("evaluate %.200s: %v", expression, err)
	}
	return result
}

// await waits until an expression is true on the page. While another page loads there is no
// value: this is not an error before the timeout.
func (p *tab) await(expression string) {
	p.Helper()
	var last error
	if !eventually(p.ctx, func(ctx context.Context) bool {
		yes, err := chromedp.Run(ctx, chromedp.Evaluate[bool](expression))
		last = err
		return err == nil && yes
	}) {
		p.Fatalf("this does not come true on %s: %s (%v)\n%s", p.address(), expression, last, p.text())
	}
}

// awaitText waits until the page contains a text.
func (p *tab) awaitText(want string) {
	p.Helper()
	p.await(jsf("document.body.innerText.includes(%q)", want))
}

// awaitGone waits until the page does not contain a text.
func (p *tab) awaitGone(gone string) {
	p.Helper()
	p.await(jsf("!document.body.innerText.includes(%q)", gone))
}

// text returns the visible text of the page.
func (p *tab) text() string {
	p.Helper()
	return eval[string](p, "document.body.innerText")
}

// address returns the path and query of the page.
func (p *tab) address() string {
	p.Helper()
	return eval[string](p, "location.pathname + location.search")
}

// eventually calls a function until it returns true.
func eventually(ctx context.Context, question func(context.Context) bool) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for {
		if question(ctx) {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-pace.C:
		}
	}
}

// evalPromise is eval for a promise.
func evalPromise[T any](p *tab, expression string) T {
	p.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	result, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		p.Fatalf("evaluate %.200s: %v", expression, err)
	}
	return result
}
