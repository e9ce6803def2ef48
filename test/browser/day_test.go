//go:build e2e

package browser

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/performance"
)

// A hurry stands before a daemon and tells news when a test wants it, not at most
// once a second; and cuts the stream of news. Each news changes what the list
// shows: its first page, or what one search finds. All else is the daemon's.
type hurry struct {
	*httptest.Server
	revision atomic.Int64
	news     chan string
	cut      chan struct{}
	// fails has it answer that the page cannot be made.
	fails atomic.Bool
}

func newHurry(t *testing.T, d *daemon) *hurry {
	t.Helper()
	to, err := url.Parse(d.base)
	if err != nil {
		t.Fatal(err)
	}
	h := &hurry{news: make(chan string), cut: make(chan struct{})}
	passed := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), ModifyResponse: h.number, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Del("Accept-Encoding")
		if r.In.URL.Path == "/" && h.revision.Load()%2 == 1 {
			r.Out.URL.RawQuery = "q=" + rarer
		}
	}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			h.tell(w, r)
			return
		}
		if r.Header.Get("X-Fragment") != "" && h.fails.Load() {
			http.Error(w, "the page cannot be made", http.StatusInternalServerError)
			return
		}
		passed.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		h.CloseClientConnections()
		h.Close()
	})
	return h
}

// rarer is what only some of the findings have.
const rarer = "config-00"

// number writes the number of the news into the list.
func (h *hurry) number(answer *http.Response) error {
	if answer.Request.URL.Path != "/" {
		return nil
	}
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return fmt.Errorf("read the list: %w", err)
	}
	body = regexp.MustCompile(`data-revision="\d+"`).ReplaceAll(body, fmt.Appendf(nil, `data-revision="%d"`, h.revision.Load()))
	answer.Body = io.NopCloser(bytes.NewReader(body))
	answer.ContentLength = int64(len(body))
	answer.Header.Set("Content-Length", strconv.Itoa(len(body)))
	return nil
}

// tell is one stream of news.
func (h *hurry) tell(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) {
		_, _ = w.Write([]byte(text)) // the page connects again
		_ = http.NewResponseController(w).Flush()
	}
	send("retry: 10\n\n")
	for {
		select {
		case revision := <-h.news:
			send("event: changed\nid: " + revision + "\ndata: " + revision + "\n\n")
		case <-h.cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// The updates that a page gets, and from which on nothing may grow.
const (
	updates = 300
	warm    = 50
)

// TestOpenForADay has a page take as much news as on a busy day: what the page and
// its scripts hold does not grow.
func TestOpenForADay(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(20).files(t), "20 findings")
	h := newHurry(t, d)
	p := chrome.visit(t, h.URL)
	p.expect("ERR_INCOMPLETE_CHUNKED_ENCODING")
	// What pages wait so that not all of them come at once is nothing here.
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `Math.random = () => 0`})
	p.open("/")
	p.awaitLive()
	p.stays()
	var held usage
	for n := range updates {
		if n == warm {
			held = p.usage()
		}
		h.news <- strconv.FormatInt(h.revision.Add(1), 10)
		p.await(jsf(`document.getElementById("main").dataset.revision === %q`, fmt.Sprint(n+1)))
		if got, want := eval[int](p, `document.querySelectorAll("#main a.open").length`), 20-10*((n+1)%2); got != want {
			t.Fatalf("after %d updates the page shows %d findings, want %d", n+1, got, want)
		}
		if n%10 == 9 {
			h.cut <- struct{}{}
		}
	}
	then := p.usage()
	p.stayed()
	t.Logf("after %d updates %+v, after %d %+v", warm, held, updates, then)
	const slack, bytes = 100, 512 << 10
	if then.nodes > held.nodes+slack || then.listeners > held.listeners+slack || then.heap > held.heap+bytes {
		t.Errorf("the page grew from %+v after %d updates to %+v after %d", held, warm, then, updates)
	}
}

// A usage is what a page holds.
type usage struct{ nodes, listeners, documents, heap int }

// usage counts what the page holds once the document that it has fetched last is
// gone.
func (p *tab) usage() (u usage) {
	p.Helper()
	//nolint:contextcheck // a tab has a context of its own
	if !eventually(p.ctx, func(context.Context) bool { u = p.held(); return u.documents == 1 }) {
		p.Fatalf("the page holds %d documents: what it has fetched stays", u.documents)
	}
	return u
}

// held collects what is garbage, and counts the rest.
func (p *tab) held() usage {
	p.Helper()
	call(p, performance.Enable, performance.EnableParams{})
	for range 2 {
		call(p, heapprofiler.CollectGarbage, cdp.Empty{})
	}
	var u usage
	for _, m := range call(p, performance.GetMetrics, cdp.Empty{}).Metrics {
		switch m.Name {
		case "Nodes":
			u.nodes = int(m.Value)
		case "JSEventListeners":
			u.listeners = int(m.Value)
		case "Documents":
			u.documents = int(m.Value)
		case "JSHeapUsedSize":
			u.heap = int(m.Value)
		}
	}
	return u
}

// TestDaemonRestarts ends the daemon under an open page, which says so and as of
// when it is, and comes back by itself.
func TestDaemonRestarts(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(2).files(t), "2 findings")
	p := chrome.visit(t, d.base).open("/")
	p.expect("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET", "ERR_EMPTY_RESPONSE")
	p.awaitLive()
	p.stays()
	if err := d.process.Kill(); err != nil {
		t.Fatal(err)
	}
	p.await(`/reconnecting…, as of \d\d:\d\d/.test(document.getElementById("live").textContent)`)
	p.find("link", "config-000") // what was known stays to be read
	if err := writeFiles(d.dir, map[string]string{"cluster.json": strings.Replace(drifted(2).files(t)["cluster.json"], `"off"`, `"odd"`, 1)}); err != nil {
		t.Fatal(err)
	}
	if err := d.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.awaitLive()
	p.awaitText("odd")
	p.stayed()
}

// TestPageCannotBeRead lets the page not be made anew: it does not pass for live
// until it is.
func TestPageCannotBeRead(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(2).files(t), "2 findings")
	h := newHurry(t, d)
	p := chrome.visit(t, h.URL)
	p.expect("500 (Internal Server Error)")
	p.open("/").awaitLive()
	h.fails.Store(true)
	h.news <- strconv.FormatInt(h.revision.Add(2), 10)
	p.await(`/could not be updated, as of \d\d:\d\d/.test(document.getElementById("live").textContent)`)
	p.find("link", "config-000") // what was known stays to be read
	h.fails.Store(false)
	p.awaitLive()
}
