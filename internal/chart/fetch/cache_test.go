package fetch_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/chart/fetch"
)

// indexOf returns the index of a repository with one version of the chart blog.
func indexOf(e chart.Entry) chart.Index {
	return chart.Index{Charts: map[string][]chart.Entry{"blog": {e}}}
}

// plain returns the settings for a chart whose archive is the path of its URL.
func plain(url, path, cache string) fetch.Settings {
	return fetch.Settings{Repo: url, Chart: "blog", Version: "1.0.0", Cache: cache, Limit: 1 << 20, Index: func(context.Context, []byte) (chart.Index, error) {
		return indexOf(chart.Entry{Version: "1.0.0", URLs: []string{path}, Digest: digestOf("/" + path)}), nil
	}}
}

// TestCache shares one cache between two sources. Only old files of the cache are removed.
func TestCache(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.URL.Path) }))
	t.Cleanup(s.Close)
	cache := t.TempDir()
	hex := "chart-" + strings.Repeat("a", 63)
	old := time.Now().Add(-2 * time.Hour)
	names := map[string]bool{"redis-1.tgz": true, "chart-1.tgz": true, "new-12": false, hex + "0": false, hex + "00": true}
	for name := range names {
		file := filepath.Join(cache, name)
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, old, old); err != nil {
			t.Fatal(err)
		}
	}
	names["new-13"], names[hex+"1"] = true, true
	for _, name := range []string{"new-13", hex + "1"} {
		if err := os.WriteFile(filepath.Join(cache, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	one, got, err := read(t, plain(s.URL, "one", cache))
	if err != nil || got != "/one" {
		t.Fatal(got, err)
	}
	two, got, err := read(t, plain(s.URL, "two", cache))
	if err != nil || got != "/two" {
		t.Fatal(got, err)
	}
	if data, err := one.Archive(); err != nil || string(data) != "/one" {
		t.Errorf("after the reading of another source: %q, %v", data, err)
	}
	for name, stays := range names {
		if _, err := os.Stat(filepath.Join(cache, name)); (err == nil) != stays {
			t.Errorf("%s: stays is %t: %v", name, stays, err)
		}
	}

	// A file that is used stays, at any age.
	file := filepath.Join(cache, "chart-"+one.Digest())
	if err := os.Chtimes(file, old, old); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Archive(); err != nil {
		t.Fatal(err)
	}
	if err := two.Fetch(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := one.Archive(); err != nil {
		t.Error(err)
	}
}

// TestNoCache fetches nothing without a folder for it.
func TestNoCache(t *testing.T) {
	t.Parallel()
	if _, _, err := read(t, plain("https://charts.example.org", "blog.tgz", "")); err == nil || !strings.Contains(err.Error(), "set state_dir") {
		t.Error(err)
	}
}

// TestIndexIsReadOnce reads an index that has not changed once, although its server sends it each time.
func TestIndexIsReadOnce(t *testing.T) {
	t.Parallel()
	index, readings := "one", 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			_, _ = fmt.Fprint(w, index)
			return
		}
		_, _ = fmt.Fprint(w, archive)
	}))
	t.Cleanup(s.Close)
	settings := plain(s.URL, "", t.TempDir())
	settings.Index = func(context.Context, []byte) (chart.Index, error) {
		readings++
		// Some tools write digests in upper case.
		return indexOf(chart.Entry{Version: "v1.0.0", URLs: []string{"blog.tgz"}, Digest: strings.ToUpper(strings.TrimPrefix(digestOf(archive), "sha256:"))}), nil
	}
	source, got, err := read(t, settings)
	if err != nil || got != archive {
		t.Fatal(got, err)
	}
	for i, text := range []string{"one", "one", "two", "two"} {
		index = text
		if err := source.Fetch(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		if want := 1 + i/2; readings != want {
			t.Errorf("%d: %d readings, want %d", i, readings, want)
		}
	}
}

// TestSharedIndex downloads and reads the index once for all charts of a repository, also one that is malformed.
func TestSharedIndex(t *testing.T) {
	t.Parallel()
	for _, failed := range []error{nil, errors.New("the index is malformed")} {
		downloads, readings := 0, 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/index.yaml" {
				downloads++
			}
			_, _ = fmt.Fprint(w, archive)
		}))
		t.Cleanup(s.Close)
		settings := plain(s.URL, "", t.TempDir())
		settings.Index = func(context.Context, []byte) (chart.Index, error) {
			readings++
			return indexOf(chart.Entry{Version: "1.0.0", URLs: []string{"blog.tgz"}, Digest: digestOf(archive)}), failed
		}
		var shared fetch.Index
		for _, version := range []string{"1.0.0", "v1.0.0", "2.0.0"} {
			settings.Version = version
			source, err := fetch.New(settings)
			if err != nil {
				t.Fatal(err)
			}
			if err := source.Fetch(t.Context(), &shared); (err == nil) != (failed == nil && version != "2.0.0") {
				t.Errorf("%s: %v", version, err)
			}
		}
		if downloads != 1 || readings != 1 {
			t.Errorf("%d downloads, %d readings", downloads, readings)
		}
	}
}

// TestIsUnanswered distinguishes a server that is down from one that answers with an error.
func TestIsUnanswered(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }))
	_, _, err := read(t, plain(s.URL, "blog.tgz", t.TempDir()))
	if err == nil || fetch.IsUnanswered(err) {
		t.Error(err)
	}
	s.Close()
	if _, _, err = read(t, plain(s.URL, "blog.tgz", t.TempDir())); !fetch.IsUnanswered(err) {
		t.Error(err)
	}
}
