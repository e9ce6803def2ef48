package plan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/budget"
)

// builtin is the prefix of the addresses of providers that are part of the CLI.
const builtin = "terraform.io/builtin/"

// schemas returns the schemas of the types in a plan. They are cached for each version of the CLI
// and set of locked providers.
func (r *runner) schemas(ctx context.Context, p *Plan) (*Schemas, error) {
	name := r.schemaFile(p)
	ctx, settle := budget.Part(ctx)
	defer settle(0)
	if text, err := os.ReadFile(name); err == nil {
		if err := takeSchemas(ctx, text); err != nil {
			return nil, err
		}
		if s, err := DecodeSchemas(bytes.NewReader(text), p); err == nil {
			return s, nil
		}
	}
	text, err := r.askSchemas(ctx)
	if err != nil {
		return nil, err
	}
	s, err := DecodeSchemas(bytes.NewReader(text), p)
	if err != nil || name == "" {
		return s, err
	}
	return s, keep(name, text)
}

// askSchemas reads the schemas from the providers. It returns those of resource types.
func (r *runner) askSchemas(ctx context.Context) ([]byte, error) {
	var all *tfjson.ProviderSchemas
	count := func(p []byte) (int, error) { return len(p), budget.Take(ctx, perSchema*int64(len(p))) }
	c := call{output: budget.Limit(ctx, maxSchemas*perSchema) / perSchema, stdout: writerFunc(count)}
	err := r.cli.run(ctx, c, func(ctx context.Context, _ io.Writer) (err error) {
		all, err = r.cli.tf.ProvidersSchema(ctx)
		return err
	})
	if err != nil {
		return nil, r.explain("providers schema", err, nil)
	}
	for _, provider := range all.Schemas {
		*provider = tfjson.ProviderSchema{ResourceSchemas: provider.ResourceSchemas}
	}
	return json.Marshal(all)
}

// maxSchemas bounds the JSON of all schemas of a root, in bytes. Each of the large clouds has about
// 15 MiB.
const maxSchemas = 256 << 20

// perSchema is the maximum memory for reading schemas, per byte of their JSON.
const perSchema = 12

// takeSchemas reserves the memory for decoding schemas. Only the types in the plan are decoded; the
// others are copied as text.
func takeSchemas(ctx context.Context, text []byte) error {
	return budget.Take(ctx, 3*int64(len(text)))
}

// schemaFile returns the path of the cached schemas, or "" if the versions of the providers are
// unknown.
func (r *runner) schemaFile(p *Plan) string {
	if r.lock == nil && !onlyBuiltin(p) {
		return ""
	}
	sum := sha256.Sum256([]byte(r.cli.path + "\x00" + p.TerraformVersion + "\x00" + string(r.lock)))
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

// maxKept bounds the number of cached files of a sort, such as the schemas of each set of locked providers.
const maxKept = 32

// prune removes the oldest files of a folder that has too many.
func prune(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("prune cache: %w", err)
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
			return fmt.Errorf("prune cache: %w", err)
		}
	}
	return nil
}

// keep writes a file of the cache.
func keep(name string, text []byte) error {
	if err := atomicfile.Write(name, text); err != nil {
		return fmt.Errorf("write cache: %w", err)
	}
	return prune(filepath.Dir(name))
}
