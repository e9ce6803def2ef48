//go:build e2e

package browser

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var (
	// chrome is the browser of all tests of the package; each visitor has separate cookies.
	chrome *browser
	// shop is a demonstration that tests only read.
	shop *daemon
)

func TestMain(m *testing.M) {
	code, err := runTests(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func runTests(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "driftd-browser-")
	if err != nil {
		return 1, fmt.Errorf("make folder for the browser: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	program, err := chromium()
	if err != nil {
		return 1, err
	}
	stop, err := startBrowser(program, filepath.Join(dir, "chromium"))
	if err != nil {
		return 1, err
	}
	defer stop()
	if shop, err = startDemo(context.Background(), filepath.Join(dir, "shop")); err != nil {
		return 1, err
	}
	defer func() { err = errors.Join(err, shop.stop()) }()
	return m.Run(), nil
}

// chromium returns the path of the browser: DRIFTD_TEST_CHROMIUM, or the output of
// tools/chromium.sh.
func chromium() (string, error) {
	if path := os.Getenv("DRIFTD_TEST_CHROMIUM"); path != "" {
		return path, nil
	}
	find := exec.CommandContext(context.Background(), "sh", "../../tools/chromium.sh")
	find.Stderr = os.Stderr
	out, err := find.Output()
	if err != nil {
		return "", fmt.Errorf("find chromium: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}
