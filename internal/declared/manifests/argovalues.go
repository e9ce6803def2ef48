package manifests

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"slices"

	"github.com/driftd/driftd/internal/bounded"
)

// A valuesFile is a file of values at another checkout than the chart.
type valuesFile struct {
	at   checkout
	name string
}

// overlay returns the path that stands for the file among those of the tree of the chart.
func (f valuesFile) overlay() string {
	url := ""
	if f.at.repository != nil {
		url = f.at.repository.URL()
	}
	sum := sha256.Sum256([]byte(url + "\n" + f.at.ref + "\n" + f.name))
	return ".driftd-values-" + hex.EncodeToString(sum[:12]) + ".yaml"
}

// A valuesContent is what was read of a file of values.
type valuesContent struct {
	// file is the name of the file among the files of objects.
	file string
	data []byte
	// missing reports whether there is no such file. failed is why it is not read, or "".
	missing bool
	failed  string
}

// A missingValues is the error of a chart whose files of values are to be read first.
type missingValues struct{ files []valuesFile }

// Error implements error.
func (*missingValues) Error() string { return "files of values are not read yet" }

// readValues returns the work that reads a file of values.
func (r *argoReader) readValues(file valuesFile) deferred {
	return deferred{file.at, func() error {
		v := valuesContent{file: r.tree.file(file.name)}
		var err error
		if v.data, err = r.tree.readFile(file.name, r.loader.config.MaxFileSize); errors.Is(err, fs.ErrNotExist) {
			v.missing = true
		} else if err != nil {
			v.failed = ": " + bounded.Cause(err).Error()
		}
		r.otherFiles[file.overlay()] = v
		return nil
	}, func(reason string) { r.otherFiles[file.overlay()] = valuesContent{failed: reason} }}
}

// valuesAt returns the path of a file of values at a checkout, from the top of the tree.
func (r *argoReader) valuesAt(file valuesFile) (string, error) {
	if r.isHere(file.at) {
		return file.name, nil
	}
	v, known := r.otherFiles[file.overlay()]
	switch {
	case !known:
		return "", &missingValues{[]valuesFile{file}}
	case v.failed != "":
		return "", notRead(sketch{unknown: true}, "has the values %s at the revision %s%s", shown(file.name), file.at.shown(), v.failed)
	}
	return file.overlay(), nil
}

// exists reports whether there is a file of values.
func (r *argoReader) exists(name string) bool {
	if v, other := r.otherFiles[name]; other {
		return !v.missing
	}
	_, err := fs.Stat(r.tree.files, name)
	return !errors.Is(err, fs.ErrNotExist)
}

// otherValues returns the files of values of a release that are at other checkouts.
func (r *argoReader) otherValues(release *HelmConfig) map[string][]byte {
	added := map[string][]byte{}
	for _, name := range release.Values {
		if v, other := r.otherFiles[name]; other && !v.missing {
			added[name] = v.data
		}
	}
	return added
}

// nameValues names the files of values at other checkouts among the files of objects.
func (r *argoReader) nameValues(c *content) {
	for i := range c.objects {
		o := &c.objects[i]
		o.files = slices.DeleteFunc(slices.Clone(o.files), func(name string) bool { return name == inlineValues })
		for k, name := range o.files {
			if v, other := r.otherFiles[name]; other {
				o.files[k] = v.file
			} else {
				o.files[k] = r.tree.file(name)
			}
		}
		slices.Sort(o.files)
	}
}
