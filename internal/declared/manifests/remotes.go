package manifests

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// readFields returns the fields of a kustomization that this package reads.
func readFields() []string {
	return []string{
		"kind", "resources", "bases", "components", "generators", "transformers", "validators", "namespace", "namePrefix", "nameSuffix",
		"configMapGenerator", "secretGenerator", "helmCharts", "helmChartInflationGenerator", "replacements", "vars", "buildMetadata",
	}
}

// isUnread reports whether the kustomization, or the configuration of one of its
// plugins, is a text that this package cannot read: whether kustomize would fetch
// something for it is not known.
func (k kustomization) isUnread() bool {
	data, err := k.files.ReadFile(k.file)
	if err == nil && k.value.Kind() != model.Map && len(bytes.TrimSpace(data)) > 0 {
		return true
	}
	return slices.ContainsFunc(k.configurations(), func(data []byte) bool {
		_, err := decode.YAML(bytes.NewReader(data))
		return err != nil
	})
}

// remotes returns the URLs that building the kustomization would fetch. What
// stands in the tree under the name of a URL does not count: kustomize fetches it
// all the same.
func (k kustomization) remotes() []string {
	found := k.urls(k.value)
	for _, data := range k.configurations() {
		docs, _ := decode.YAML(bytes.NewReader(data)) // isUnread reports the error
		for _, doc := range docs {
			found = append(found, k.urls(doc.Value)...)
		}
	}
	return found
}

// configurations returns the texts that configure kustomize's plugins: inline,
// in files, and in the kustomizations that make them.
func (k kustomization) configurations() [][]byte {
	var all [][]byte
	add := func(file string) {
		if data, err := k.files.ReadFile(file); err == nil {
			all = append(all, data)
		}
	}
	for _, field := range []string{"generators", "transformers", "validators"} {
		for _, entry := range texts(k.value.At(field)) {
			file := path.Join(k.dir, entry)
			switch {
			case strings.Contains(entry, "\n"):
				all = append(all, []byte(entry))
			case !k.files.IsDir(file):
				add(file)
			default:
				for _, part := range reach(k.files, file) {
					for _, named := range part.named() {
						add(named)
					}
				}
			}
		}
	}
	return all
}

// urls returns the URLs in those fields of a tree that name files.
func (k kustomization) urls(v model.Value) []string {
	var found []string
	for _, item := range v.Items() {
		found = append(found, k.urls(item)...)
	}
	for _, f := range v.Fields() {
		if !namesFiles(f.Name) || f.Value.Kind() == model.Map {
			found = append(found, k.urls(f.Value)...)
			continue
		}
		if f.Value.Kind() == model.List {
			found = append(found, k.urls(f.Value)...)
		}
		for _, text := range append(texts(f.Value), f.Value.Str()) {
			_, source, ok := strings.Cut(text, "=")
			if !ok || isURL(text) {
				source = text
			}
			if isURL(source) && !k.isLocal(source) {
				found = append(found, source)
			}
		}
	}
	return found
}

// isLocal reports whether a text that looks like a URL names a file or folder of
// the tree, and kustomize takes it for that: "app@1.yaml".
func (k kustomization) isLocal(text string) bool {
	return !strings.Contains(text, ":") && !strings.HasPrefix(strings.ToLower(text), "github.com/") && k.files.Exists(path.Join(k.dir, text))
}

// namesFiles reports whether a field of kustomize's configuration holds names of
// files and folders.
func namesFiles(field string) bool {
	return slices.Contains([]string{
		"resources", "bases", "components", "generators", "transformers", "validators", "crds", "configurations",
		"patchesstrategicmerge", "path", "paths", "files", "env", "envs", "targetfilepath", "valuesfile",
	}, strings.ToLower(field))
}

// remoteURL fits what kustomize takes for a URL: see NewRepoSpecFromURL in its
// api/internal/git.
var remoteURL = regexp.MustCompile(`(?i)^(git::|ssh://|https?:|file://|github\.com[/:]|[a-z][a-z0-9-]*@)`)

func isURL(entry string) bool { return remoteURL.MatchString(entry) }
