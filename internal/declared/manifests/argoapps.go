package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// Kinds of Argo CD.
const (
	argoApplication    = "Application.argoproj.io"
	argoApplicationSet = "ApplicationSet.argoproj.io"
	argoProject        = "AppProject.argoproj.io"
)

// maxDepth bounds Applications that deploy Applications.
const maxDepth = 10

// An application is an Application of Argo CD that the declaration has.
type application struct {
	// name is its namespace and name.
	name, address string
	files         []string
	spec          model.Value
	// depth is the number of Applications that deploy each other above it.
	depth int
}

// namespace returns the namespace of the objects that the Application deploys.
func (a *application) namespace() string { return a.spec.At("destination", "namespace").Str() }

// short returns the name of the Application without its namespace.
func (a *application) short() string { return path.Base(a.name) }

// A deferred is work at another checkout than the one that is read.
type deferred struct {
	at checkout
	do func() error
	// fail adds the problem of work that is not done. reason follows the name of the checkout.
	fail func(reason string)
}

// An argoReader reads Applications from one tree, and the objects that they deploy from it.
type argoReader struct {
	ctx    context.Context //nolint:containedctx // a reader lives for one reading
	loader *loader
	tree   *tree
	// kustomize and helm are boxes for builds and charts.
	kustomize, helm *box.Box
	// fetch fetches charts; nil for an old commit.
	fetch *chartFetch
	// urls are the URLs of the declaration's repository.
	urls []string
	// repository is that of the tree; nil for the declaration's. isOwn reports whether a revision of it is the one that is read.
	repository *permitted
	isOwn      func(revision string) bool
	// commits are those that revisions named, and revised is the time of the last one in another repository.
	commits map[checkout]string
	revised time.Time
	outages outages
	// otherFiles are files of values at other checkouts, by their overlay.
	otherFiles map[string]valuesContent
	queue      []application
	// read are the objects of Argo CD that were read, by kind and name.
	read map[string]object
	// left are those in the declared folder that were left to the Application that deploys their folder.
	left []leftApplication
	// failed are the names of Applications of which not every source was read.
	failed map[string]bool
	// namespaces are those that Argo CD creates, with the first Application that requests it.
	namespaces map[string]application
	deferred   []deferred
	all        content
	// builds counts the builds of kustomizations and charts.
	builds int
}

func (l *loader) newArgoReader(ctx context.Context, isOwn func(string) bool) *argoReader {
	return &argoReader{ctx: ctx, loader: l, kustomize: l.openBox(false), helm: l.openRenderer(), fetch: l.fetching(), isOwn: isOwn,
		urls: l.argocd.urls(), commits: map[checkout]string{}, otherFiles: map[string]valuesContent{}, read: map[string]object{}, failed: map[string]bool{}, namespaces: map[string]application{}}
}

// close ends the processes of the reader.
func (r *argoReader) close() error { return errors.Join(r.kustomize.Close(), r.helm.Close()) }

// root reads the Applications in the declared folder, and all that they deploy from the tree.
func (r *argoReader) root(t *tree) error {
	r.tree = t
	found, err := r.rootContent()
	if err != nil {
		return err
	}
	r.start(found)
	return r.run()
}

// rootContent reads the declared folder: a chart, a kustomization, or a folder of manifests.
func (r *argoReader) rootContent() (content, error) {
	l, t := r.loader, r.tree
	if _, err := fs.Stat(t.files, path.Join(t.Root, chartFile)); err == nil {
		a := application{name: path.Join(l.argocd.Namespace, path.Base(t.Root)), address: t.address(path.Join(t.Root, chartFile))}
		return r.chart(&a, model.Value{}, HelmConfig{}, t.Root, l.argocd.Namespace)
	}
	found, err := l.walk(r.ctx, t)
	if err != nil {
		return content{}, err
	}
	all, err := l.plainFiles(r.ctx, t, found.files)
	if err != nil {
		return content{}, err
	}
	all.problems = append(all.problems, found.problems...)
	for _, dir := range roots(t.kustomize, mounted(found.kustomizations)) {
		built, err := r.build(t, dir)
		if err != nil {
			return content{}, err
		}
		all.add(built)
	}
	return all, nil
}

// start takes the Applications of the declared folder, and leaves its other objects to the
// Applications that deploy them. An Application in a folder that another one deploys is read
// with that one.
func (r *argoReader) start(found content) {
	found.objects = slices.DeleteFunc(found.objects, func(o object) bool { return !isArgo(o.value) })
	deployed := r.deployed(found.objects)
	var own []object
	for _, o := range found.objects {
		_, name := r.named(&o)
		if by := deployed.byOther(o.files, name); by == "" {
			own = append(own, o)
		} else {
			r.left = append(r.left, leftApplication{o, by})
		}
	}
	if len(own) == 0 {
		own, r.left = found.objects, nil // they deploy each other
	}
	r.take(own, 0)
	for i := range found.problems {
		p := &found.problems[i]
		if p.Bounded && !slices.ContainsFunc(p.Extents, mayBeArgo) {
			continue
		}
		if !deployed.holds(r.tree, p.Address) {
			r.all.problems = append(r.all.problems, *p)
		}
	}
}

// deployedFolders are the folders of this repository that Applications deploy from a branch, with
// the names of the Applications.
type deployedFolders map[string][]string

func (r *argoReader) deployed(objects []object) deployedFolders {
	folders := deployedFolders{}
	for _, o := range objects {
		if kindOf(o.value) != argoApplication {
			continue
		}
		if _, here := r.cluster(o.value.At("spec")); !here {
			continue
		}
		for _, source := range sources(o.value.At("spec")) {
			if source.At("path").Str() != "" && !leadsOut(source.At("path").Str()) && r.isOwnRepository(source.At("repoURL").Str()) && !pinned().MatchString(source.At("targetRevision").Str()) {
				folder := folderOf(source.At("path").Str())
				_, name := r.named(&o)
				folders[folder] = append(folders[folder], name)
			}
		}
	}
	return folders
}

// byOther returns another Application than the named one that deploys a folder with one of the files; "" if there is none.
func (d deployedFolders) byOther(files []string, name string) string {
	for _, file := range files {
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			if at := slices.IndexFunc(d[dir], func(by string) bool { return by != name }); at >= 0 {
				return d[dir][at]
			}
			if dir == "." || dir == "/" {
				break
			}
		}
	}
	return ""
}

// A leftApplication is an object that is left to the Application with the name by.
type leftApplication struct {
	object
	by string
}

// notDeployed adds the problems of Applications that the Application that deploys their folder does not deploy, such as
// by a pattern of exclude, or because the kustomization there does not list them.
func (r *argoReader) notDeployed() {
	for i := range r.left {
		o, by := &r.left[i].object, r.left[i].by
		kind, name := r.named(o)
		if _, read := r.read[kind+name]; read || r.failed[by] {
			continue
		}
		itself := model.Extent{Kind: "kubernetes/" + kind, Place: path.Dir(name), Name: path.Base(name)}
		r.all.bounded(o.address, []model.Extent{itself}, "%s %s is in a folder that Application %s deploys, which leaves it out, so that it is not compared: "+
			"move it out of the folder if it is applied by other means", strings.TrimSuffix(kind, ".argoproj.io"), name, by)
	}
}

// holds reports whether an Application deploys the folder of an address.
func (d deployedFolders) holds(t *tree, address string) bool {
	for folder := range d {
		at := t.address(folder)
		if folder == "." || folder == t.Root || liesIn(t.Root, folder) || address == at || strings.HasPrefix(address, at+"/") {
			return true
		}
	}
	return false
}

// isArgo reports whether an object configures what Argo CD deploys.
func isArgo(object model.Value) bool {
	return slices.Contains([]string{argoApplication, argoApplicationSet, argoProject}, kindOf(object))
}

func mayBeArgo(e model.Extent) bool {
	return e.Kind == "" || strings.HasSuffix(e.Kind, ".argoproj.io") || strings.HasSuffix(e.Kind, ".*")
}

// sources returns the sources of an Application's spec.
func sources(spec model.Value) []model.Value {
	if list := spec.At("sources").Items(); len(list) > 0 {
		return list
	}
	if source, ok := spec.Get("source"); ok {
		return []model.Value{source}
	}
	return nil
}

// take adds objects to the result, and queues the Applications among them.
func (r *argoReader) take(objects []object, depth int) {
	for _, o := range objects {
		kind, name := r.named(&o)
		if isArgo(o.value) {
			if first, twice := r.read[kind+name]; twice {
				r.twice(&first, &o, kind, name)
				continue
			}
			r.read[kind+name] = o
		}
		r.all.objects = append(r.all.objects, o)
		a := application{name: name, address: o.address, files: o.files, spec: o.value.At("spec"), depth: depth}
		switch kind {
		case argoApplication:
			r.queue = append(r.queue, a)
		case argoApplicationSet:
			r.generate(a)
		}
	}
}

// named returns the kind, and the namespace and name, of an object of Argo CD.
func (r *argoReader) named(o *object) (kind, name string) {
	metadata := o.value.At("metadata")
	return kindOf(o.value), path.Join(cmp.Or(metadata.At("namespace").Str(), o.namespace, r.loader.argocd.Namespace), metadata.At("name").Str())
}

// twice adds the problem of an object that was read before with another spec. A parent that also deploys itself has the same.
func (r *argoReader) twice(first, o *object, kind, name string) {
	if !first.value.At("spec").Equal(o.value.At("spec")) {
		r.all.limited(o.address, sketch{unknown: true}, "%s %s is declared with another spec in %s, too, and only that one is read: remove one of them",
			strings.TrimSuffix(kind, ".argoproj.io"), name, first.address)
	}
}

// run reads the queued Applications.
func (r *argoReader) run() error {
	for ; len(r.queue) > 0; r.queue = r.queue[1:] {
		if r.ctx.Err() != nil {
			return fmt.Errorf("read Applications: %w", r.ctx.Err())
		}
		if len(r.read) > r.loader.argocd.MaxApplications {
			return fmt.Errorf("read Applications: more than %d; narrow the path, or raise max_applications", r.loader.argocd.MaxApplications)
		}
		if err := r.application(&r.queue[0]); err != nil {
			return err
		}
	}
	return nil
}

// application reads what an Application deploys.
func (r *argoReader) application(a *application) error {
	cluster, here := r.cluster(a.spec)
	all := sources(a.spec)
	switch {
	case a.depth > maxDepth:
		r.unread(a, sketch{unknown: true}, "more than %d Applications deploy each other", maxDepth)
		return nil
	case !here:
		r.unread(a, sketch{}, "deploys to %s, which is not among the clusters of the declaration: list it in clusters if it is the governed source", orNone(cluster, "no cluster"))
		return nil
	case len(all) == 0:
		r.unread(a, sketch{unknown: true}, "has no source that driftd reads")
		return nil
	}
	if slices.Contains(texts(a.spec.At("syncPolicy", "syncOptions")), "CreateNamespace=true") && a.namespace() != "" {
		if _, known := r.namespaces[a.namespace()]; !known {
			r.namespaces[a.namespace()] = *a
		}
	}
	for _, source := range all {
		if err := r.source(a, source); err != nil {
			return err
		}
	}
	return nil
}

// cluster returns the destination of an Application, and whether it is the governed source. Argo CD
// refuses one with both a server and a name.
func (r *argoReader) cluster(spec model.Value) (cluster string, here bool) {
	server, name := spec.At("destination", "server").Str(), spec.At("destination", "name").Str()
	if server != "" && name != "" {
		return server + " and " + name, false
	}
	cluster = cmp.Or(server, name)
	return cluster, slices.Contains(r.loader.argocd.Clusters, cluster)
}

// leadsOut reports whether Argo CD refuses a path because it is not one in the repository.
func leadsOut(name string) bool { return path.IsAbs(name) || !fs.ValidPath(path.Clean(name)) }

func orNone(text, none string) string {
	if text == "" {
		return none
	}
	return shown(text)
}

// shown returns a text of a foreign author for a message, without credentials.
func shown(text string) string { return printable.Line(withoutSecrets(text), 200) }

// unread adds a problem with an Application whose objects are at most those in the sketch s.
func (r *argoReader) unread(a *application, s sketch, format string, args ...any) {
	r.failed[a.name] = true
	r.all.limited(a.address, s, "Application %s %s", a.name, fmt.Sprintf(format, args...))
}

// source reads one source of an Application.
func (r *argoReader) source(a *application, source model.Value) error {
	repository, folder := source.At("repoURL").Str(), source.At("path").Str()
	anything := sketch{unknown: true}
	at, known := r.locate(repository, source.At("targetRevision").Str())
	switch {
	case source.At("chart").Str() != "":
		return r.deploy(a, source)
	case folder == "" && source.At("ref").Str() != "":
		// It only has files of values.
	case leadsOut(folder):
		r.unread(a, anything, "deploys %s, which is not a path in the repository: Argo CD refuses it", shown(folder))
	case kubeTemplate(repository + folder + source.At("targetRevision").Str()):
		r.unread(a, anything, "has a source with a template that was not rendered")
	case !known:
		r.unread(a, anything, "deploys from %s, which is another repository: list it in repositories to read it, too, or list its URL in same_repository if it is this one", orNone(repository, "no repository"))
	case !r.isHere(at):
		r.later(*a, source, at)
	default:
		return r.deploy(a, source)
	}
	return nil
}

// later defers a source to its checkout.
func (r *argoReader) later(a application, source model.Value, at checkout) {
	r.deferred = append(r.deferred, deferred{at, func() error { return r.deploy(&a, source) }, func(reason string) {
		r.unread(&a, sketch{unknown: true}, "deploys the revision %s%s", at.shown(), reason)
	}})
}

// deploy reads the objects of a source in the tree.
func (r *argoReader) deploy(a *application, source model.Value) error {
	found, err := r.render(a, source)
	if missing, ok := errors.AsType[*missingValues](err); ok {
		for _, file := range missing.files {
			r.deferred = append(r.deferred, r.readValues(file))
		}
		// The chart of a repository of charts is in no checkout.
		at := checkout{nil, r.loader.config.Ref}
		if source.At("chart").Str() == "" {
			at, _ = r.locate(source.At("repoURL").Str(), source.At("targetRevision").Str())
		}
		r.later(*a, source, at)
		return nil
	}
	var failed *sourceError
	if errors.As(err, &failed) {
		r.unread(a, failed.extent, "%s", failed.text)
		return nil
	}
	if err != nil {
		return err
	}
	if err := found.takeMemory(r.ctx); err != nil {
		return err
	}
	ignored := ignoredBy(a)
	for i := range found.objects {
		o := &found.objects[i]
		o.namespace, o.unenforced = a.namespace(), ignored.of(o.value, a.namespace())
		o.track(r.instance(a))
	}
	r.all.problems = append(r.all.problems, found.problems...)
	r.take(found.objects, a.depth+1)
	return nil
}

// A sourceError is why a source is not read, and the objects that it may declare.
type sourceError struct {
	text   string
	extent sketch
}

// Error implements error.
func (e *sourceError) Error() string { return e.text }

func notRead(extent sketch, format string, args ...any) error {
	return &sourceError{fmt.Sprintf(format, args...), extent}
}

// createdNamespaces adds the namespaces that Argo CD creates for Applications, unless they are declared. It
// skips the namespace of Argo CD itself, which exists before: a claim on it would govern the objects that
// install Argo CD. One that clusters or installers create, too, is compared if it is there, and not governed.
func (r *argoReader) createdNamespaces() {
	declared := map[string]bool{}
	for _, o := range r.all.objects {
		if kindOf(o.value) == "Namespace" {
			declared[o.value.At("metadata", "name").Str()] = true
		}
	}
	for name, a := range r.namespaces {
		if declared[name] || !isName(name) || name == r.loader.argocd.Namespace {
			continue
		}
		metadata := model.MapOf(model.Field{Name: "name", Value: model.StringOf(name)})
		for _, field := range []string{"labels", "annotations"} {
			if v, ok := a.spec.At("syncPolicy", "managedNamespaceMetadata").Get(field); ok {
				metadata = metadata.With(field, v)
			}
		}
		r.all.objects = append(r.all.objects, object{address: a.address, files: a.files, optional: kube.IsShared(name), value: model.MapOf(
			model.Field{Name: "apiVersion", Value: model.StringOf("v1")}, model.Field{Name: "kind", Value: model.StringOf("Namespace")},
			model.Field{Name: "metadata", Value: metadata})})
	}
	slices.SortStableFunc(r.all.objects, func(a, b object) int { return cmp.Compare(a.address, b.address) })
}

// rendererMissing is the problem of charts without the program that renders them.
func (r *argoReader) rendererMissing() error {
	if r.loader.env.Helm == "" {
		return notRead(sketch{unknown: true}, "deploys a chart, and the program %s, which renders charts, is not installed beside driftd: install it", chart.Program)
	}
	return nil
}
