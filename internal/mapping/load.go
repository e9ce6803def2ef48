package mapping

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/bounded"
)

//go:embed tables
var builtIn embed.FS

// Load reads the built-in tables, and then every *.yaml file in the folders, in the order of the
// file names. A later definition of a type replaces the earlier one, or extends it if it contains
// "extend: true". Load returns one error with all faults, each with its file and line.
func Load(folders ...string) (*Tables, error) {
	t := &Tables{types: map[typeKey]*Type{}}
	tables, err := fs.Sub(builtIn, "tables")
	if err != nil {
		return nil, fmt.Errorf("read built-in tables: %w", err)
	}
	errs := []error{t.loadFolder(tables, "built-in")}
	for _, folder := range folders {
		errs = append(errs, t.loadFolder(os.DirFS(folder), folder))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return t, nil
}

func (t *Tables) loadFolder(folder fs.FS, name string) error {
	entries, err := fs.ReadDir(folder, ".")
	if err != nil {
		return fmt.Errorf("read mapping tables of %s: %w; name an existing folder", name, err)
	}
	var errs []error
	for _, entry := range entries {
		if entry.IsDir() || !slices.Contains([]string{".yaml", ".yml"}, path.Ext(entry.Name())) {
			continue
		}
		text, err := readBounded(folder, entry.Name())
		if err == nil {
			err = t.add(path.Join(name, entry.Name()), text)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// maxTable is the maximum size of one file; the largest built-in one has less than a tenth of
// it.
const maxTable = 1 << 20

func readBounded(folder fs.FS, name string) ([]byte, error) {
	text, err := bounded.ReadFile(folder, name, maxTable)
	if errors.Is(err, bounded.ErrTooLarge) {
		err = errors.New("it is larger than 1 MiB; split it")
	}
	if err != nil {
		return nil, fmt.Errorf("read mapping table %s: %w", name, err)
	}
	return text, nil
}

// add compiles one file. Each document in it is a table.
func (t *Tables) add(name string, text []byte) error {
	r := &reader{file: name, tables: t}
	documents := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var document yaml.Node
		err := documents.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return errors.Join(r.errs...)
		case err != nil:
			return errors.Join(append(r.errs, fmt.Errorf("%s: %s", name, strings.TrimPrefix(err.Error(), "yaml: ")))...)
		}
		r.document(document.Content[0])
	}
}
