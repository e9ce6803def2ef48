package witness_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/declared/gitrepo/gittest"
	"github.com/driftd/driftd/internal/witness"
)

func now() time.Time { return time.Date(2026, 11, 24, 12, 0, 0, 0, time.UTC) }

func env() witness.Env {
	return witness.Env{Origin: origin, Version: "1.2.3", Now: now, Log: slog.New(slog.DiscardHandler)}
}

func open(t *testing.T, s witness.Settings, e witness.Env) witness.Witness {
	t.Helper()
	w, err := witness.Open(s, e)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// A place is what a kind of witness stands on.
type place struct {
	settings witness.Settings
	// down makes the place unavailable.
	down func()
	// hang makes the place stop responding, and calls the function when a call waits for it; nil
	// if the place cannot.
	hang func(waiting func())
	// forge adds a record that the key did not sign.
	forge func(note []byte)
	// where is the part of an error that names the forged record.
	where string
}

// places returns how a place of each kind is made.
func places() map[string]func(t *testing.T) place {
	return map[string]func(t *testing.T) place{
		"file": func(t *testing.T) place {
			dir := filepath.Join(t.TempDir(), "mnt")
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "heads")
			return place{
				settings: witness.Settings{File: path},
				down: func() {
					if err := os.Rename(dir, dir+"x"); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(dir, nil, 0o600); err != nil {
						t.Fatal(err)
					}
				},
				forge: func(note []byte) { appendTo(t, path, record(string(note))) },
				where: path + ", line 11: ",
			}
		},
		"webhook": func(t *testing.T) place {
			hold := make(chan func(), 1)
			server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				select {
				case waiting := <-hold:
					// Only then the server notices that the client is gone.
					_, _ = io.Copy(io.Discard, r.Body)
					waiting()
					<-r.Context().Done()
				default:
				}
			}))
			t.Cleanup(server.Close)
			return place{
				settings: witness.Settings{Webhook: server.URL + "/s3cr3t"},
				down:     server.Close,
				hang:     func(waiting func()) { hold <- waiting },
			}
		},
		"git over https": func(t *testing.T) place {
			p, g := gitPlace(t)
			p.settings.Git, p.settings.CAFile, p.settings.Username = g.URL, g.CAFile, "git"
			p.hang = func(waiting func()) {
				g.Before(func(r *http.Request) {
					waiting()
					<-r.Context().Done()
				})
			}
			return p
		},
		"git in a folder": func(t *testing.T) place {
			p, g := gitPlace(t)
			p.settings.Git = "file://" + g.Dir
			return p
		},
	}
}

func gitPlace(t *testing.T) (place, *gittest.Repository) {
	g := gittest.New(t)
	return place{
		settings: witness.Settings{Branch: "heads"},
		down: func() {
			if err := os.Rename(g.Dir, g.Dir+"x"); err != nil {
				t.Fatal(err)
			}
		},
		forge: func(note []byte) { g.Commit("heads", "witness.example%2Flog/checkpoint", string(note)) },
		where: ", witness.example%2Flog/checkpoint: ",
	}, g
}

// TestContract checks the promises of Witness for each kind.
func TestContract(t *testing.T) {
	t.Parallel()
	for name, make := range places() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("heads", func(t *testing.T) { t.Parallel(); testHeads(t, make(t)) })
			t.Run("forged", func(t *testing.T) { t.Parallel(); testForged(t, make(t)) })
			t.Run("down", func(t *testing.T) { t.Parallel(); testDown(t, make(t)) })
			t.Run("cancelled", func(t *testing.T) { t.Parallel(); testCancelled(t, make(t)) })
			t.Run("hangs", func(t *testing.T) { t.Parallel(); testHangs(t, make(t)) })
		})
	}
}

// testHeads checks that heads come back in order, also to another process.
func testHeads(t *testing.T, p place) {
	log := newLog(t)
	w := open(t, p.settings, env())
	heads, err := w.Heads(t.Context(), log.parse)
	if len(heads) > 0 || err != nil && !errors.Is(err, witness.ErrWriteOnly) {
		t.Errorf("without heads: %v, %v", heads, err)
	}
	want := []audit.Head{log.add(), log.add(), log.add()}
	for _, h := range want {
		if err := w.Publish(t.Context(), h, false); err != nil {
			t.Fatal(err)
		}
	}
	heads, err = open(t, p.settings, env()).Heads(t.Context(), log.parse)
	if errors.Is(err, witness.ErrWriteOnly) {
		return
	}
	if diff := cmp.Diff(want, heads); err != nil || diff != "" {
		t.Errorf("error %v (-want +got):\n%s", err, diff)
	}
}

// testForged checks that a record of another key does not hide the others.
func testForged(t *testing.T, p place) {
	if p.forge == nil {
		return
	}
	log, other := newLog(t), newLog(t)
	w := open(t, p.settings, env())
	want := []audit.Head{log.add(), log.add()}
	for i, h := range want {
		if i > 0 {
			p.forge(other.add().Note)
		}
		if err := w.Publish(t.Context(), h, false); err != nil {
			t.Fatal(err)
		}
	}
	heads, err := w.Heads(t.Context(), log.parse)
	if diff := cmp.Diff(want, heads); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err == nil || !strings.Contains(err.Error(), p.where) || !strings.Contains(err.Error(), "not signed by the key") {
		t.Errorf("error %v, want one with %q", err, p.where)
	}
}

func testDown(t *testing.T, p place) {
	log := newLog(t)
	w := open(t, p.settings, env())
	p.down()
	if err := w.Publish(t.Context(), log.add(), false); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Errorf("publish: %v", err)
	}
	if heads, err := w.Heads(t.Context(), log.parse); err == nil || len(heads) > 0 {
		t.Errorf("heads: %v, %v", heads, err)
	}
}

func testCancelled(t *testing.T, p place) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	log := newLog(t)
	w := open(t, p.settings, env())
	if err := w.Publish(ctx, log.add(), false); !errors.Is(err, context.Canceled) {
		t.Errorf("publish: %v", err)
	}
	if _, err := w.Heads(ctx, log.parse); !errors.Is(err, context.Canceled) && !errors.Is(err, witness.ErrWriteOnly) {
		t.Errorf("heads: %v", err)
	}
}

// testHangs checks that a call ends with its context, and with the timeout.
func testHangs(t *testing.T, p place) {
	if p.hang == nil {
		return
	}
	log := newLog(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	p.hang(cancel)
	if err := open(t, p.settings, env()).Publish(ctx, log.add(), false); !errors.Is(err, context.Canceled) {
		t.Errorf("publish: %v", err)
	}
	p.hang(func() {})
	short := env()
	short.Timeout = 50 * time.Millisecond
	if err := open(t, p.settings, short).Publish(t.Context(), log.add(), false); err == nil || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("the timeout: %v", err)
	}
}

const origin = "witness.example/log"

// A testLog is a log that signs heads.
type testLog struct {
	t   *testing.T
	key audit.Key
	*audit.Log
}

type records map[string][]byte

func (m records) Get(key []byte) []byte { return m[string(key)] }

func (m records) Put(key, value []byte) error {
	m[string(key)] = append([]byte(nil), value...)
	return nil
}

func (m records) Remove(key []byte) error {
	delete(m, string(key))
	return nil
}

func (m records) Walk(from []byte, visit func(key, value []byte) bool) {
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key >= string(from) && !visit([]byte(key), m[key]) {
			return
		}
	}
}

func newLog(t *testing.T) testLog {
	t.Helper()
	text, err := audit.GenerateKey(origin)
	if err != nil {
		t.Fatal(err)
	}
	key, err := audit.ParseKey(text)
	if err != nil {
		t.Fatal(err)
	}
	return testLog{t, key, audit.New(records{}, key.Public())}
}

// add returns the head after one more entry.
func (l testLog) add() audit.Head {
	l.t.Helper()
	h, err := l.Append([]audit.Key{l.key}, audit.Entry{Kind: audit.KindScan, Time: now(), Data: map[string]int{}})
	if err != nil {
		l.t.Fatal(err)
	}
	return h
}

func (l testLog) parse(note []byte) (audit.Head, error) { return audit.ParseHead(note, l.key.Public()) }
