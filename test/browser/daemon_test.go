//go:build e2e

package browser

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/driftd/driftd/test/process"
)

// A daemon is a driftd that serves pages.
type daemon struct {
	// base is its address, without a path.
	base, dir string
	// state is the folder of its database, within dir.
	state   string
	options process.Options
	process *process.Process
}

// startDemo starts the demonstration, and waits for its drift.
func startDemo(ctx context.Context, dir string) (*daemon, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("make folder of the demonstration: %w", err)
	}
	listen, err := process.FreeAddress()
	if err != nil {
		return nil, err
	}
	d, err := startDaemon(ctx, dir, listen, "demo", "--listen", listen, "--keep", filepath.Join(dir, "kept"))
	if err != nil {
		return nil, err
	}
	d.state = "kept/state"
	return d, d.awaitPage(ctx, "2 findings")
}

// demo starts a demonstration for one test, which may change it.
func demo(t *testing.T) *daemon {
	t.Helper()
	d, err := startDemo(t.Context(), t.TempDir())
	return d.of(t, err)
}

// serve starts a daemon with files: its configuration, in which %s is the address, and the
// files that this names. It waits for a text on the list.
func serve(t *testing.T, files map[string]string, awaited string) *daemon {
	t.Helper()
	dir := t.TempDir()
	listen, err := process.FreeAddress()
	if err != nil {
		t.Fatal(err)
	}
	files = maps.Clone(files)
	files["driftd.yaml"] = strings.ReplaceAll(files["driftd.yaml"], "$ADDRESS", listen)
	if err := writeFiles(dir, files); err != nil {
		t.Fatal(err)
	}
	d, err := startDaemon(t.Context(), dir, listen, "serve", "--config", filepath.Join(dir, "driftd.yaml"))
	if err == nil && awaited != "" {
		err = d.awaitPage(t.Context(), awaited)
	}
	return d.of(t, err)
}

// of stops the daemon at the end of a test.
func (d *daemon) of(t *testing.T, err error) *daemon {
	t.Helper()
	if d != nil {
		t.Cleanup(func() {
			if err := d.stop(); err != nil {
				t.Error(err)
			}
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func startDaemon(ctx context.Context, dir, listen string, args ...string) (*daemon, error) {
	program, err := process.Driftd()
	if err != nil {
		return nil, err
	}
	d := &daemon{base: "http://" + listen, dir: dir, state: "state", options: process.Options{Program: program, Args: args, Log: filepath.Join(dir, "log"),
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + dir}}}
	return d, d.start(ctx)
}

// start starts the daemon, and waits for its first scan.
func (d *daemon) start(ctx context.Context) (err error) {
	if d.process, err = process.Start(d.options); err != nil {
		return fmt.Errorf("start driftd: %w", err)
	}
	if !eventually(ctx, func(ctx context.Context) bool {
		status, _, err := d.get(ctx, "/readyz")
		return d.process.Exited() || err == nil && status == http.StatusOK
	}) || d.process.Exited() {
		return fmt.Errorf("driftd does not become ready: %s", d.process.Log())
	}
	return nil
}

func (d *daemon) stop() error {
	if d == nil || d.process == nil {
		return nil
	}
	return d.process.Stop()
}

// awaitPage waits until the list contains a text.
func (d *daemon) awaitPage(ctx context.Context, text string) error {
	var page string
	if eventually(ctx, func(ctx context.Context) bool {
		var err error
		_, page, err = d.get(ctx, "/")
		return err == nil && strings.Contains(page, text)
	}) {
		return nil
	}
	return fmt.Errorf("the list does not contain %q: %.3000s", text, page)
}

// get requests a path as a program on this host does.
func (d *daemon) get(ctx context.Context, path string) (status int, body string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, d.base+path, http.NoBody)
	if err != nil {
		return 0, "", fmt.Errorf("ask for %s: %w", path, err)
	}
	return answerOf(http.DefaultClient, r)
}

func answerOf(client *http.Client, r *http.Request) (status int, body string, err error) {
	answer, err := client.Do(r)
	if err != nil {
		return 0, "", fmt.Errorf("ask for %s: %w", r.URL.Path, err)
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return 0, "", fmt.Errorf("read %s: %w", r.URL.Path, err)
	}
	return answer.StatusCode, string(text), nil
}

// metric returns the value of a metric without labels.
func (d *daemon) metric(ctx context.Context, name string) float64 {
	_, page, err := d.get(ctx, "/metrics")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(page, "\n"+name+" ")
	line, _, _ := strings.Cut(rest, "\n")
	value, err := strconv.ParseFloat(line, 64)
	if err != nil {
		return 0
	}
	return value
}

func writeFiles(dir string, files map[string]string) error {
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}
