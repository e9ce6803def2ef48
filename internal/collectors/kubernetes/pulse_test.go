package kubernetes

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// A logbook keeps what is logged.
type logbook struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logbook) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// lines returns what was logged since it was asked the last time.
func (b *logbook) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.TrimSpace(b.text.String())
	b.text.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// logCluster returns a cluster that logs into a book.
func logCluster(t *testing.T, f *fake) (*cluster, *logbook) {
	t.Helper()
	c, book := newTestCluster(t, f, nil), &logbook{}
	c.env.Log = slog.New(slog.NewTextHandler(book, nil))
	return c, book
}

// watchLogged collects once and then watches.
func watchLogged(t *testing.T, f *fake) (*watched, *logbook) {
	t.Helper()
	c, book := logCluster(t, f)
	if _, err := c.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return watchCluster(t, f, c), book
}

func refuseAll(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 503, "down"); return true }

func breakAll(f *fake) {
	f.intercept(refuseAll)
	for _, k := range f.served() {
		f.closeWatches(k.resource)
	}
}

// expectLine checks that one line was logged, with all that is wanted.
func expectLine(t *testing.T, lines []string, want ...string) {
	t.Helper()
	if len(lines) != 1 {
		t.Fatalf("logged %d lines, want one with %q:\n%s", len(lines), want, strings.Join(lines, "\n"))
	}
	for _, w := range want {
		if !strings.Contains(lines[0], w) {
			t.Errorf("logged %q, want %q in it", lines[0], w)
		}
	}
}

func TestWatchTellsThatItIsBroken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, book := watchLogged(t, f)
		w.after(time.Hour)
		began := time.Now()
		breakAll(f)
		w.after(9 * time.Second)
		if lines := book.lines(); len(lines) > 0 {
			t.Errorf("a short break was told: %v", lines)
		}
		w.after(2 * time.Second)
		expectLine(t, book.lines(), "level=WARN", `msg="source is not followed"`, "server=https://api.example.org:6443",
			"since="+began.Format("2006-01-02T15:04:05"), `err="503 Service Unavailable: down"`)
		w.after(time.Hour)
		if lines := book.lines(); len(lines) > 0 {
			t.Errorf("it was told more than once: %v", lines)
		}
		f.intercept(nil)
		w.after(time.Hour)
		expectLine(t, book.lines(), "level=INFO", `msg="source is followed again"`, "server=https://api.example.org:6443")
	})
}

func TestWatchIsSilentAboutShortBreaks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, book := watchLogged(t, f)
		for range 10 {
			breakAll(f)
			w.after(3 * time.Second)
			f.intercept(nil)
			w.after(time.Minute)
		}
		f.intercept(at(deployments, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "down") }))
		f.closeWatches("deployments")
		w.after(time.Hour)
		if lines := book.lines(); len(lines) > 0 {
			t.Errorf("logged %v", lines)
		}
	})
}

func TestWatchTellsThatItCannotBegin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.intercept(refuseAll)
		c, book := logCluster(t, f)
		w := watchCluster(t, f, c)
		w.after(time.Hour)
		expectLine(t, book.lines(), "level=WARN", "source is not followed", "503")
		f.intercept(nil)
		w.after(time.Minute)
		expectLine(t, book.lines(), "level=INFO", "source is followed again")
	})
}

func TestWatchThatEndsTellsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, book := watchLogged(t, newFake())
		w.end()
		time.Sleep(time.Hour)
		if lines := book.lines(); len(lines) > 0 {
			t.Errorf("logged %v", lines)
		}
	})
}
