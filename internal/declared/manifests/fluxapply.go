package manifests

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/model"
)

// A fluxReader finds what Flux applies: the objects of the declared folder, and those of each
// Kustomization of Flux among them.
type fluxReader struct {
	ctx    context.Context //nolint:containedctx // a reader lives for one reading
	loader *loader
	tree   *tree
	// build builds a folder of the tree as Flux does. address is that of the Kustomization.
	build func(t *tree, a fluxArgs, address string) (content, error)
	// helm renders charts, and fetch fetches them; nil for an old commit, of which no chart is rendered.
	helm  *box.Box
	fetch *chartFetch
	// urls are the URLs of the repository.
	urls []string
	// before are the sources and the variables that an earlier round found.
	before map[string]object
	fluxFound
}

// fluxFound is what a fluxReader found so far.
type fluxFound struct {
	all content
	// failed are the problems of builds.
	failed []model.Problem
	// pending are the Kustomizations that are not built yet. seen has every one, by ID.
	pending []object
	seen    map[string]object
	built   int
	// folders are those of the repository that were built without a problem.
	folders []string
	// releases are the HelmReleases that are not rendered yet. installs are the names of those that install a release, by its ID.
	releases []object
	installs map[string]string
	// namespaces are those that helm-controller creates, by their names.
	namespaces map[string]object
	// inputs are the objects that a Kustomization may refer to, by kind and ID.
	inputs map[string]object
	// absent are the inputs that were searched for and not found.
	absent map[string]bool
}

// The kinds of Flux that this package reads.
const (
	fluxKustomization     = "Kustomization.kustomize.toolkit.fluxcd.io"
	fluxRelease           = "HelmRelease.helm.toolkit.fluxcd.io"
	fluxArtifactGenerator = "ArtifactGenerator.source.extensions.fluxcd.io"
	fluxSourceGroup       = ".source.toolkit.fluxcd.io"
	fluxGitRepository     = "GitRepository" + fluxSourceGroup
)

// applied reads the objects that Flux applies.
func (l *loader) applied(ctx context.Context, t *tree) (all content, err error) {
	if info, err := fs.Stat(t.files, t.Root); err != nil || !info.IsDir() {
		return content{}, fmt.Errorf("read flux: %s is no folder in %s; check path", t.Root, t.where)
	}
	b := t.others.openBox(l)
	helm := l.openRenderer()
	defer func() { err = errors.Join(err, t.others.closeBox(b), helm.Close()) }()
	r := &fluxReader{ctx: ctx, loader: l, tree: t, helm: helm, fetch: l.fetching(), urls: l.fluxURLs(t), build: func(t *tree, a fluxArgs, address string) (content, error) {
		var made packed
		err := b.Do(ctx, t.files, fluxJob, a, &made)
		return l.unpacked(ctx, "kustomize", address, made, err)
	}}
	if _, err = r.read(); err == nil && !t.others.isWaiting() {
		r.addFetches(r.all.objects, time.Now())
		err = r.addUnlisted()
	}
	return r.all, err
}

// read reads everything. If a Kustomization was built before something that it refers to was
// found, it reads again.
func (r *fluxReader) read() (content, error) {
	const rounds = 3
	for range rounds {
		r.fluxFound = fluxFound{seen: map[string]object{}, installs: map[string]string{}, namespaces: map[string]object{}, inputs: map[string]object{}, absent: map[string]bool{}}
		if err := r.round(); err != nil {
			return content{}, err
		}
		late := false
		for id := range r.absent {
			_, found := r.inputs[id]
			late = late || found
		}
		if !late {
			break
		}
		r.before = r.inputs
	}
	if r.tree.others.isWaiting() {
		return r.all, nil
	}
	r.createdNamespaces()
	err := r.all.takeMemory(r.ctx)
	return r.all, err
}

// round reads everything once.
func (r *fluxReader) round() error {
	root := fluxBuild{dir: r.tree.Root, address: r.tree.address(r.tree.Root)}
	c, err := r.folder(root)
	if err != nil {
		return err
	}
	for _, o := range c.objects {
		// A cluster's folder usually has the Kustomization that applies this folder.
		if kindOf(o.value) == fluxKustomization && r.folderOf(o) == r.tree.Root && o.value.At("spec", "kubeConfig").IsEmpty() && r.isOurs(o) {
			r.seen[inputID(o.value)] = o
			if c, err = r.kustomization(o); err != nil {
				return err
			}
			break
		}
	}
	r.add(c)
	for {
		if r.ctx.Err() != nil {
			return fmt.Errorf("read flux: %w", r.ctx.Err())
		}
		o, build := r.next()
		if build == nil {
			return nil
		}
		if r.built == r.loader.flux.MaxKustomizations {
			r.all.problem(o.address, "more than %d Kustomizations and HelmReleases of Flux; raise max_kustomizations", r.built)
			return nil
		}
		if c, err = build(o); err != nil {
			return err
		}
		r.add(c)
	}
}

// next returns the next Kustomization, or HelmRelease, and what builds it; nil if there is none. HelmReleases follow, because
// sources and values of theirs may be in any Kustomization.
func (r *fluxReader) next() (o object, build func(object) (content, error)) {
	switch {
	case len(r.pending) > 0:
		// One whose inputs were found takes precedence.
		next := max(0, slices.IndexFunc(r.pending, r.isReady))
		o = r.pending[next]
		r.pending = slices.Delete(r.pending, next, next+1)
		return o, r.kustomization
	case len(r.releases) > 0:
		o, r.releases = r.releases[0], r.releases[1:]
		return o, r.helmRelease
	}
	return o, nil
}

// add adds the objects of a build.
func (r *fluxReader) add(c content) {
	r.all.add(c)
	r.failed = append(r.failed, c.problems...)
	for _, o := range c.objects {
		switch kind := kindOf(o.value); {
		case kind == fluxKustomization:
			r.addOnce(o, &r.pending, fluxExtents(o.value.At("spec")))
		case kind == fluxRelease && r.helm != nil:
			h := newHelmRelease(o)
			r.addOnce(o, &r.releases, h.extents())
		case isFluxInput(kind):
			if id := inputID(o.value); r.inputs[id].value.IsNull() {
				r.inputs[id] = o
				if isForeign(o.address) {
					r.loader.same.addForeign(id)
				}
			}
		case kind == fluxArtifactGenerator:
			r.addArtifacts(o)
		}
		r.elsewhere(o)
	}
}

// addOnce adds an object that is to be built to a queue. Of two with the same ID, Flux applies one in turn with the other.
func (r *fluxReader) addOnce(o object, queue *[]object, extents sketch) {
	id := inputID(o.value)
	first, twice := r.seen[id]
	switch {
	case !twice:
		r.seen[id] = o
		*queue = append(*queue, o)
	case !first.value.At("spec").Equal(o.value.At("spec")):
		r.all.limited(o.address, extents, "%s %s of Flux is declared with another spec in %s, too, and only that one is read: remove one of them",
			o.value.At("kind").Str(), nameOf(o.value), first.address)
	}
}

// isFluxInput reports whether a Kustomization may refer to objects of the kind.
func isFluxInput(kind string) bool {
	return kind == "ConfigMap" || kind == "Secret" || len(kind) > len(fluxSourceGroup) && kind[len(kind)-len(fluxSourceGroup):] == fluxSourceGroup
}

// inputID returns the kind and the ID of an object.
func inputID(object model.Value) string {
	metadata := object.At("metadata")
	return kindOf(object) + " " + cmp.Or(metadata.At("namespace").Str(), "default") + "/" + metadata.At("name").Str()
}

// input returns an object that a Kustomization refers to.
func (r *fluxReader) input(id string) (o object, ok bool) {
	if o, ok = r.inputs[id]; !ok {
		o, ok = r.before[id]
	}
	if !ok {
		r.absent[id] = true
	}
	return o, ok
}

// A fluxBuild is a folder that Flux builds.
type fluxBuild struct {
	dir     string
	address string
	// by is the Kustomization; its value is null for the declared folder.
	by object
	variables
	// from are the files with variables, by the name of the variable.
	from map[string][]string
}

// kustomization returns the objects of a Kustomization of Flux.
func (r *fluxReader) kustomization(o object) (content, error) {
	spec := o.value.At("spec")
	name := "Kustomization " + nameOf(o.value) + " of Flux"
	if !spec.At("kubeConfig").IsEmpty() {
		var c content
		c.bounded(o.address, nil, "%s applies to another cluster (spec.kubeConfig), and its objects are not compared: declare them for that cluster", name)
		return c, nil
	}
	unread := func(reason string) (c content) {
		c.limited(o.address, fluxExtents(spec), "the objects of %s are not compared: %s", name, reason)
		return c
	}
	at, reason := r.sourceOf(o)
	if reason = cmp.Or(o.openSpec(), reason); reason != "" {
		return unread(reason), nil
	}
	b := fluxBuild{dir: r.folderOf(o), address: o.address, by: o}
	b.variables, b.from = r.variables(o)
	if at.repository == nil {
		return r.apply(b, name, unread)
	}
	source, _ := r.source(o)
	key, err := otherKey(at, b, source)
	if err != nil {
		return content{}, err
	}
	r.built++
	return r.tree.others.get(otherBuild{key, at, func(t *tree) (content, error) {
		other := *r
		other.tree = t
		return other.apply(b, name, unread)
	}, func(reason string) content {
		return unread("its source " + nameOf(source.value) + " cannot be read: " + reason)
	}}), nil
}

// apply returns the objects of a Kustomization of Flux with the given name, whose source is the tree.
func (r *fluxReader) apply(b fluxBuild, name string, unread func(reason string) content) (content, error) {
	o, dir := b.by, b.dir
	reason := r.notCheckedOut(o)
	if info, err := fs.Stat(r.tree.files, dir); reason == "" && (err != nil || !info.IsDir()) {
		reason = fmt.Sprintf("its path %s is no folder of the repository", o.value.At("spec", "path").Str())
	}
	if reason == "" && o.unchecked != "" {
		reason = o.unchecked
	}
	if reason != "" {
		return unread(reason), nil
	}
	c, err := r.folder(b)
	if err != nil {
		return c, err
	}
	_, id, _ := strings.Cut(inputID(o.value), " ")
	by := model.Ref{Kind: "kubernetes/" + fluxKustomization, ID: id}
	for i := range c.objects {
		finishApplied(&c.objects[i], o, name)
		if c.objects[i].installedBy == (model.Ref{}) {
			c.objects[i].installedBy = by
		}
	}
	return c, nil
}

// openSpec returns why it is unknown what a Kustomization applies, or "": a field that decides it is left to
// chance. The values of variables are not among these fields, see variables.
func (o *object) openSpec() string {
	for _, name := range []string{
		"path", "sourceRef", "suspend", "targetNamespace", "namePrefix", "nameSuffix", "patches", "patchesStrategicMerge", "patchesJson6902",
		"images", "components", "ignoreMissingComponents", "commonMetadata", "postBuild.substituteFrom",
	} {
		if !o.isCertain(append([]string{"spec"}, strings.Split(name, ".")...)...) {
			return fmt.Sprintf("its %s is left to %s", name, o.chance)
		}
	}
	return ""
}

// fluxExtents returns the sketch of what a Kustomization that is not built may declare.
func fluxExtents(spec model.Value) sketch {
	// The values that stand for unknown ones are no names.
	if place := spec.At("targetNamespace").Str(); isName(place) {
		return sketch{unknown: true}.in(place)
	}
	return sketch{unknown: true}
}

// folderOf returns the folder that a Kustomization applies. Like Flux, it does not leave the
// repository.
func (r *fluxReader) folderOf(o object) string {
	in, _ := r.sourceFolder(o)
	return path.Join(in.folder, folderOf(o.value.At("spec", "path").Str()))
}

// folder builds a folder.
func (r *fluxReader) folder(b fluxBuild) (content, error) {
	r.built++
	a := fluxArgs{
		Job: jobArgs{
			Place: r.tree.place, Name: path.Join(mountPoint, b.dir), Limit: r.loader.config.MaxFileSize, Network: r.loader.config.AllowNetwork,
		},
		Variables: b.variables,
	}
	a.change(b.by.value.At("spec"))
	for _, name := range konfig.RecognizedKustomizationFileNames() {
		if info, err := fs.Stat(r.tree.files, path.Join(b.dir, name)); err == nil && !info.IsDir() {
			a.Kustomization = name
			break
		}
	}
	var unread content
	if a.Kustomization == "" {
		a.Missing, a.Kustomization = true, konfig.DefaultKustomizationFileName()
		scan, err := r.scan(b.dir, b.by)
		if err != nil {
			unread.limited(b.address, fluxExtents(b.by.value.At("spec")), "%v", err)
			return unread, r.ctx.Err()
		}
		a.Resources, unread.problems = scan.found, r.notInTree(b, scan.submodules).problems
		if len(a.Resources) == 0 {
			return unread, nil
		}
	}
	key, err := a.key()
	if err != nil {
		return content{}, err
	}
	build := func() (content, error) { return r.build(r.tree, a, b.address) }
	var c content
	if r.tree.Repository == "" {
		c, err = r.tree.others.own(key, build)
	} else {
		c, err = build()
	}
	if err != nil {
		return c, err
	}
	if len(c.problems) == 0 && r.tree.Repository == "" {
		r.folders = append(r.folders, b.dir)
	}
	r.tree.nameFiles(&c)
	r.place(&c, b, a)
	c.problems = slices.Concat(c.problems, unread.problems)
	return c, nil
}

// change sets the fields of the spec that change the kustomization.
func (o *fluxArgs) change(spec model.Value) {
	var fields []model.Field
	for _, name := range []string{
		"targetNamespace", "namePrefix", "nameSuffix", "patches", "patchesStrategicMerge", "patchesJson6902", "images",
		"components", "ignoreMissingComponents",
	} {
		if v, ok := spec.Get(name); ok && !v.IsNull() {
			fields = append(fields, model.Field{Name: name, Value: v})
		}
	}
	if len(fields) > 0 {
		o.Change = model.MapOf(fields...).AppendJSON(nil)
	}
}

// place sets the files and the addresses of the result of a build. Objects that come from the Kustomization
// of Flux itself get the files and the address of its object.
func (r *fluxReader) place(c *content, b fluxBuild, a fluxArgs) {
	made := r.tree.file(path.Join(b.dir, a.Kustomization))
	changes := len(a.Change) > 0
	for i := range c.objects {
		o := &c.objects[i]
		if slices.Contains(o.files, made) {
			if a.Missing {
				o.files = slices.DeleteFunc(o.files, func(name string) bool { return name == made })
			}
			if changes {
				o.files = append(o.files, b.by.files...)
			}
		}
		for _, v := range o.variables {
			o.files = append(o.files, b.from[v]...)
		}
		if a.Missing && r.tree.isAt(made, o.address) {
			o.address = b.address
		}
		o.files = slices.Compact(slices.Sorted(slices.Values(o.files)))
	}
	for i := range c.problems {
		p := &c.problems[i]
		if a.Missing && p.Address == r.tree.address(made) {
			p.Address = b.address
		}
		// A Kustomization or a release that cannot be read may declare anything.
		if slices.ContainsFunc(p.Extents, func(e model.Extent) bool { return declaresMore(e.Kind) }) {
			p.Bounded, p.Extents = false, nil
		}
	}
}

// declaresMore reports whether objects of a kind declare other objects.
func declaresMore(kind string) bool {
	return slices.Contains([]string{"kubernetes/" + fluxKustomization, "kubernetes/" + fluxRelease, "kubernetes/Kustomization.*", "kubernetes/HelmRelease.*"}, kind)
}

// key returns a key of the arguments: builds with the same key and the same files are the same.
func (o fluxArgs) key() (string, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return "", fmt.Errorf("encode arguments: %w", err)
	}
	sum := sha256.Sum256(text)
	return "flux " + hex.EncodeToString(sum[:]), nil
}

// isReady reports whether everything that a Kustomization refers to was found.
func (r *fluxReader) isReady(o object) bool {
	place := cmp.Or(o.value.At("metadata", "namespace").Str(), "default")
	for _, ref := range o.value.At("spec", "postBuild", "substituteFrom").Items() {
		if _, ok := r.inputs[ref.At("kind").Str()+" "+place+"/"+ref.At("name").Str()]; !ok {
			return false
		}
	}
	_, ok := r.inputs[sourceID(o.value)]
	return ok
}
