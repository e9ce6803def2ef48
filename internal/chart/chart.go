// Package chart defines the request and the result of rendering a Helm chart. A separate program renders
// charts, because Helm's libraries would enlarge driftd's own program by a third and double its startup
// time: see decision 53.
package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Program is the name of the program that renders charts in a box. It is installed in the folder
// of driftd.
const Program = "driftd-helm"

// Job is the name of the job that renders a chart. Its arguments are Args, its result is
// Rendered.
const Job = "helm"

// IndexJob is the name of the job that reads the index of a repository of charts. Its arguments are
// IndexArgs, its result is Index.
const IndexJob = "helm-index"

// IndexArgs are the arguments of IndexJob.
type IndexArgs struct {
	// File is the index, of at most Limit bytes.
	File  string
	Limit int64
}

// An Index is the result of IndexJob: the versions of charts in a repository.
type Index struct {
	// Charts has the versions of each chart by its name.
	Charts map[string][]Entry
	// Problem is the reason why there is no index, or "" if there is one.
	Problem string
}

// Find returns a version of a chart. The prefix v of a version is ignored, unless there is one with it and
// one without it.
func (i *Index) Find(name, version string) (found Entry, ok bool) {
	for _, e := range i.Charts[name] {
		if e.Version == version {
			return e, true
		}
		if !ok && strings.TrimPrefix(e.Version, "v") == strings.TrimPrefix(version, "v") {
			found, ok = e, true
		}
	}
	return found, ok
}

// An Entry is a version of a chart in the index of a repository.
type Entry struct {
	Version string `json:"version"`
	// URLs are where the archive is; relative ones are below the repository. Digest is the SHA-256 of
	// the archive in hexadecimal digits; "" if the index lacks it.
	URLs   []string `json:"urls"`
	Digest string   `json:"digest"`
}

// Args are the arguments of Job. All paths are those of the files of the box.
type Args struct {
	// Dir is the folder of the chart, and Files are the files below it.
	Dir   string
	Files []string
	// Archive is the archive of the chart, instead of Dir and Files, and Version is the version
	// that must be in it; "" for any.
	Archive, Version string
	// Metadata replaces the build metadata of the chart's version, unless it is empty.
	Metadata string
	// Defaults are files of the chart with its values, instead of values.yaml. Later ones take precedence. Those that are missing
	// are left out if IgnoreMissing is set.
	Defaults      []string
	IgnoreMissing bool
	// Values are the values of the user. Later ones take precedence.
	Values []Values
	// Release and Namespace are the name and the namespace of the release. Upgrades reports whether Helm
	// installs and upgrades it; helm template always renders a first installation.
	Release, Namespace string
	Upgrades           bool
	// KubeVersion is the version of the cluster, and APIVersions are API versions that it has in
	// addition to the stable ones of Kubernetes itself.
	KubeVersion string
	APIVersions []string
	// Raw is set if the outputs of the templates are changed before they are read: Rendered.Renderings has them.
	Raw bool
	// Texts is set if the outputs are read as WithTexts does.
	Texts bool
	// Limit bounds a file, in bytes.
	Limit int64
}

// Values are a part of the values of the user. One of File, Set and SetString is set.
type Values struct {
	// File is a file of values.
	File string
	// Set is a value in the form of helm --set, and SetString one in that of helm --set-string.
	Set, SetString string
	// Name is the place where Set or SetString is written, for messages.
	Name string
}

// Rendered is the result of Job.
type Rendered struct {
	Files []File
	// Renderings are the outputs of all templates, if Args.Raw is set. Files has only the custom resource definitions then.
	Renderings []Rendering
	// Given are the values that the user gave, in JSON: those of Args.Values.
	Given []byte
	// Problem is the reason why the chart cannot be rendered, or "" if it was rendered. It contains no
	// values of the chart or of a value file.
	Problem string
	// Asked are the API versions that templates ask for, and of which it is unknown whether the
	// cluster has them, sorted.
	Asked []string
	// Upgraded is set if templates ask whether the release is upgraded.
	Upgraded bool
	// Hooks is set if it is unknown whether post-renderers change the hooks.
	Hooks bool
}

// A File is the output of one template, or a file of custom resource definitions.
type File struct {
	// Name is the path of the template from the chart's folder: "templates/web.yaml", or Chart.yaml for an object that
	// post-renderers made of an unknown one. The template may be in an archive below charts/. Its characters can be printed.
	Name string
	// Output is the output without the API versions in Rendered.Asked, and of an upgrade if Rendered.Upgraded is
	// set. Otherwise are the other outputs, with some of these versions, of a first installation, and with hooks that are not post-rendered.
	Output
	Otherwise []Output
}

// An Output is the output of a template for one set of API versions, and for an installation or an upgrade.
type Output struct {
	// Documents are the documents of the output.
	Documents []Document
	// Again are the outputs of further renderings, at other times, if the chart calls
	// functions whose results differ from call to call: Calls.
	Again [][]Document
	Calls []string
}

// Outputs returns all outputs of the template.
func (f *File) Outputs() []Output { return append([]Output{f.Output}, f.Otherwise...) }

// A Document is one document of the output of a template.
type Document struct {
	// JSON is the document in JSON; empty if it is not YAML, and Text is its text then.
	JSON []byte
	Text string
}

// Find returns the path of Program, in the folder of the running program or in a folder of PATH. It returns
// "" if it is not installed.
func Find() string {
	const executable = 0o111
	if own, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(own), Program)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&executable != 0 {
			return path
		}
	}
	path, err := exec.LookPath(Program)
	if err != nil {
		return ""
	}
	return path
}
