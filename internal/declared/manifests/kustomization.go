package manifests

import (
	"bytes"
	"fmt"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// A kustomization is the kustomization file of one folder.
type kustomization struct {
	files filesys.FileSystem
	// dir and file are absolute.
	dir, file string
	// value is null if the file cannot be read; kustomize reports the error then.
	value model.Value
}

// readKustomization returns the kustomization in the folder dir.
func readKustomization(files filesys.FileSystem, dir string) kustomization {
	k := kustomization{files: files, dir: dir}
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if k.file = path.Join(dir, name); files.Exists(k.file) {
			break
		}
	}
	k.value = canonicalFields(k.read(k.file))
	return k
}

// readFields returns the fields of a kustomization that this package reads.
func readFields() []string {
	return []string{
		"kind", "resources", "bases", "components", "generators", "transformers", "validators", "namespace", "namePrefix", "nameSuffix",
		"configMapGenerator", "secretGenerator", "helmCharts", "helmChartInflationGenerator", "replacements", "vars", "buildMetadata",
	}
}

// canonicalFields returns a kustomization with the field names of kustomize, which ignores
// their case.
func canonicalFields(v model.Value) model.Value {
	if v.Kind() != model.Map {
		return v
	}
	known := readFields()
	fields := make([]model.Field, 0, len(v.Fields()))
	for _, f := range v.Fields() {
		if i := slices.IndexFunc(known, func(name string) bool { return strings.EqualFold(name, f.Name) }); i >= 0 {
			f.Name = known[i]
		}
		fields = append(fields, f)
	}
	return model.MapOf(fields...)
}

// maxKustomization bounds the size of a kustomization file, in bytes.
const maxKustomization = 1 << 20

func (k kustomization) read(file string) model.Value {
	data, err := k.files.ReadFile(file)
	if err != nil || len(data) > maxKustomization {
		return model.Value{}
	}
	docs, _ := decode.YAML(bytes.NewReader(data))
	if len(docs) == 0 {
		return model.Value{}
	}
	return docs[0].Value
}

// isComponent reports whether the kustomization can only be part of another one.
func (k kustomization) isComponent() bool { return k.value.At("kind").Str() == "Component" }

// entries returns the files, folders and URLs that the kustomization lists.
func (k kustomization) entries() []string {
	var all []string
	for _, field := range []string{"resources", "bases", "components", "generators", "transformers", "validators"} {
		all = append(all, texts(k.value.At(field))...)
	}
	return all
}

// isElsewhere reports whether an entry may be outside of the tree. Kustomize fetches
// everything that looks like a URL, even if the tree has a file with that name.
func (k kustomization) isElsewhere(entry string) bool {
	return strings.ContainsAny(entry, ":@") || strings.HasPrefix(strings.ToLower(entry), "github.com/") || !k.files.Exists(path.Join(k.dir, entry))
}

// folders returns the folders of the kustomization's bases.
func (k kustomization) folders() []string {
	var folders []string
	for _, entry := range k.entries() {
		if dir := path.Join(k.dir, entry); k.files.IsDir(dir) {
			folders = append(folders, dir)
		}
	}
	return folders
}

// withBases returns the kustomization of dir and its bases.
func withBases(files filesys.FileSystem, dir string) []kustomization {
	seen := map[string]bool{dir: true}
	found := []kustomization{readKustomization(files, dir)}
	for i := 0; i < len(found); i++ {
		for _, below := range found[i].folders() {
			if !seen[below] {
				seen[below] = true
				found = append(found, readKustomization(files, below))
			}
		}
	}
	return found
}

// roots returns the folders of dirs that are no base of another one. Of a cycle, it returns
// the first folder, so that kustomize reports the cycle.
func roots(files filesys.FileSystem, dirs []string) []string {
	used := map[string]bool{}
	components := map[string]bool{}
	upon := map[string][]string{}
	for _, dir := range dirs {
		k := readKustomization(files, dir)
		components[dir], upon[dir] = k.isComponent(), k.folders()
		for _, below := range upon[dir] {
			used[below] = true
		}
	}
	var chosen []string
	reached := map[string]bool{}
	choose := func(dir string) {
		chosen = append(chosen, dir)
		for next := []string{dir}; len(next) > 0; next = next[1:] {
			if !reached[next[0]] {
				reached[next[0]] = true
				next = append(next, upon[next[0]]...)
			}
		}
	}
	for _, dir := range dirs {
		if !used[dir] && !components[dir] {
			choose(dir)
		}
	}
	for _, dir := range dirs {
		if !reached[dir] && !components[dir] {
			choose(dir)
		}
	}
	slices.Sort(chosen)
	return chosen
}

// secrets returns the literals of secret generators, which must not appear in errors.
func (k kustomization) secrets() []string {
	var found []string
	for _, generator := range k.value.At("secretGenerator").Items() {
		for _, literal := range texts(generator.At("literals")) {
			_, content, _ := strings.Cut(literal, "=")
			found = append(found, literal, content)
		}
	}
	return slices.DeleteFunc(found, func(s string) bool { return s == "" })
}

// texts returns the strings of a list.
func texts(v model.Value) []string {
	var found []string
	for _, item := range v.Items() {
		if s := item.Str(); s != "" {
			found = append(found, s)
		}
	}
	return found
}

// buildError returns an error of kustomize without the manifests, patches and secrets that it
// quotes, without the folders of clones, whose names are random, and with the addresses of files.
// The middle of a long text is left out: the cause is at its end.
func buildError(err error, t *tree, secrets []string) string {
	const head, tail = 100, 300
	text := quoted().ReplaceAllString(err.Error(), "…")
	text, _, _ = strings.Cut(text, "\n")
	text = clones().ReplaceAllString(text, "…")
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, "…")
	}
	text = t.withAddresses(withoutSecrets(text))
	if runes := []rune(text); len(runes) > head+tail {
		text = string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
	}
	return fmt.Sprintf("kustomize cannot build it (run kustomize build for the full error): %s", text)
}

var (
	quoted = lazyregexp.New("(?s)`[^`]*`|\\[patch: .*\\]")
	clones = lazyregexp.New(`[^\s'"]*/driftd-box-[0-9]+/kustomize-[0-9]+`)
)
