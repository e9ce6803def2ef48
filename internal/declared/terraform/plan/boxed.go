package plan

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/driftd/driftd/internal/launch"
)

// launch returns the settings for starting the CLI.
func (r *runner) launch() launch.Launch {
	return launch.Launch{Open: !r.Boxed, Read: append(slices.Clone(r.readable), r.plugins()), Write: []string{r.dir},
		Memory: r.MaxMemory, MemorySetting: "max_plan_memory", Grace: r.grace()}
}

// readPaths returns the paths that a boxed CLI may read in addition to its own folders and the
// system's: programs, and the files that driftd's configuration sets for it.
func (w *work) readPaths(cli string, environ []string) []string {
	if !w.Boxed {
		return nil
	}
	paths := slices.Concat(w.ReadPaths, w.VarFiles, w.BackendFiles, []string{resolved(cli), w.Home}, mirrorsOf(w.cliConfig(cli)),
		filepath.SplitList(os.Getenv("PATH")))
	named := slices.Collect(maps.Values(w.BackendConfig))
	for _, value := range w.Vars {
		texts(valueOf(value), func(text string) { named = append(named, text) })
	}
	for name, value := range w.given(environ) {
		_, set := w.set[name]
		// A variable that only a pattern of pass_env passes need not be meant for the CLI.
		if set || slices.Contains(w.PassEnv, name) {
			named = append(named, filepath.SplitList(value)...)
		}
	}
	paths = append(paths, slices.DeleteFunc(named, func(path string) bool { return !isFile(path) })...)
	for _, name := range []string{"path", "workspace_dir"} {
		// The root sets this path, unless driftd's configuration does.
		if path, ok := w.backend[name].(string); ok && (w.BackendConfig[name] != "" || w.Within == "" || within(resolved(path), resolved(w.Within))) {
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// resolved returns a path with all links resolved.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// mirrorsOf returns the path of a CLI configuration file, the paths in it (provider mirrors and
// development builds), and the targets of the links in these.
func mirrorsOf(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // The CLI reports the error.
	}
	paths := []string{file}
	// A file that cannot be parsed still has tokens. The CLI reports the error.
	tokens, _ := hclsyntax.LexConfig(text, file, hcl.InitialPos)
	for _, token := range tokens {
		path := string(token.Bytes)
		if home, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(filepath.Dir(file), home)
		}
		if token.Type == hclsyntax.TokenQuotedLit && filepath.IsAbs(path) && filepath.Clean(path) != "/" {
			paths = append(append(paths, path), linksIn(path)...)
		}
	}
	return paths
}

// maxMirror bounds the files and folders of a mirror that are searched for links.
const maxMirror = 100_000

// linksIn returns the targets of the links in a folder.
func linksIn(dir string) []string {
	var targets []string
	left := maxMirror
	// Entries that cannot be read are left out.
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if left--; err != nil || left < 0 {
			return fs.SkipDir
		}
		if d.Type()&fs.ModeSymlink != 0 {
			targets = append(targets, resolved(path))
		}
		return nil
	})
	return targets
}

// refusal returns a hint for an error about a file that the box does not let the CLI read, or ""
// for other errors. The hint begins with a semicolon.
func (r *runner) refusal(text string) string {
	if !r.Boxed {
		return ""
	}
	for _, path := range pathsIn().FindAllString(text, -1) {
		path = resolved(strings.TrimRight(path, ".:,;"))
		if path != "/" && exists(path) && !r.mayRead(path) {
			return fmt.Sprintf("; the box does not allow access to %s: add it, or a folder above it, to read_paths", path)
		}
	}
	return ""
}

func pathsIn() *regexp.Regexp { return regexp.MustCompile(`/[^\s"'<>|=()\[\]]+`) }

// mayRead reports whether a boxed CLI may read a path.
func (r *runner) mayRead(path string) bool {
	allowed := slices.Concat(r.readable, launch.Readable(), []string{r.dir, r.plugins()})
	return slices.ContainsFunc(allowed, func(dir string) bool { return within(path, resolved(dir)) })
}

// within reports whether a path is dir or below it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
