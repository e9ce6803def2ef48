package discipline

import (
	"strings"

	"github.com/driftd/driftd/internal/printable"
)

// application checks an Application of Argo CD, or the template of an ApplicationSet.
func (c *checker) application(o *objects, file string, doc, spec node) {
	title := doc.at("kind").text() + " " + printable.Line(doc.at("metadata", "name").text(), 100)
	sources := append(spec.at("sources").items(), spec.at("source"))
	for _, source := range sources {
		revision := source.at("targetRevision")
		line := source.line()
		if revision.exists() {
			line = revision.line()
		}
		if problem := c.revisionProblem(source, revision.text()); problem != "" {
			c.report(revisionUnpinned, file, line, source.line(), title, problem)
		}
		for _, i := range source.at("kustomize", "images").items() {
			name, _, replaced := strings.Cut(i.text(), "=")
			if !replaced {
				name, _, _ = parseImage(i.text())
			}
			o.replaced[name] = true
		}
	}
	automated := spec.at("syncPolicy", "automated")
	// A patch, and the patch of a template, may set it.
	if !spec.at("destination").exists() || doc.at("spec", "templatePatch").exists() || automated.exists() && !automated.at("enabled").isFalse() {
		return
	}
	line := doc.at("kind").line()
	if policy := spec.at("syncPolicy"); policy.exists() {
		line = policy.line()
	}
	c.report(manualSync, file, line, doc.at("kind").line(), title, "is only synced by hand")
}

// revisionProblem returns why a source of an Application follows changes that have no commit in the repository that is checked.
func (c *checker) revisionProblem(source node, revision string) string {
	url := source.at("repoURL").text()
	switch {
	case url == "" || isTemplated(url) || isTemplated(revision):
		return ""
	case source.at("chart").text() != "":
		if problem := versionProblem(revision); problem != "" {
			return "of the chart " + printable.Line(source.at("chart").text(), 100) + " " + problem
		}
		return ""
	case c.IsOwn == nil || c.IsOwn(url):
		return ""
	case revision == "" || revision == "HEAD":
		return "follows the default branch of another repository"
	case isMoving(revision):
		return "follows the branch " + printable.Line(revision, 60) + " of another repository"
	}
	return ""
}
