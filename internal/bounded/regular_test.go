package bounded_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/driftd/driftd/internal/bounded"
)

// TestReadRegular reads no pipe, device or socket: a test that opened one would not end.
func TestReadRegular(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, content := range map[string]string{"small": "1234", "large": "12345"} {
		if err := os.WriteFile(at(name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("unix", at("socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	err = errors.Join(syscall.Mkfifo(at("pipe"), 0o600), os.Mkdir(at("folder"), 0o700),
		os.Symlink("small", at("link")), os.Symlink("pipe", at("pipe link")))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		at("small"): nil, at("link"): nil, at("large"): bounded.ErrTooLarge, at("missing"): fs.ErrNotExist,
		at("pipe"): bounded.ErrNotRegular, at("pipe link"): bounded.ErrNotRegular, at("folder"): bounded.ErrNotRegular,
		at("socket"): bounded.ErrNotRegular, "/dev/zero": bounded.ErrNotRegular,
	} {
		content, err := bounded.ReadRegular(name, 4)
		if !errors.Is(err, want) || (err == nil) != (string(content) == "1234") {
			t.Errorf("%s: got %q, %v; want %v", name, content, err, want)
		}
		if path := (*fs.PathError)(nil); err != nil && (!errors.As(err, &path) || path.Path != name) {
			t.Errorf("%s: the error does not name the file: %v", name, err)
		}
	}
}

func TestOpenRegularLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	link := filepath.Join(dir, "link")
	err := errors.Join(os.WriteFile(filepath.Join(dir, "file"), nil, 0o600), os.Symlink("file", link))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := bounded.OpenRegular(link, os.O_RDONLY|syscall.O_NOFOLLOW, 0); !errors.Is(err, syscall.ELOOP) {
		t.Errorf("error %v, want ELOOP", err)
	}
	made, err := bounded.OpenRegular(filepath.Join(dir, "new"), os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if err := made.Close(); err != nil {
		t.Error(err)
	}
}

// TestCause checks that the path of a file error is removed, and that other errors are unchanged.
func TestCause(t *testing.T) {
	t.Parallel()
	at := &fs.PathError{Op: "open", Path: "/etc/secret", Err: fs.ErrPermission}
	for _, tc := range []struct {
		reason    string
		err, want error
	}{
		{"no error", nil, nil},
		{"another error", errBroken, errBroken},
		{"an error of a file", at, fs.ErrPermission},
		{"wrapped", fmt.Errorf("read the file: %w", at), fs.ErrPermission},
		{"joined", errors.Join(at, errBroken), fs.ErrPermission},
	} {
		if got := bounded.Cause(tc.err); !errors.Is(got, tc.want) || fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: got %v, want %v", tc.reason, got, tc.want)
		}
	}
}
