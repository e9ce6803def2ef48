package manifests

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/chart/postrender"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/kustomize"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// The jobs of this package in a box.
const (
	buildJob = "kustomize"
	fluxJob  = "flux"
	parseJob = "parse"
)

// Jobs returns the sandbox jobs of the manifest loaders, by name.
func Jobs() map[string]box.Job {
	return map[string]box.Job{buildJob: box.NewJob(build), fluxJob: box.NewJob(buildFlux), parseJob: box.NewJob(parseInBox), postrender.Job: box.NewJob(postrender.Do)}
}

// jobArgs are the arguments of a job for a file, or for the folder of a kustomization.
type jobArgs struct {
	Place place
	// Name is the path from the top of the tree; for a kustomization, below mountPoint.
	Name string
	// Limit bounds a file, in bytes.
	Limit int64
	// Network reports whether the box has a network, and kustomize may fetch remote
	// bases.
	Network bool
}

// parseInBox parses one file.
func parseInBox(files fs.FS, o jobArgs) (packed, error) {
	t := o.Place.tree(files, o.Limit)
	data, err := t.readFile(o.Name, o.Limit)
	if err != nil {
		return packed{}, err
	}
	c := t.parse(o.Name, data)
	return c.pack(), nil
}

// build builds one kustomization. It runs no plugins or commands, and reads no files outside
// of the kustomization's folder.
func build(files fs.FS, o jobArgs) (packed, error) {
	c, err := o.build(o.Place.tree(files, o.Limit), types.LoadRestrictionsRootOnly, plainObject)
	return c.pack(), err
}

// plainObject returns an object that kustomize built as JSON.
func plainObject(r *resource.Resource) (builtObject, error) {
	data, err := r.MarshalJSON()
	return builtObject{json: data}, err
}

// A builtObject is an object that kustomize built.
type builtObject struct {
	json []byte
	// variables are the names of the variables that Flux substituted in it.
	variables []string
}

// build builds the kustomization in the folder o.Name of t, and passes each object to finish.
func (o jobArgs) build(t *tree, restrictions types.LoadRestrictions, finish func(*resource.Resource) (builtObject, error)) (content, error) {
	var remote rejectingTransport
	if o.Network {
		t.kustomize = t.kustomize.withDisk(os.TempDir())
	} else {
		http.DefaultTransport = &remote
	}
	parts := withBases(t.kustomize, o.Name)
	var c content
	var secrets []string
	for _, k := range parts {
		secrets = append(secrets, k.secrets()...)
	}
	built, err := kustomize.Build(&originFS{FileSystem: t.kustomize, root: parts[0]}, o.Name, restrictions)
	if _, unread := t.kustomize.ReadFile(parts[0].file); unread != nil {
		// Kustomize would report that the file does not exist.
		err = unread
	}
	switch address := t.of(parts[0].file); {
	case err == nil:
		return rendered(t, parts, built, finish)
	case !o.Network && remote.isCause(err):
		c.limited(address, unbuilt(parts), "needs %s, and driftd does not fetch remote bases: copy it into the folder, "+
			"or set allow_network in the declaration's settings", cmp.Or(remote.first, remoteOf(parts), "a remote base"))
	default:
		c.limited(address, unbuilt(parts), "%s", buildError(err, t, secrets))
	}
	return c, nil
}

// A rejectingTransport is the HTTP transport of a build without a network: every request
// fails.
type rejectingTransport struct{ first string }

var errNoNetwork = errors.New("driftd does not fetch remote bases")

// RoundTrip implements http.RoundTripper.
func (r *rejectingTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	if r.first == "" {
		r.first = withoutSecrets(request.URL.String())
	}
	return nil, errNoNetwork
}

// isCause reports whether a build failed because a request was rejected, or git is missing.
func (r *rejectingTransport) isCause(err error) bool {
	// Kustomize searches for git before it clones. The box has no PATH.
	return r.first != "" || strings.Contains(err.Error(), "no 'git' program on path")
}

// remoteOf returns the first entry of the kustomizations that is not in their tree, or "".
func remoteOf(parts []kustomization) string {
	for _, k := range parts {
		if entries := k.entries(); slices.ContainsFunc(entries, k.isElsewhere) {
			return withoutSecrets(entries[slices.IndexFunc(entries, k.isElsewhere)])
		}
	}
	return ""
}

// withoutSecrets returns text without the user information of URLs in it. Of their queries it
// keeps only ref. A password may contain slashes, and git also accepts user@host:path.
func withoutSecrets(text string) string {
	text = userinfo().ReplaceAllStringFunc(text, func(found string) string {
		if found == "git@" || strings.HasSuffix(found, "//git@") {
			return found
		}
		return userinfo().ReplaceAllString(found, "$1")
	})
	return query().ReplaceAllStringFunc(text, func(found string) string {
		if ref := refOf().FindString(found); ref != "" {
			return "?" + ref[1:]
		}
		return ""
	})
}

var (
	userinfo = lazyregexp.New(`([A-Za-z0-9+.-]*://)?[^\s'"@]+@`)
	query    = lazyregexp.New(`\?[^\s'"]*`)
	refOf    = lazyregexp.New(`[?&]ref=[A-Za-z0-9._/-]+`)
)

// rendered returns the objects that kustomize built, each with the address of its origin.
func rendered(t *tree, parts []kustomization, built resmap.ResMap, finish func(*resource.Resource) (builtObject, error)) (content, error) {
	var c content
	k := parts[0]
	search := newOriginSearch(t, parts)
	for _, r := range built.Resources() {
		from := search.find(r)
		if !k.hasOriginAnnotations() {
			if err := r.SetOrigin(nil); err != nil {
				return content{}, fmt.Errorf("read the output of kustomize for %s: %w", t.of(k.file), err)
			}
		}
		data, err := finish(r)
		if failed, ok := errors.AsType[*substitutionError](err); ok {
			c.bounded(from.address, []model.Extent{unnamedExtent(r)}, "%s: %v", r.GetKind(), failed)
			continue
		}
		if err != nil {
			return content{}, fmt.Errorf("read the output of kustomize for %s: %w", t.of(k.file), err)
		}
		value, err := decode.JSON(data.json)
		if err != nil {
			c.problem(from.address, "the output of kustomize cannot be read: %v", err)
			continue
		}
		c.objects = append(c.objects, object{value: value, address: from.address, files: search.sourceFiles(from, value, r), variables: data.variables})
	}
	return c, nil
}

func (k kustomization) hasOriginAnnotations() bool {
	return slices.Contains(texts(k.value.At("buildMetadata")), types.OriginAnnotations)
}

// An originFS adds origin annotations to the buildMetadata of the root's kustomization.
type originFS struct {
	filesys.FileSystem
	root kustomization
}

// ReadFile implements filesys.FileSystem.
func (o *originFS) ReadFile(file string) ([]byte, error) {
	data, err := o.FileSystem.ReadFile(file)
	if err != nil || file != o.root.file || o.root.hasOriginAnnotations() {
		return data, err
	}
	return withOrigins(data), nil
}

// withOrigins adds origin annotations to the buildMetadata of a kustomization. A file that
// cannot be parsed is returned unchanged: kustomize reports the error.
func withOrigins(data []byte) []byte {
	var document yaml.Node
	if err := yaml.Unmarshal(data, &document); err != nil || len(document.Content) == 0 {
		return data
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return data
	}
	entry := &yaml.Node{Kind: yaml.ScalarNode, Value: types.OriginAnnotations}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if list := root.Content[i+1]; root.Content[i].Value == "buildMetadata" && list.Kind == yaml.SequenceNode {
			list.Content = append(list.Content, entry)
			entry = nil
		}
	}
	if entry != nil {
		key := &yaml.Node{Kind: yaml.ScalarNode, Value: "buildMetadata"}
		root.Content = append(root.Content, key, &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{entry}})
	}
	changed, err := yaml.Marshal(&document)
	if err != nil {
		return data
	}
	return changed
}

// pack returns the content in the form in which it leaves the box.
func (c *content) pack() packed {
	p := packed{Problems: make([]packedProblem, len(c.problems))}
	for i := range c.problems {
		p.Problems[i] = packedProblem(c.problems[i])
	}
	for _, o := range c.objects {
		packed := packedObject{JSON: o.value.AppendJSON(nil), Address: o.address, Files: o.files, Variables: o.variables, Chance: o.chance}
		for _, again := range o.again {
			packed.Again = append(packed.Again, again.AppendJSON(nil))
		}
		p.Objects = append(p.Objects, packed)
	}
	return p
}

// content returns the content of a packed.
func (p *packed) content() (content, error) {
	c := content{problems: make([]model.Problem, len(p.Problems))}
	for i := range p.Problems {
		c.problems[i] = model.Problem(p.Problems[i])
	}
	for _, o := range p.Objects {
		value, err := decode.JSON(o.JSON)
		if err != nil {
			return content{}, fmt.Errorf("read %s from the box: %w", o.Address, err)
		}
		made := object{value: value, address: o.Address, files: o.Files, variables: o.Variables, chance: o.Chance}
		for _, data := range o.Again {
			again, err := decode.JSON(data)
			if err != nil {
				return content{}, fmt.Errorf("read %s from the box: %w", o.Address, err)
			}
			made.again = append(made.again, again)
		}
		c.objects = append(c.objects, made)
	}
	return c, nil
}
