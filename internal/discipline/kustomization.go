package discipline

import (
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/printable"
)

// kustomization checks the remote bases and the charts of a kustomization, and collects what it sets in other objects.
func (c *checker) kustomization(o *objects, file string, doc node) {
	for _, list := range []string{"resources", "bases", "components"} {
		for _, entry := range doc.at(list).items() {
			if problem := remoteProblem(entry.text()); problem != "" {
				c.report(remoteUnpinned, file, entry.line(), 0, withoutCredentials(entry.text()), problem)
			}
		}
	}
	for _, chart := range doc.at("helmCharts").items() {
		if problem := versionProblem(chart.at("version").text()); problem != "" && chart.at("repo").text() != "" {
			c.report(dependencyUnpinned, file, chart.at("name").line(), 0, "chart "+printable.Line(chart.at("name").text(), 100), problem)
		}
	}
	c.replaceImages(o, file, doc.at("images").items())
	for _, patch := range doc.at("patches").items() {
		o.patch(patch.at("patch").text(), patch.at("target", "name").text())
	}
	for _, patch := range doc.at("patchesStrategicMerge").items() {
		if strings.Contains(patch.text(), "\n") {
			o.patch(patch.text(), "")
		}
	}
}

// replaceImages collects the images of which a kustomization sets the tag.
func (c *checker) replaceImages(o *objects, file string, list []node) {
	for _, i := range list {
		tag := i.at("newTag")
		switch digest := i.at("digest").text(); {
		case tag.text() == "latest" && digest == "":
			c.report(imageUnpinned, file, tag.line(), 0, "image "+printable.Line(i.at("name").text(), 120), "gets the tag latest")
			o.replaced[i.at("name").text()] = true
		case tag.text() != "" || digest != "":
			o.replaced[i.at("name").text()] = true
		}
	}
}

// patch collects the releases of which an inline patch sets the version. A patch by path may have any target.
func (o *objects) patch(text, target string) {
	if !strings.Contains(text, "version") {
		return
	}
	docs, err := parseYAML([]byte(text), 0)
	if err != nil {
		return
	}
	for _, doc := range docs {
		name := doc.at("metadata", "name").text()
		switch {
		case len(doc.items()) > 0 && target == "":
			o.everyRelease = true
		case len(doc.items()) > 0:
			o.patched[target] = true
		default:
			o.patched[name], o.patched[target] = true, true
		}
	}
}

// remoteProblem returns why an entry of a kustomization does not always lead to the same content; "" if it does, if it is in the
// tree, or if that is not certain.
func remoteProblem(entry string) string {
	if !isRemote(entry) || isUnrendered(strings.SplitN(entry, "?", 2)[0]) {
		return ""
	}
	if ref, has := refOf(entry, "ref", "version"); has {
		return refProblem(ref, true)
	}
	address, _, _ := strings.Cut(entry, "?")
	segments := strings.Split(address, "/")
	if strings.Contains(address, "/releases/latest/") {
		return "follows the latest release"
	}
	if ref := refInPath(segments); ref != "" {
		return refProblem(ref, true)
	}
	if slices.Contains([]string{".yaml", ".yml", ".json"}, path.Ext(address)) || !isRepository(address) {
		return ""
	}
	return refProblem("", false)
}

// isRemote reports whether kustomize fetches an entry.
func isRemote(entry string) bool { return strings.Contains(entry, "://") || isGit(entry) }

// refInPath returns the ref in the address of a file at a code host; "" if there is none.
func refInPath(segments []string) string {
	at := slices.Index(segments, "raw") + 1
	if host := slices.Index(segments, "raw.githubusercontent.com"); host >= 0 {
		at = host + 3
	}
	if at <= 0 || at >= len(segments) {
		return ""
	}
	if segments[at] == "refs" && at+2 < len(segments) {
		return path.Join(segments[at : at+3]...)
	}
	return segments[at]
}

// isRepository reports whether the address of an entry is that of a git repository. A web server may have anything else.
func isRepository(address string) bool {
	if isGit(address) || strings.HasPrefix(address, "ssh://") || strings.Contains(address, ".git") {
		return true
	}
	u, err := url.Parse(address)
	return err == nil && (slices.Contains(gitHosts(), strings.ToLower(u.Host)+"/") || strings.Contains(u.Path, "//"))
}

// versionProblem returns why a constraint of Helm does not always select the same version; "" if it does, or that is not certain.
func versionProblem(version string) string {
	switch version = strings.TrimSpace(version); {
	case version == "":
		return "has no version, and follows the newest one"
	case version == "*":
		return "has the version *, and follows the newest one"
	case isTemplated(version) || exactVersion().MatchString(version):
		return ""
	}
	return "follows the versions " + printable.Line(version, 60)
}
