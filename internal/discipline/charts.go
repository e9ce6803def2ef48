package discipline

import (
	"context"
	"io/fs"
	"path"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/driftd/driftd/internal/printable"
)

// charts checks the dependencies of Helm charts. The templates of charts are not rendered, and not checked.
func (c *checker) charts(ctx context.Context, s *survey) error {
	for _, dir := range s.charts {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if dir == "." || !s.inChart(dir) { // A chart within another one was packaged with it.
			c.chart(dir)
		}
	}
	return nil
}

// chart checks one chart, with the files of Helm 3 and of Helm 2.
func (c *checker) chart(dir string) {
	for _, files := range [][2]string{{"Chart.yaml", "Chart.lock"}, {"requirements.yaml", "requirements.lock"}} {
		name := path.Join(dir, files[0])
		dependencies := c.oneDocument(name).at("dependencies").items()
		if len(dependencies) == 0 {
			continue
		}
		lockName := path.Join(dir, files[1])
		_, err := fs.Stat(c.Files, lockName)
		locked := c.oneDocument(lockName).at("dependencies").items()
		if err == nil && locked == nil {
			continue // It cannot be read, which is a gap, or it is empty.
		}
		for _, d := range dependencies {
			c.dependency(dir, name, files[1], d, locked, err == nil)
		}
	}
}

// oneDocument returns the first document of a file; an absent value if it cannot be parsed, which is a gap.
func (c *checker) oneDocument(name string) node {
	text, ok := c.read(name)
	if !ok {
		return node{}
	}
	docs, err := parseYAML(text, 0)
	if err != nil {
		c.gap(name, 0, err.Error())
	}
	if err != nil || len(docs) == 0 {
		return node{}
	}
	return docs[0]
}

func (c *checker) dependency(dir, file, lockName string, d node, locked []node, hasLock bool) {
	name, version, repository := d.at("name").text(), d.at("version").text(), d.at("repository").text()
	if name == "" || repository == "" || strings.HasPrefix(repository, "file://") || isTemplated(version) {
		return // A dependency without a repository is in the folder charts.
	}
	problem := versionProblem(version)
	switch {
	case problem == "" && !hasLock || c.isVendored(dir, name):
		return
	case problem == "" || hasLock:
		if isLocked(locked, name, version) {
			return
		}
		problem = "has no version that it allows in " + lockName + ", which is out of date"
	default:
		problem += ", and there is no " + lockName
	}
	c.report(dependencyUnpinned, file, d.at("name").line(), 0, "dependency "+printable.Line(name, 100), problem)
}

// isVendored reports whether the folder of a chart contains a dependency.
func (c *checker) isVendored(dir, name string) bool {
	entries, err := fs.ReadDir(c.Files, path.Join(dir, "charts"))
	if err != nil {
		return false
	}
	for _, e := range entries {
		if e.Name() == name || strings.HasPrefix(e.Name(), name+"-") && strings.HasSuffix(e.Name(), ".tgz") {
			return true
		}
	}
	return false
}

// isLocked reports whether a lock file has a version of a dependency that fits the constraint, or if that is not certain.
func isLocked(locked []node, name, version string) bool {
	constraint, err := semver.NewConstraint(version)
	for _, l := range locked {
		if l.at("name").text() != name {
			continue
		}
		found, parseErr := semver.NewVersion(l.at("version").text())
		if version == "" || err != nil || parseErr != nil || constraint.Check(found) {
			return true
		}
	}
	return false
}
