package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// fluxURLs returns the URLs of the repository.
func (l *loader) fluxURLs(t *tree) []string {
	urls := slices.Clone(l.flux.SameRepository)
	if l.repository != nil {
		return append(urls, l.url())
	}
	if origin, err := gitrepo.OriginOf(t.top); err == nil && origin.URL != "" {
		urls = append(urls, origin.URL)
	}
	return urls
}

// sourceName returns a URL of a source for comparison; "" if it is none.
func sourceName(url string) string {
	if strings.ContainsAny(url, " \t\n") || !strings.ContainsAny(url, ":/") {
		return ""
	}
	return url
}

// sourceID returns the ID of the source of a Kustomization.
func sourceID(kustomization model.Value) string {
	ref := kustomization.At("spec", "sourceRef")
	place := cmp.Or(ref.At("namespace").Str(), kustomization.At("metadata", "namespace").Str(), "default")
	return cmp.Or(ref.At("kind").Str(), "GitRepository") + fluxSourceGroup + " " + place + "/" + ref.At("name").Str()
}

// isFluxSource reports whether an ID is that of a source that can contain a repository.
func isFluxSource(id string) bool {
	kind, _, is := strings.Cut(id, fluxSourceGroup+" ")
	return is && slices.Contains([]string{"GitRepository", "OCIRepository", "Bucket"}, kind)
}

// sourceURL returns the URL of a source of Flux.
func sourceURL(source model.Value) string {
	spec := source.At("spec")
	if kindOf(source) == "Bucket"+fluxSourceGroup {
		return spec.At("endpoint").Str() + "/" + spec.At("bucketName").Str()
	}
	return spec.At("url").Str()
}

// isOurs reports whether the source of a Kustomization is the declared repository at its ref.
func (r *fluxReader) isOurs(o object) bool {
	at, reason := r.sourceOf(o)
	return at.repository == nil && reason == ""
}

// sourceOf returns the checkout that a Kustomization applies, or the reason why driftd does not read it. A source that is not in git is
// taken for the declared repository: the one with which Flux was installed often is not.
func (r *fluxReader) sourceOf(o object) (at checkout, reason string) {
	in, reason := r.sourceFolder(o)
	id := in.id
	kind, name, _ := strings.Cut(id, fluxSourceGroup+" ")
	switch {
	case reason != "":
		return at, reason
	case !isFluxSource(id):
		return at, fmt.Sprintf("its source is %s %s, which driftd does not read", kind, name)
	case !in.has(r.folderOf(o)):
		return at, fmt.Sprintf("its path %s has files that are not copied to its source", o.value.At("spec", "path").Str())
	}
	source, found := r.input(id)
	if !found && r.tree.others == nil && r.loader.same.isForeign(id) {
		return at, fmt.Sprintf("its source %s %s is declared in another repository, of which driftd reads no earlier commits", kind, name)
	}
	if !found {
		return at, ""
	}
	return r.checkoutOf(source, kind, name)
}

// checkoutOf returns the checkout that a source names, or the reason why driftd does not read it.
func (r *fluxReader) checkoutOf(source object, kind, name string) (at checkout, reason string) {
	if !source.isCertain("spec", "url") || !source.isCertain("spec", "ref") {
		return at, fmt.Sprintf("the URL or the ref of its source is left to %s", source.chance)
	}
	spec, url := source.value.At("spec"), sourceURL(source.value)
	if isOneOf(r.urls, url) {
		if kind == "GitRepository" {
			reason = r.otherRef(spec.At("ref"), kind+" "+name)
		}
		return at, reason
	}
	at.repository = findRepository(r.loader.others, url)
	switch {
	case at.repository == nil || kind != "GitRepository":
		return at, fmt.Sprintf("its source is %s %s (%s), and driftd reads another repository: list the URL in repositories to read that one, too, "+
			"or in same_repository if it has the same content", kind, name, withoutSecrets(url))
	case r.tree.others == nil:
		return at, fmt.Sprintf("its source is %s %s (%s), and driftd reads no earlier commits of other repositories", kind, name, at.repository.URL())
	}
	at.ref, reason = otherRepositoryRef(spec.At("ref"), kind+" "+name)
	return at, reason
}

// fullHash matches a commit.
var fullHash = lazyregexp.New(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// otherRepositoryRef returns the ref that a GitRepository reads of another repository, or the reason why driftd does not read it.
func otherRepositoryRef(ref model.Value, name string) (full, reason string) {
	field, value := fluxRef(ref)
	switch {
	case field == "branch":
		return "refs/heads/" + value, ""
	case field == "tag":
		return "refs/tags/" + value, ""
	case field == "commit" && fullHash().MatchString(value), field == "name" && strings.HasPrefix(value, "refs/"):
		return value, ""
	}
	return "", fmt.Sprintf("its source %s reads the %s %s: driftd reads a branch, a tag, a full name, or the full hash of a commit", name, field, value)
}

// fluxRef returns the field of spec.ref that decides what a GitRepository reads, and its value.
func fluxRef(ref model.Value) (field, value string) {
	field, value = "branch", cmp.Or(ref.At("branch").Str(), "master")
	for _, other := range []string{"tag", "semver", "name", "commit"} {
		if v := ref.At(other).Str(); v != "" {
			field, value = other, v
		}
	}
	return field, value
}

// otherRef returns why a GitRepository has another revision than the declaration, or "".
func (r *fluxReader) otherRef(ref model.Value, name string) string {
	c := r.loader.flux
	field, value := fluxRef(ref)
	if branch, named := strings.CutPrefix(value, "refs/heads/"); named && field == "name" {
		field, value = "branch", branch
	}
	own := strings.TrimPrefix(c.SourceBranch, "refs/heads/")
	switch {
	case field == "branch" && own != "" && value == own, (field != "branch" || own == "") && r.isAt(field, value):
		return ""
	case c.Git == "":
		return fmt.Sprintf("its source %s reads the %s %s, and the folder is at another one: set source_branch if it stands for that branch, or git instead of dir", name, field, value)
	}
	return fmt.Sprintf("its source %s reads the %s %s, and driftd reads %s, which is another commit", name, field, value, cmp.Or(own, c.Ref, "the default branch"))
}

// isAt reports whether a field of spec.ref selects the commit that is read.
func (r *fluxReader) isAt(field, value string) bool {
	switch field {
	case "branch":
		value = "refs/heads/" + value
	case "tag":
		value = "refs/tags/" + value
	case "semver":
		return r.loader.flux.Ref == value
	}
	if r.tree.isRef == nil {
		return r.loader.same.has(value)
	}
	return r.loader.same.set(value, r.tree.isRef(value))
}

// elsewhere adds the problem of an object whose controller makes objects that are not in git.
func (r *fluxReader) elsewhere(o object) {
	metadata := o.value.At("metadata")
	place := cmp.Or(metadata.At("namespace").Str(), "default")
	here := []model.Extent{{Place: place}, {Placeless: true}}
	switch kind, _, _ := strings.Cut(kindOf(o.value), "."); kindOf(o.value) {
	case "FluxInstance.fluxcd.controlplane.io":
		r.all.bounded(o.address, here, "%s %s installs Flux, and its objects are not compared", kind, nameOf(o.value))
	case "ResourceSet.fluxcd.controlplane.io":
		r.all.problem(o.address, "the objects of %s %s are not compared: driftd does not render its templates", kind, nameOf(o.value))
	case fluxArtifactGenerator:
		r.all.bounded(o.address, []model.Extent{{Kind: "kubernetes/ExternalArtifact" + fluxSourceGroup, Place: place}},
			"the artifacts of %s %s are not compared", kind, nameOf(o.value))
	}
}

// fluxIgnored returns the patterns of files that are in no archive of a source by default.
// https://fluxcd.io/flux/components/source/gitrepositories/#default-exclusions
func fluxIgnored() string {
	return ".git/\n.gitignore\n.gitmodules\n.gitattributes\n"
}

// fluxIgnoredByDefault returns those that apply where neither the repository has a
// .sourceignore nor the source has spec.ignore.
func fluxIgnoredByDefault() string {
	return ".github/\n.circleci/\n.travis.yml\n.gitlab-ci.yml\nappveyor.yml\n.drone.yml\ncloudbuild.yaml\ncodeship-services.yml\n" +
		"codeship-steps.yml\n**/.goreleaser.yml\n**/.sops.yaml\n**/.flux.yaml\n"
}

// sourceIgnore is the name of files with patterns of files that Flux ignores, in their folders and below.
const sourceIgnore = ".sourceignore"

// ignored returns the patterns of files that Flux ignores in all folders, and those of the source of the Kustomization by, which take
// precedence over those in folders. by may be null.
func (r *fluxReader) ignored(by object) (all gitrepo.Ignore, own string, err error) {
	if source, found := r.source(by); found {
		if !source.isCertain("spec", "ignore") {
			return all, "", fmt.Errorf("spec.ignore of its source is left to %s", source.chance)
		}
		own = source.value.At("spec", "ignore").Str()
	}
	all = all.With(".", fluxIgnored())
	text, err := r.sourceIgnored(".")
	if text == "" && own == "" {
		all = all.With(".", fluxIgnoredByDefault())
	}
	return all.With(".", text), own, err
}

// source returns the source with the files of a Kustomization, if it is in git.
func (r *fluxReader) source(by object) (source object, found bool) {
	if by.value.IsNull() {
		return source, false
	}
	in, reason := r.sourceFolder(by)
	if reason != "" {
		return source, false
	}
	return r.input(in.id)
}

// sourceIgnored returns the content of the file with patterns in a folder; "" if there is none.
func (r *fluxReader) sourceIgnored(dir string) (string, error) {
	text, err := readFile(r.tree.files, path.Join(dir, sourceIgnore), maxKustomization)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s: %w", path.Join(dir, sourceIgnore), bounded.Cause(err))
	}
	return string(text), nil
}

// notCheckedOut returns why the path of a Kustomization is not in the artifact of its source, or "".
func (r *fluxReader) notCheckedOut(o object) string {
	source, found := r.source(o)
	folders := texts(source.value.At("spec", "sparseCheckout"))
	switch {
	case !found:
		return ""
	case !source.isCertain("spec", "sparseCheckout"):
		return "spec.sparseCheckout of its source is left to " + source.chance
	case len(folders) == 0 || slices.ContainsFunc(folders, func(dir string) bool { return liesIn(r.folderOf(o)+"/.", folderOf(dir)) }):
		return ""
	}
	return fmt.Sprintf("its source checks out only %s (spec.sparseCheckout), which does not contain its path", strings.Join(folders, ", "))
}

// scan lists the manifests, the kustomizations and the submodules below a folder without a kustomization file, as
// Flux does.
func (r *fluxReader) scan(dir string, by object) (*fluxScan, error) {
	ignored, own, err := r.ignored(by)
	if err != nil {
		return nil, err
	}
	for i, c := range dir {
		if c != '/' {
			continue
		}
		text, err := r.sourceIgnored(dir[:i])
		if err != nil {
			return nil, err
		}
		ignored = ignored.With(dir[:i], text)
	}
	s := &fluxScan{reader: r, own: own, top: dir}
	err = s.folder(dir, ignored)
	return s, err
}

type fluxScan struct {
	reader *fluxReader
	// own are the patterns of the source.
	own     string
	top     string
	found   []string
	folders int
	// submodules are the paths of git submodules.
	submodules []string
}

// folder adds what is in a folder. ignored are the patterns of the folders above it.
func (s *fluxScan) folder(dir string, ignored gitrepo.Ignore) error {
	if err := s.reader.ctx.Err(); err != nil {
		return err
	}
	limit := s.reader.loader.config.MaxFiles
	if s.folders++; s.folders > limit || len(s.found) > limit {
		return fmt.Errorf("more than %d files or folders; raise max_files", limit)
	}
	entries, err := fs.ReadDir(s.reader.tree.files, dir)
	if err != nil {
		return fmt.Errorf("%s: %w", s.reader.tree.address(dir), bounded.Cause(err))
	}
	if dir != s.top && slices.ContainsFunc(entries, isKustomizationFile) {
		s.add(dir)
		return nil
	}
	if dir != "." && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == sourceIgnore }) {
		text, err := s.reader.sourceIgnored(dir)
		if err != nil {
			return err
		}
		ignored = ignored.With(dir, text)
	}
	for _, e := range entries {
		if err := s.entry(path.Join(dir, e.Name()), e, ignored); err != nil {
			return err
		}
	}
	return nil
}

func (s *fluxScan) entry(name string, e fs.DirEntry, ignored gitrepo.Ignore) error {
	ext := path.Ext(name)
	switch {
	case ignored.With(".", s.own).Matches(name, e.IsDir()):
		return nil
	case e.IsDir():
		return s.folder(name, ignored)
	case e.Type()&fs.ModeIrregular != 0:
		s.submodules = append(s.submodules, name)
		return nil
	case ext != ".yaml" && ext != ".yml":
		return nil
	}
	if info, err := fs.Stat(s.reader.tree.files, name); err == nil && info.IsDir() {
		// A link to a folder is not followed.
		return nil
	}
	s.add(name)
	return nil
}

// add adds the path of a resource, relative to the top.
func (s *fluxScan) add(name string) {
	if s.top != "." {
		name = strings.TrimPrefix(name, s.top+"/")
	}
	s.found = append(s.found, "./"+name)
}
