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

// A logBuffer is a buffer for log lines.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// lines returns the lines that were logged since the last call.
func (b *logBuffer) lines() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := strings.TrimSpace(b.text.String())
	b.text.Reset()
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// logCluster returns a cluster and its log.
func logCluster(t *testing.T, f *fake) (*cluster, *logBuffer) {
	t.Helper()
	c, logs := newTestCluster(t, f, nil), &logBuffer{}
	c.env.Log = slog.New(slog.NewTextHandler(logs, nil))
	return c, logs
}

// watchLogged collects once and then watches. It returns the watch and its log.
func watchLogged(t *testing.T, f *fake) (*watched, *logBuffer) {
	t.Helper()
	c, logs := logCluster(t, f)
	if _, err := c.Collect(t.Context()); err != nil {
		t.Fatal(err)
	}
	return watchCluster(t, f, c), logs
}

func refuseAll(w http.ResponseWriter, _ *http.Request) bool { refuse(w, 503, "down"); return true }

func breakAll(f *fake) {
	f.intercept(refuseAll)
	for _, k := range f.served() {
		f.closeWatches(k.resource)
	}
}

// expectLine checks that one line was logged that contains all the texts.
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

func TestWatchLogsInterruption(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, logs := watchLogged(t, f)
		w.after(time.Hour)
		began := time.Now()
		breakAll(f)
		w.after(9 * time.Second)
		if lines := logs.lines(); len(lines) > 0 {
			t.Errorf("a short interruption was logged: %v", lines)
		}
		w.after(2 * time.Second)
		expectLine(t, logs.lines(), "level=WARN", `msg="watch is interrupted"`, "server=https://api.example.org:6443",
			"since="+began.Format("2006-01-02T15:04:05"), `err="503 Service Unavailable: down"`)
		w.after(time.Hour)
		if lines := logs.lines(); len(lines) > 0 {
			t.Errorf("the interruption was logged again: %v", lines)
		}
		f.intercept(nil)
		w.after(time.Hour)
		expectLine(t, logs.lines(), "level=INFO", `msg="watch is restored"`, "server=https://api.example.org:6443")
	})
}

func TestWatchDoesNotLogShortInterruptions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		w, logs := watchLogged(t, f)
		for range 10 {
			breakAll(f)
			w.after(3 * time.Second)
			f.intercept(nil)
			w.after(time.Minute)
		}
		f.intercept(at(deployments, func(w http.ResponseWriter, _ *http.Request) { refuse(w, 503, "down") }))
		f.closeWatches("deployments")
		w.after(time.Hour)
		if lines := logs.lines(); len(lines) > 0 {
			t.Errorf("logged %v", lines)
		}
	})
}

func TestWatchLogsFailedStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake()
		f.intercept(refuseAll)
		c, logs := logCluster(t, f)
		w := watchCluster(t, f, c)
		w.after(time.Hour)
		expectLine(t, logs.lines(), "level=WARN", "watch is interrupted", "503")
		f.intercept(nil)
		w.after(time.Minute)
		expectLine(t, logs.lines(), "level=INFO", "watch is restored")
	})
}

func TestWatchLogsNothingAfterItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w, logs := watchLogged(t, newFake())
		w.end()
		time.Sleep(time.Hour)
		if lines := logs.lines(); len(lines) > 0 {
			t.Errorf("logged %v", lines)
		}
	})
}
