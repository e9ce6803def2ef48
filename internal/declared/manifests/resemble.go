package manifests

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// maxResemble bounds how much is read of a file to find out whether it is a manifest, in bytes.
const maxResemble = 1 << 20

// These match the two fields of every manifest, in YAML and in JSON.
var (
	hasVersion = regexp.MustCompile(`(?m)(^|[{,-])\s*["']?apiVersion["']?\s*:`)
	hasKind    = regexp.MustCompile(`(?m)(^|[{,-])\s*["']?kind["']?\s*:`)
)

// Resembles reports whether a file has the name of a kustomization, which needs neither an apiVersion nor a kind, or has the extension and the
// fields of a manifest.
func Resembles(files fs.FS, name string) (is bool, err error) {
	switch extension := path.Ext(name); {
	case strings.EqualFold(strings.TrimSuffix(path.Base(name), extension), "kustomization"):
		return true, nil
	case !slices.Contains([]string{".yaml", ".yml", ".json"}, extension):
		return false, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	text, err := io.ReadAll(io.LimitReader(f, maxResemble))
	return hasVersion.Match(text) && hasKind.Match(text), err
}
