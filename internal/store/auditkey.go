package store

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/driftd/driftd/internal/audit"
)

const (
	auditKeyName = "audit.key"
	maxAuditKey  = 4 << 10
)

// AuditKey returns the key of the audit log in the file audit.key in dir. If the file does not
// exist, AuditKey creates it if create is set, and otherwise returns an error that wraps
// fs.ErrNotExist. It returns an error if others than the owner can read the file.
func AuditKey(dir string, create bool) (*audit.Key, error) {
	path := filepath.Join(dir, auditKeyName)
	text, err := readOwn(path, maxAuditKey)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err := makeAuditKey(path); err != nil {
			return nil, fmt.Errorf("make the key of the audit log: %w", unwritable(dir, err))
		}
		text, err = readOwn(path, maxAuditKey)
	}
	if err != nil {
		return nil, fmt.Errorf("read the key of the audit log: %w", err)
	}
	key, err := audit.ParseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("read the key of the audit log %s: %w", path, err)
	}
	return &key, nil
}

// HasAuditKey reports whether the file of the key exists in dir.
func HasAuditKey(dir string) bool { return occupied(filepath.Join(dir, auditKeyName)) }

func makeAuditKey(path string) error {
	origin, err := NewOrigin()
	if err != nil {
		return err
	}
	text, err := audit.GenerateKey(origin)
	if err != nil {
		return err
	}
	return makeOwn(path, []byte(text+"\n"))
}

// NewOrigin returns a unique name for an audit log. It consists of "driftd", the name of the host
// and random digits.
func NewOrigin() (string, error) {
	host, err := os.Hostname()
	if err != nil {
		return "", fmt.Errorf("name the audit log: %w", err)
	}
	random := make([]byte, 4)
	rand.Read(random)
	return "driftd/" + regexp.MustCompile(`[^A-Za-z0-9.-]`).ReplaceAllString(host, "-") + "/" + hex.EncodeToString(random), nil
}

// RotateKey replaces the key of the audit log with next, which must have the same origin. Before
// the store records anything else, the caller must close it and open it with the new key.
func (s *Store) RotateKey(next audit.Key) error {
	return s.updateAudit("give the audit log another key", func(t *txn) error {
		log := t.auditLog()
		if what := t.otherKey(); what != "" {
			return errors.New(what)
		}
		if err := log.Rotate(*t.signer, next, s.o.Now()); err != nil {
			return err
		}
		if err := t.setKey(next.Public()); err != nil {
			return err
		}
		return t.keepSigned(log)
	})
}

// ExportAudit exports the audit log as files. It calls write with the name and the content of each;
// see audit.Log.Export.
func (s *Store) ExportAudit(write func(name string, b []byte) error) error {
	return s.viewAudit("export the audit log", func(t *txn) error { return t.auditLog().Export(write) })
}
