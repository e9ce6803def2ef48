package plan

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// TestSink checks that a writer that returns an error or panics ends the command, and not driftd.
func TestSink(t *testing.T) {
	t.Parallel()
	failed := errors.New("full")
	for name, tt := range map[string]struct {
		reason string
		w      func() error
		panics bool
	}{
		"error": {"the command is ended with it", func() error { return failed }, false},
		"panic": {"it is the caller's", func() error { panic("broken") }, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := boxed(t, `while :; do echo more; done`, nil)
			s.options.Boxed = false
			c, err := newCLI(t.Context(), s.options.Dir, s.options.Binary, nil, (&runner{work: &work{Options: s.options}}).launch(), false)
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if panicked := recover() != nil; panicked != tt.panics {
					t.Errorf("%s: panicked: %v", tt.reason, panicked)
				}
			}()
			err = c.run(t.Context(), call{stdout: writerFunc(func(p []byte) (int, error) { return len(p), tt.w() })}, func(ctx context.Context, stdout io.Writer) error {
				_, err := c.tf.PlanJSON(ctx, stdout)
				return err
			})
			if !errors.Is(err, failed) {
				t.Errorf("%s: got %v", tt.reason, err)
			}
		})
	}
}

// TestOutputBound checks the error for a plan whose output exceeds the memory bound.
func TestOutputBound(t *testing.T) {
	t.Parallel()
	s := boxed(t, `case $1 in
plan) for a; do case $a in -out=*) echo >${a#-out=} ;; esac; done ;;
show) while :; do printf 'mooooooooooooooore'; done ;;
esac`, nil)
	ctx := budget.NewTotal(1<<30).Scope(t.Context(), 1<<20)
	_, err := budget.Run(ctx, func(ctx context.Context) (Output, error) { return Run(ctx, s.options) })
	if want := "show: the program prints more than 256 KiB; split the root, raise max_memory, or use engine: state"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestOtherProgram checks the error for a binary that is not Terraform.
func TestOtherProgram(t *testing.T) {
	t.Parallel()
	s := boxed(t, "", nil)
	s.write(s.options.Binary, "#!/bin/sh\necho the token is hunter22\n")
	if got, want := s.failure(), "version: "+s.options.Binary+" does not print a version like Terraform; set binary to terraform or tofu"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUnusableBinary checks that the error for a CLI that cannot be run, or that fails, names it and
// the next step, and that no part of it looks like a secret.
func TestUnusableBinary(t *testing.T) {
	t.Parallel()
	room := secret.New(model.NewSealer([]byte("a key for tests")), secret.Options{})
	for name, want := range map[string]string{
		"passwd":  "the CLI PATH cannot be run (permission denied); set binary to terraform or tofu",
		"absent":  "the CLI PATH cannot be run (no such file or directory); set binary to terraform or tofu",
		"garbage": "version: driftd: start PATH: exec format error; make the program executable, or set binary to another one",
		"silent":  "version: PATH ended with exit status 1 and no message; set binary to terraform or tofu",
		"loud":    "version: exit status 3: no license; the CLI is PATH: set binary to terraform or tofu",
	} {
		s := boxed(t, "", nil)
		s.options.Binary = filepath.Join(t.TempDir(), name)
		switch name {
		case "passwd":
			s.write(s.options.Binary, "root:x:0:0::/root:/bin/sh\n")
		case "garbage":
			s.write(s.options.Binary, "\x7fELF")
		case "silent":
			s.write(s.options.Binary, "#!/bin/sh\nexit 1\n")
		case "loud":
			s.write(s.options.Binary, "#!/bin/sh\necho no license >&2\nexit 3\n")
		}
		if name != "passwd" && name != "absent" {
			if err := os.Chmod(s.options.Binary, 0o700); err != nil {
				t.Fatal(err)
			}
		}
		got := strings.ReplaceAll(s.failure(), s.options.Binary, "PATH")
		if got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if shown := room.Text(s.failure()); shown != s.failure() {
			t.Errorf("%s is sealed: %s", name, shown)
		}
	}
	if text := unusable("/etc/passwd", fs.ErrPermission).Error(); room.Text(text) != text {
		t.Errorf("sealed: %s", room.Text(text))
	}
}
