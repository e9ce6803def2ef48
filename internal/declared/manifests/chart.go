package manifests

import (
	"bytes"
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// Bounds of a chart that is read for a sketch: the number of files, the size of each file, and
// the size of the files that list its dependencies, in bytes.
const (
	maxChartFiles    = 2000
	maxTemplate      = 1 << 20
	maxChartManifest = 256 << 10
)

var errChartUnknown = errors.New("the objects of the chart are unknown")

// chart returns the sketch of the Helm chart in dir: the kinds in its templates, its custom
// resource definitions and its subcharts. The namespace is that of the release, which is in no
// file. A chart with a dependency outside of its folder may declare anything.
func (t *tree) chart(dir string) sketch {
	var s sketch
	if !t.hasDependencies(dir) {
		return sketch{unknown: true}
	}
	files := 0
	err := fs.WalkDir(t.files, dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !isTemplate(dir, name) {
			return err
		}
		if files++; files > maxChartFiles || isArchive(name) {
			return errChartUnknown
		}
		data, err := t.readFile(name, maxTemplate)
		if err != nil {
			return err
		}
		s.add(templateSketch(path.Base(name), data))
		return nil
	})
	return sketch{unknown: err != nil || s.unknown, extents: s.extents}
}

// hasDependencies reports whether all dependencies of the chart are in its folder.
func (t *tree) hasDependencies(dir string) bool {
	for _, file := range []string{"Chart.yaml", "requirements.yaml"} {
		data, err := t.readFile(path.Join(dir, file), maxChartManifest)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		docs, parseErr := decode.YAML(bytes.NewReader(data))
		if err != nil || parseErr != nil {
			return false
		}
		for _, doc := range docs {
			if !t.holdsCharts(dir, doc.Value.At("dependencies").Items()) {
				return false
			}
		}
	}
	return true
}

// holdsCharts reports whether a chart's folder contains each dependency, unpacked.
func (t *tree) holdsCharts(dir string, dependencies []model.Value) bool {
	for _, d := range dependencies {
		info, err := fs.Stat(t.files, path.Join(dir, "charts", d.At("name").Str()))
		if err != nil || !info.IsDir() || d.At("name").Str() == "" {
			return false
		}
	}
	return true
}

// isTemplate reports whether a file of a chart may declare objects.
func isTemplate(dir, name string) bool {
	inside := "/" + strings.TrimPrefix(name, dir)
	return (strings.Contains(inside, "/templates/") || strings.Contains(inside, "/crds/") || isArchive(name)) &&
		path.Base(name) != "NOTES.txt"
}

func isArchive(name string) bool {
	return strings.HasSuffix(name, ".tgz") || strings.HasSuffix(name, ".tar.gz")
}

// templateSketch returns the sketch of a template. A file of partial templates
// declares no object by itself; only the kinds in its text count.
func templateSketch(name string, data []byte) sketch {
	var s sketch
	partial := strings.HasPrefix(name, "_")
	for _, doc := range documents(data) {
		if !partial {
			if len(bytes.TrimSpace(doc)) > 0 {
				s.add(templateDocument(doc))
			}
			continue
		}
		if found := anyKind().FindAllStringSubmatch(comment().ReplaceAllString(string(doc), ""), -1); len(found) > 0 {
			s.add(kindsIn(found))
		}
	}
	return s
}

// templateDocument returns the sketch of a document of a template. A document that
// has only template actions declares nothing.
func templateDocument(doc []byte) sketch {
	text := comment().ReplaceAllString(string(doc), "")
	if !wholeInclude().MatchString(text) && !anyKind().MatchString(text) {
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "{{") {
				return sketchOf(doc)
			}
		}
		return sketch{}
	}
	return sketchOf(doc)
}
