package manifests

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// chartValues is the file with the values of a chart.
const chartValues = "values.yaml"

// excluding returns whether a file is in no artifact of the source of the Kustomization by. A file with patterns that cannot be read
// excludes its folder. source-controller matches each file, and no folders.
func (r *fluxReader) excluding(by object) (excluded func(name string) bool, err error) {
	all, own, err := r.ignored(by)
	if err != nil {
		return nil, err
	}
	t, folders := r.tree, map[string]gitrepo.Ignore{".": all}
	var in func(dir string) gitrepo.Ignore
	in = func(dir string) gitrepo.Ignore {
		if known, ok := folders[dir]; ok {
			return known
		}
		text, err := readFile(t.files, path.Join(dir, sourceIgnore), maxKustomization)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			text = []byte("*")
		}
		folders[dir] = in(path.Dir(dir)).With(dir, string(text))
		return folders[dir]
	}
	return func(name string) bool { return in(path.Dir(name)).With(".", own).Matches(name, false) }, nil
}

// withValuesFiles returns the tree with the values of a chart in git replaced by those in the files that its template lists, as
// source-controller does. The version of such a chart has the generation of the HelmChart.
// https://fluxcd.io/flux/components/source/helmcharts/#values-files
func (r *fluxReader) withValuesFiles(spec model.Value, t *tree, l *loader) (*tree, error) {
	merged, found := model.MapOf(), false
	for _, item := range spec.At("valuesFiles").Items() {
		name := folderOf(item.Str())
		values, err := r.valuesIn(name, l.excluded)
		if errors.Is(err, fs.ErrNotExist) && spec.At("ignoreMissingValuesFiles").Text() == "true" {
			continue
		}
		if err != nil {
			return nil, notRead(sketch{}, "its file of values %s cannot be read: %v", shown(name), err)
		}
		merged, found = mergedValues(merged, values), true
		l.installing.Files = append(l.installing.Files, t.file(name))
	}
	own := path.Join(t.Root, chartValues)
	if _, err := fs.Stat(t.files, own); err != nil || !found || l.excluded(own) {
		return nil, notRead(sketch{}, "its chart has no %s, or none of its valuesFiles is there: Flux cannot build it", chartValues)
	}
	l.installing.Moving = true
	return t.withFiles(r.ctx, addedFS{t.files, map[string][]byte{own: merged.AppendJSON(nil)}}, r.loader.config.MaxFileSize), nil
}

// valuesIn returns the values in a file.
func (r *fluxReader) valuesIn(name string, excluded func(string) bool) (model.Value, error) {
	if excluded(name) {
		return model.Value{}, fmt.Errorf("it is excluded: %w", fs.ErrNotExist)
	}
	data, err := bounded.ReadFile(r.tree.files, name, maxInline)
	if err != nil {
		return model.Value{}, bounded.Cause(err)
	}
	if strings.Contains(string(data), encryptedMark) {
		return model.Value{}, errors.New("it is encrypted with SOPS; driftd does not decrypt it")
	}
	documents, err := decode.YAML(bytes.NewReader(data))
	switch {
	case err != nil || len(documents) > 1:
		return model.Value{}, errors.New("it is not one document of YAML")
	case len(documents) == 0 || documents[0].Value.IsNull():
		return model.MapOf(), nil
	case documents[0].Value.Kind() != model.Map:
		return model.Value{}, errors.New("it is not a map")
	}
	return documents[0].Value, nil
}

// mergedValues returns values with those of a later file, which take precedence.
func mergedValues(v, later model.Value) model.Value {
	for _, f := range later.Fields() {
		if own := v.At(f.Name); own.Kind() == model.Map && f.Value.Kind() == model.Map {
			f.Value = mergedValues(own, f.Value)
		}
		v = v.With(f.Name, f.Value)
	}
	return v
}
