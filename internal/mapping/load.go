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
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/driftd/driftd/internal/bounded"
)

//go:embed tables
var builtIn embed.FS

// Load reads every *.yaml file in the folders, in the order of the file names, after the built-in
// tables. A later definition of a type replaces the earlier one, or extends it if it contains
// "extend: true". Load returns one error with all faults, each with its file and line.
//
// The built-in tables of a provider are compiled when they are first needed.
func Load(folders ...string) (*Tables, error) {
	builtIn, err := builtInTables()
	if err != nil {
		return nil, fmt.Errorf("read built-in tables: %w", err)
	}
	t := &Tables{builtIn: builtIn, own: map[typeKey]*Type{}}
	var errs []error
	for _, folder := range folders {
		errs = append(errs, t.loadFolder(folder))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return t, nil
}

// builtInTables returns a function for each provider that compiles the files with its types.
func builtInTables() (map[string]func() map[typeKey]*Type, error) {
	names, err := fs.Glob(builtIn, "tables/*.yaml")
	if err != nil {
		return nil, err
	}
	files := map[string][]string{}
	for _, name := range names {
		text, err := builtIn.ReadFile(name)
		if err != nil {
			return nil, err
		}
		for _, provider := range providersOf(text) {
			files[provider] = append(files[provider], name)
		}
	}
	tables, compiled := map[string]func() map[typeKey]*Type{}, map[string]func() map[typeKey]*Type{}
	for provider, names := range files {
		// Several names of one provider, which are in the same files, share its types.
		group := strings.Join(names, " ")
		if compiled[group] == nil {
			compiled[group] = sync.OnceValue(func() map[typeKey]*Type { return compileBuiltIn(names) })
		}
		tables[provider] = compiled[group]
	}
	return tables, nil
}

// providersOf returns the providers that a built-in file has types of. Each document of it names
// them in one line.
func providersOf(text []byte) []string {
	var providers []string
	for line := range strings.Lines(string(text)) {
		if list, ok := strings.CutPrefix(line, "provider: "); ok {
			for provider := range strings.SplitSeq(strings.Trim(list, "[]\n"), ", ") {
				providers = append(providers, provider)
			}
		}
	}
	slices.Sort(providers)
	return slices.Compact(providers)
}

// compileBuiltIn panics if a file is not valid: it is part of the program.
func compileBuiltIn(names []string) map[typeKey]*Type {
	t := &Tables{own: map[typeKey]*Type{}}
	for _, name := range names {
		text, err := builtIn.ReadFile(name)
		if err == nil {
			err = t.add(path.Join("built-in", path.Base(name)), text)
		}
		if err != nil {
			panic(err)
		}
	}
	return t.own
}

func (t *Tables) loadFolder(name string) error {
	folder := os.DirFS(name)
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
