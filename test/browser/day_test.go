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

// An eventServer is a proxy of a daemon that sends events when a test wants them, without the
// daemon's limit of one per second, and can cut the event stream. Each event changes the list:
// its first page, or the result of one search. All other responses are the daemon's.
type eventServer struct {
	*httptest.Server
	revision atomic.Int64
	events   chan string
	cut      chan struct{}
	// fails reports whether pages are responses with an error.
	fails atomic.Bool
}

func newEventServer(t *testing.T, d *daemon) *eventServer {
	t.Helper()
	to, err := url.Parse(d.base)
	if err != nil {
		t.Fatal(err)
	}
	h := &eventServer{events: make(chan string), cut: make(chan struct{})}
	passed := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), ModifyResponse: h.number, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(to)
		r.Out.Header.Del("Accept-Encoding")
		if r.In.URL.Path == "/" && h.revision.Load()%2 == 1 {
			r.Out.URL.RawQuery = "q=" + rarer
		}
	}}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/events" {
			h.stream(w, r)
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

// rarer is a text that only some of the findings contain.
const rarer = "config-00"

// number adds the number of the event to the list.
func (h *eventServer) number(answer *http.Response) error {
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

// stream serves one event stream.
func (h *eventServer) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	send := func(text string) {
		_, _ = w.Write([]byte(text)) // the page reconnects
		_ = http.NewResponseController(w).Flush()
	}
	send("retry: 10\n\n")
	for {
		select {
		case revision := <-h.events:
			send("event: changed\nid: " + revision + "\ndata: " + revision + "\n\n")
		case <-h.cut:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// The number of updates that a page gets, and the one after which nothing may grow.
const (
	updates = 300
	warm    = 50
)

// TestOpenForADay sends a page as many events as on a busy day, and checks that the memory of
// the page and its scripts does not grow.
func TestOpenForADay(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(20).files(t), "20 findings")
	h := newEventServer(t, d)
	p := chrome.visit(t, h.URL)
	p.expect("ERR_INCOMPLETE_CHUNKED_ENCODING")
	// The delay by which pages spread their requests is removed here.
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `Math.random = () => 0`})
	p.open("/")
	p.awaitLive()
	p.stays()
	var held usage
	for n := range updates {
		if n == warm {
			held = p.usage()
		}
		h.events <- strconv.FormatInt(h.revision.Add(1), 10)
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

// A usage has the numbers of objects of a page.
type usage struct{ nodes, listeners, documents, heap int }

// usage counts the objects of the page after its last fetched document was released.
func (p *tab) usage() (u usage) {
	p.Helper()
	//nolint:contextcheck // a tab has a context of its own
	if !eventually(p.ctx, func(context.Context) bool { u = p.held(); return u.documents == 1 }) {
		p.Fatalf("the page holds %d documents: what it has fetched stays", u.documents)
	}
	return u
}

// held collects garbage, and counts the remaining objects.
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

// TestDaemonRestarts stops the daemon of an open page, which shows that and the time of its
// data, and reconnects by itself.
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
	p.find("link", "config-000") // the earlier content remains
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

// TestPageCannotBeRead makes updates of the page fail: it must not be shown as live until one
// succeeds.
func TestPageCannotBeRead(t *testing.T) {
	t.Parallel()
	d := serve(t, drifted(2).files(t), "2 findings")
	h := newEventServer(t, d)
	p := chrome.visit(t, h.URL)
	p.expect("500 (Internal Server Error)")
	p.open("/").awaitLive()
	h.fails.Store(true)
	h.events <- strconv.FormatInt(h.revision.Add(2), 10)
	p.await(`/could not be updated, as of \d\d:\d\d/.test(document.getElementById("live").textContent)`)
	p.find("link", "config-000") // the earlier content remains
	h.fails.Store(false)
	p.awaitLive()
}
