// Package pinned remembers the scope that a source was read from, such as an account or a project. With the
// credentials of another one, everything that is declared would be missing.
package pinned

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/atomicfile"
)

// A Scope is the scope of the last scan of a source. It is safe for concurrent use.
type Scope struct {
	// what names the scope: "account". file contains its ID; "" if it is only in memory.
	what, file string
	// log gets the errors of writing the file.
	log *slog.Logger

	mu sync.Mutex
	id string
}

// New returns the scope that is stored in a file of the folder with the name of the scope. If dir is "", it is
// only in memory.
func New(what, dir string, log *slog.Logger) *Scope {
	s := &Scope{what: what, log: log}
	if dir != "" {
		s.file = filepath.Join(dir, what)
	}
	return s
}

// Check compares the ID of a scope with the configured one or, if that is "", with that of the last scan. It
// returns the ID that it should be if it is another one, and "" otherwise. Unless the scan is brief, it stores the ID. The
// error is one of reading the file; errors of writing it are only logged.
func (s *Scope) Check(configured, id string, brief bool) (want string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.load(); err != nil {
		return "", err
	}
	if want := cmp.Or(configured, s.id, id); want != id {
		return want, nil
	}
	if brief || s.id == id {
		return "", nil
	}
	if s.id = id; s.file == "" {
		return "", nil
	}
	if err := atomicfile.Write(s.file, []byte(id)); err != nil {
		s.log.Warn("the scope of the scan is not stored: after a restart, credentials of another one are not noticed", "scope", s.what, "err", err)
	}
	return "", nil
}

func (s *Scope) load() error {
	if s.id != "" || s.file == "" {
		return nil
	}
	text, err := os.ReadFile(s.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the %s of the last scan: %w", s.what, err)
	}
	s.id = strings.TrimSpace(string(text))
	return nil
}
