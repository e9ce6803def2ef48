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

	"github.com/driftd/driftd/internal/box"
)

// launch returns how the CLI is started.
func (r *runner) launch() box.Launch {
	return box.Launch{Open: !r.Boxed, Read: append(slices.Clone(r.readable), r.plugins()), Write: []string{r.dir},
		Memory: r.MaxMemory, MemorySetting: "max_plan_memory", Grace: r.grace()}
}

// readPaths returns what a boxed CLI may read beside its own folders and the system's: the
// programs, and the files that the configuration of driftd names for it.
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
		_, set := w.Env[name]
		_, filed := w.fromFiles[name]
		// A pattern of pass_env passes variables that are not meant for the CLI.
		if set || filed || slices.Contains(w.PassEnv, name) {
			named = append(named, filepath.SplitList(value)...)
		}
	}
	paths = append(paths, slices.DeleteFunc(named, func(path string) bool { return !isFile(path) })...)
	for _, name := range []string{"path", "workspace_dir"} {
		// The root chooses it, unless the configuration of driftd does.
		if path, ok := w.backend[name].(string); ok && (w.BackendConfig[name] != "" || w.Within == "" || within(resolved(path), resolved(w.Within))) {
			paths = append(paths, path)
		}
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !filepath.IsAbs(path) })
}

// resolved returns where a path leads by links.
func resolved(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	return path
}

// mirrorsOf returns a CLI's configuration file, the paths in it (mirrors of providers, and
// builds of one's own), and where links in these lead.
func mirrorsOf(file string) []string {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil // The CLI says so.
	}
	paths := []string{file}
	// What cannot be parsed has tokens all the same, and the CLI says what is wrong.
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

// maxMirror bounds the files and folders of a mirror in which links are looked for.
const maxMirror = 100_000

// linksIn returns where the links of a folder lead.
func linksIn(dir string) []string {
	var targets []string
	left := maxMirror
	// What cannot be read is not passed on.
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

// refusal returns what to do about an error that is about a file that the box does not let
// the CLI read; "" for other errors. It begins with a semicolon.
func (r *runner) refusal(text string) string {
	if !r.Boxed {
		return ""
	}
	for _, path := range pathsIn().FindAllString(text, -1) {
		path = resolved(strings.TrimRight(path, ".:,;"))
		if path != "/" && exists(path) && !r.mayRead(path) {
			return fmt.Sprintf("; the box does not let a plan use %s: name it, or a folder above it, under read_paths", path)
		}
	}
	return ""
}

func pathsIn() *regexp.Regexp { return regexp.MustCompile(`/[^\s"'<>|=()\[\]]+`) }

// mayRead reports whether a boxed CLI may read a path.
func (r *runner) mayRead(path string) bool {
	allowed := slices.Concat(r.readable, box.Readable(), []string{r.dir, r.plugins()})
	return slices.ContainsFunc(allowed, func(dir string) bool { return within(path, resolved(dir)) })
}

// within reports whether a path lies in a folder, or is it.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
