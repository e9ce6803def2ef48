package kubernetes

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// A dump is a file that "kubectl get -o yaml" or "-o json" wrote.
type dump struct {
	env     collectors.Env
	config  Config
	now     func() time.Time
	builtin func() (map[string]*model.Kind, error)
}

// Collect reads the file.
func (d *dump) Collect(ctx context.Context) (model.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return model.Snapshot{}, fmt.Errorf("read dump %s: %w", d.config.Dump, err)
	}
	// It may be a pipe, whose reading ends with the context. Opening one without a
	// writer would wait.
	file, err := os.OpenFile(d.config.Dump, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return model.Snapshot{}, fmt.Errorf("open dump: %w; write it with: %s", err, dumpCommand)
	}
	defer func() { _ = file.Close() }()
	defer context.AfterFunc(ctx, func() { _ = file.Close() })()
	ctx, settle := budget.Part(ctx)
	return d.collect(budget.Reader(ctx, file), settle)
}

// collect reads a dump. It settles what reading takes of memory, object by object.
func (d *dump) collect(content io.Reader, settle func(kept int64)) (model.Snapshot, error) {
	found := &dumped{
		dump: d, taken: d.now(), settle: settle,
		namespaces: map[string]bool{}, excluded: map[string]bool{}, byKind: map[string]*dumpedKind{},
	}
	text := bufio.NewReader(content)
	// kubectl writes an empty list as one: nothing at all comes from a command that failed.
	if _, err := text.Peek(1); err != nil {
		return model.Snapshot{}, fmt.Errorf("read dump %s: it is empty, or cannot be read: %w; write it with: %s", d.config.Dump, err, dumpCommand)
	}
	found.read(text)
	if len(found.byKind) == 0 && found.fault != "" {
		return model.Snapshot{}, fmt.Errorf("read dump %s: %s; write it with: %s", d.config.Dump, found.fault, dumpCommand)
	}
	return found.snapshot()
}

// Probe says what the dump holds.
func (d *dump) Probe(ctx context.Context) (collectors.Probe, error) {
	s, err := d.Collect(ctx)
	if err != nil {
		return collectors.Probe{}, err
	}
	return collectors.Probe{Endpoint: d.config.Dump, Identity: "nobody: a file is read", Coverage: s.Coverage}, nil
}

// A dumped is what was read of a dump.
type dumped struct {
	*dump
	taken      time.Time
	settle     func(kept int64)
	namespaces map[string]bool
	byKind     map[string]*dumpedKind
	// excluded are kinds of the dump that the settings leave out.
	excluded map[string]bool
	// defined are kinds that the dump itself defines (custom resources).
	defined []model.Value
	// fault is why the file could not be read to its end; "" when it was.
	fault string
}

type dumpedKind struct {
	version    string
	namespaced bool
	byID       map[string]model.Resource
	unreadable []unreadable
}

// read takes JSON as it streams, and everything else as YAML.
func (d *dumped) read(content *bufio.Reader) {
	if isJSON(content) {
		d.readJSON(content)
	} else {
		d.readYAML(content)
	}
}

const dumpCommand = "kubectl get KINDS -A -o yaml --show-managed-fields"

func isJSON(content *bufio.Reader) bool {
	start, _ := content.Peek(512)
	return bytes.HasPrefix(bytes.TrimSpace(start), []byte("{"))
}

func (d *dumped) readJSON(content io.Reader) {
	s := newStream(content, d.config.MaxObjectSize)
	for {
		doc, err := s.document(d.rawItem)
		if errors.Is(err, io.EOF) {
			return
		}
		if err == nil && !doc.isList {
			err = d.single(doc)
		}
		if err != nil {
			d.fault = httpclient.Printable(err.Error())
			return
		}
	}
}

// rawItem takes an item of a list. One of a list of one kind ("PodList") does
// not name it itself.
func (d *dumped) rawItem(list *document, raw jsontext.Value) {
	tree, err := decode.JSON(raw)
	if err != nil {
		d.fault = unreadable{labelOf(raw), err}.fault()
		return
	}
	d.settle(d.object(named(tree, list.text("apiVersion"), strings.TrimSuffix(list.text("kind"), "List"))))
}

func (d *dumped) single(doc *document) error {
	tree, err := doc.value()
	if err == nil {
		d.object(tree)
	}
	return err
}

func (d *dumped) readYAML(content io.Reader) {
	documents, err := decode.YAML(content)
	for _, doc := range documents {
		d.document(doc.Value)
	}
	if err != nil {
		d.fault = httpclient.Printable(err.Error())
	}
}

func (d *dumped) document(tree model.Value) {
	items, ok := tree.Get("items")
	kind, isList := strings.CutSuffix(tree.At("kind").Str(), "List")
	if !ok || !isList {
		d.object(tree)
		return
	}
	for _, item := range items.Items() {
		d.object(named(item, tree.At("apiVersion").Str(), kind))
	}
}

// object takes one object; of two with one name the later counts. It returns about what
// is kept of it takes of memory, in bytes.
func (d *dumped) object(tree model.Value) (kept int64) {
	if tree.IsNull() {
		return 0
	}
	resource, err := kube.NewResource(d.env.Name, tree, d.env.Sealer)
	if err != nil {
		return d.unreadable(tree, err)
	}
	if d.config.excludes(resource.Kind) {
		d.excluded[resource.Kind] = true
		return 0
	}
	kept = resource.Weight()
	if resource.Place != "" {
		d.namespaces[resource.Place] = true
	}
	k := d.kind(resource.Kind)
	k.version = tree.At("apiVersion").Str()
	k.namespaced = k.namespaced || resource.Place != ""
	k.byID[resource.ID] = resource
	if kube.KindsFromCRD(tree) != nil {
		d.defined = append(d.defined, tree)
		kept += tree.Weight()
	}
	return kept
}

func (d *dumped) kind(name string) *dumpedKind {
	k := d.byKind[name]
	if k == nil {
		k = &dumpedKind{byID: map[string]model.Resource{}}
		d.byKind[name] = k
	}
	return k
}

// unreadable notes an object that is none, for its kind or for the whole, and returns
// its weight.
func (d *dumped) unreadable(tree model.Value, err error) (kept int64) {
	u := unreadable{err: err}
	u.Metadata.Name, u.Metadata.Namespace = tree.At("metadata", "name").Str(), tree.At("metadata", "namespace").Str()
	apiVersion, kind := tree.At("apiVersion").Str(), tree.At("kind").Str()
	if apiVersion == "" || kind == "" {
		d.fault = u.fault()
		return 0
	}
	k := d.kind(kube.KindName(apiVersion, kind))
	k.unreadable = append(k.unreadable, u)
	return u.weight()
}
