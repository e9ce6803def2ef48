package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/declared/terraform/plan/process"
)

// builtin begins the addresses of the providers that the CLI holds itself.
const builtin = "terraform.io/builtin/"

// schemas returns the schemas of the types in a plan. They change only with
// the CLI and the locked providers, and are asked for once for each.
func (r *runner) schemas(ctx context.Context, p *Plan) (*Schemas, error) {
	name := r.schemaFile(p)
	if text, err := os.ReadFile(name); err == nil {
		if s, err := DecodeSchemas(bytes.NewReader(text), p); err == nil {
			return s, nil
		}
	}
	out := &process.Buffer{Limit: maxOutput}
	cmd := r.command("providers", "schema", "-json", "-no-color")
	cmd.Stdout = out
	if err := cmd.Run(ctx); err != nil {
		return nil, r.explain("providers schema", err, nil)
	}
	s, err := DecodeSchemas(bytes.NewReader(out.Bytes()), p)
	if err != nil || name == "" {
		return s, err
	}
	return s, keep(name, out.Bytes())
}

// schemaFile returns where the schemas are kept; "" when nothing tells which
// providers they are of.
func (r *runner) schemaFile(p *Plan) string {
	if r.lock == nil && !onlyBuiltin(p) {
		return ""
	}
	sum := sha256.Sum256([]byte(r.cli + "\x00" + p.TerraformVersion + "\x00" + string(r.lock)))
	return filepath.Join(r.CacheDir, "schemas", hex.EncodeToString(sum[:16])+".json")
}

func onlyBuiltin(p *Plan) bool {
	for key := range p.types() {
		if !strings.HasPrefix(key.provider, builtin) {
			return false
		}
	}
	return true
}

// maxKept is how many files of schemas are kept, one for each set of locked
// providers.
const maxKept = 32

// prune removes the oldest files of a folder that is full.
func prune(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("prune schemas: %w", err)
	}
	modified := func(e fs.DirEntry) time.Time {
		info, err := e.Info()
		if err != nil {
			return time.Time{}
		}
		return info.ModTime()
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return modified(b).Compare(modified(a)) })
	for _, e := range entries[min(maxKept, len(entries)):] {
		if err := os.Remove(filepath.Join(dir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("prune schemas: %w", err)
		}
	}
	return nil
}

// keep writes a file at once, or not at all.
func keep(name string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return fmt.Errorf("keep schemas: %w", err)
	}
	temporary, err := os.CreateTemp(filepath.Dir(name), "new-*")
	if err != nil {
		return fmt.Errorf("keep schemas: %w", err)
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("keep schemas: %w", err), os.Remove(temporary.Name()))
	}
	return prune(filepath.Dir(name))
}
