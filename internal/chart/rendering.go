package chart

import (
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// A Rendering is the output of a chart for one set of API versions, and for an installation or an upgrade.
type Rendering struct {
	// Outputs are the outputs of the templates by their paths, which begin with the name of the chart, and Again are those at other times.
	Outputs map[string]string
	Again   []map[string]string
	// Calls are the functions with results that differ from call to call.
	Calls []string
}

// Files returns the outputs of the templates in the renderings. all must not be empty.
func Files(all []Rendering) []File {
	var files []File
	first, others := all[0], all[1:]
	for _, name := range slices.Sorted(maps.Keys(first.Outputs)) {
		if !IsManifest(name) {
			continue
		}
		file := File{Name: Below(name), Output: first.output(name)}
		seen := []string{first.Outputs[name]}
		for _, other := range others {
			if text := other.Outputs[name]; !slices.Contains(seen, text) {
				seen = append(seen, text)
				file.Otherwise = append(file.Otherwise, other.output(name))
			}
		}
		files = append(files, file)
	}
	return files
}

// Below returns the path of a file from the chart's folder.
func Below(name string) string {
	_, below, _ := strings.Cut(name, "/")
	return below
}

func (r *Rendering) output(name string) Output {
	made := Output{Documents: Documents(r.Outputs[name])}
	if slices.ContainsFunc(r.Again, func(again map[string]string) bool { return again[name] != r.Outputs[name] }) {
		made.Calls = r.Calls
		for _, again := range r.Again {
			made.Again = append(made.Again, Documents(again[name]))
		}
	}
	return made
}

// Split returns the parts of the output of templates between lines that begin with three dashes. Helm
// takes these without a line end, too. A regular expression takes a third of the time of a rendering.
func Split(text string) []string {
	const dashes, space = "---", "\t\n\f\r "
	var parts []string
	start := 0
	for start < len(text) {
		end := 0
		if start > 0 || !strings.HasPrefix(text, dashes) {
			at := strings.Index(text[start:], "\n"+dashes)
			if at < 0 {
				break
			}
			end = start + at + 1
		}
		parts = append(parts, strings.TrimRight(text[start:end], space))
		rest := text[end+len(dashes):]
		start = len(text) - len(strings.TrimLeft(rest, space))
	}
	return append(parts, text[start:])
}

// Documents returns the documents of the output of a template, as Helm reads them: of a repeated
// key, the last one counts.
func Documents(text string) []Document {
	var found []Document
	for _, doc := range Split(text) {
		data, err := yaml.YAMLToJSON([]byte(doc))
		switch {
		case err != nil:
			found = append(found, Document{Text: doc})
		case string(data) != "null":
			found = append(found, Document{JSON: data})
		}
	}
	return found
}

// IsManifest reports whether the output of a template is sent to the cluster.
func IsManifest(template string) bool {
	base := path.Base(template)
	return !strings.HasPrefix(base, "_") && !strings.HasSuffix(base, "NOTES.txt")
}
