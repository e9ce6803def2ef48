package discipline

import (
	"fmt"
	"slices"

	"github.com/driftd/driftd/internal/printable"
)

// A release is a chart that Flux installs.
type release struct {
	kind, name, version string
	at                  place
}

// flux checks an object of Flux.
func (c *checker) flux(o *objects, file, kind string, doc node) {
	spec := doc.at("spec")
	name := doc.at("metadata", "name").text()
	title := kind + " " + printable.Line(name, 100)
	if suspend := spec.at("suspend"); suspend.isTrue() {
		c.report(suspendedInGit, file, suspend.line(), 0, title, "is suspended")
	}
	switch kind {
	case "Kustomization":
		c.replaceImages(o, file, spec.at("images").items())
		for _, patch := range spec.at("patches").items() {
			o.patch(patch.at("patch").text(), patch.at("target", "name").text())
		}
	case "HelmRelease":
		c.chartOf(o, file, kind, name, spec.at("chart", "spec"))
	case "HelmChart":
		c.chartOf(o, file, kind, name, spec)
	case "OCIRepository":
		if spec.at("url").exists() {
			c.reportRef(file, title, spec, ociProblem(spec.at("ref")))
		}
	case "GitRepository":
		if url := spec.at("url").text(); url != "" && name != "flux-system" {
			c.reportRef(file, title, spec, c.gitProblem(url, spec.at("ref")))
		}
	}
}

// reportRef reports the ref of a source, at its line or else at that of the spec.
func (c *checker) reportRef(file, title string, spec node, problem string) {
	line := spec.line()
	if ref := spec.at("ref"); ref.exists() {
		line = ref.line()
	}
	if problem != "" {
		c.report(sourceUnpinned, file, line, spec.line(), title, problem)
	}
}

// chartOf collects the chart of a release. A spec without the name of a chart is a patch of another one.
func (c *checker) chartOf(o *objects, file, kind, name string, spec node) {
	version := spec.at("version")
	isPatch := spec.at("chart").text() == ""
	if isPatch && version.text() != "" {
		o.patched[name] = true
	}
	if !spec.exists() || isPatch && version.text() == "" || slices.Contains([]string{"GitRepository", "Bucket"}, spec.at("sourceRef", "kind").text()) {
		return // A chart in a repository of files has the version that is there.
	}
	line := spec.line()
	if version.exists() {
		line = version.line()
	}
	o.releases = append(o.releases, release{kind, name, version.text(), place{file, line}})
}

// judgeRelease reports a chart without one version, unless a patch sets it.
func (c *checker) judgeRelease(o *objects, r *release) {
	problem := versionProblem(r.version)
	if problem == "" || r.version == "" && (o.everyRelease || o.patched[r.name]) {
		return
	}
	c.report(sourceUnpinned, r.at.file, r.at.line, 0, "the chart of "+r.kind+" "+printable.Line(r.name, 100), problem)
}

// ociProblem returns why a ref of an OCIRepository does not always select the same artifact.
func ociProblem(ref node) string {
	tag, semver := ref.at("tag").text(), ref.at("semver").text()
	switch {
	case ref.at("digest").text() != "":
		return ""
	case semver != "":
		return versionProblem(semver)
	case tag == "" || tag == "latest":
		return "follows the tag latest"
	case isUnrendered(tag) || !isMoving(tag):
		return ""
	}
	return "follows the tag " + printable.Line(tag, 60)
}

// gitProblem returns why a ref of a GitRepository follows changes that have no commit in the repository that is checked. The branch
// of this repository is what Flux should follow.
func (c *checker) gitProblem(url string, ref node) string {
	if c.IsOwn == nil || c.IsOwn(url) || isTemplated(url) {
		return ""
	}
	name, semver := ref.at("name").text(), ref.at("semver").text()
	switch {
	case ref.at("commit").text() != "":
		return ""
	case name != "":
		return refProblem(name, true)
	case semver != "":
		return versionProblem(semver)
	case ref.at("tag").text() != "":
		return refProblem(ref.at("tag").text(), true)
	case isTemplated(ref.at("branch").text()):
		return ""
	case ref.at("branch").text() == "":
		return "follows the branch master of another repository"
	}
	return fmt.Sprintf("follows the branch %s of another repository", printable.Line(ref.at("branch").text(), 60))
}
