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
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A dump reads an output file of "kubectl get -o yaml" or "-o json".
type dump struct {
	env     collectors.Env
	config  Config
	now     func() time.Time
	builtin func() (map[string]*model.Kind, error)
}

// Collect implements collectors.Collector. It reads the file.
func (d *dump) Collect(ctx context.Context) (model.Snapshot, error) {
	if err := ctx.Err(); err != nil {
		return model.Snapshot{}, fmt.Errorf("read dump %s: %w", d.config.Dump, err)
	}
	// The file may be a pipe. Without O_NONBLOCK, opening a pipe without a writer blocks.
	// Closing it when ctx ends unblocks reads.
	file, err := os.OpenFile(d.config.Dump, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return model.Snapshot{}, fmt.Errorf("open dump: %w; write it with: %s", err, dumpCommand)
	}
	defer func() { _ = file.Close() }()
	defer context.AfterFunc(ctx, func() { _ = file.Close() })()
	ctx, settle := budget.Part(ctx)
	return d.collect(budget.Reader(ctx, file), settle)
}

// collect reads a dump. It calls settle with the memory use of each object that it keeps.
func (d *dump) collect(content io.Reader, settle func(kept int64)) (model.Snapshot, error) {
	found := &dumpContent{
		dump: d, taken: d.now(), settle: settle,
		namespaces: map[string]bool{}, excluded: map[string]bool{}, byKind: map[string]*dumpedKind{},
	}
	text := bufio.NewReader(content)
	// kubectl writes text even for an empty list, so an empty file is that of a failed command.
	if _, err := text.Peek(1); err != nil {
		return model.Snapshot{}, fmt.Errorf("read dump %s: the file is empty or unreadable: %w; write it with: %s", d.config.Dump, err, dumpCommand)
	}
	found.read(text)
	if len(found.byKind) == 0 && found.fault != "" {
		return model.Snapshot{}, fmt.Errorf("read dump %s: %s; write it with: %s", d.config.Dump, found.fault, dumpCommand)
	}
	return found.snapshot()
}

// Probe implements collectors.Prober. It reads the whole file and returns the coverage of the dump.
func (d *dump) Probe(ctx context.Context) (collectors.Probe, error) {
	s, err := d.Collect(ctx)
	if err != nil {
		return collectors.Probe{}, err
	}
	return collectors.Probe{Endpoint: d.config.Dump, Identity: "none (file)", Coverage: s.Coverage}, nil
}

// A dumpContent collects the objects of a dump.
type dumpContent struct {
	*dump
	taken      time.Time
	settle     func(kept int64)
	namespaces map[string]bool
	byKind     map[string]*dumpedKind
	// excluded are the kinds in the dump that the settings exclude.
	excluded map[string]bool
	// defined are the custom resource definitions in the dump.
	defined []model.Value
	// fault is the reason why the file could not be read completely, or "".
	fault string
}

type dumpedKind struct {
	version    string
	namespaced bool
	byID       map[string]model.Resource
	unreadable []unreadable
}

// read reads the content as a stream of JSON if it begins with "{", and as YAML otherwise.
func (d *dumpContent) read(content *bufio.Reader) {
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

func (d *dumpContent) readJSON(content io.Reader) {
	s := newStream(content, d.config.MaxObjectSize)
	for {
		doc, err := s.document(d.rawItem)
		if errors.Is(err, io.EOF) {
			return
		}
		switch {
		case err != nil:
		case doc.isList:
			err = wholeList(doc.text("kind"), doc.continues())
		default:
			err = d.single(doc)
		}
		if err != nil {
			d.fault = printable.Text(err.Error())
			return
		}
	}
}

// rawItem adds an item of a list. Items of a list of one kind ("PodList") do not have the
// fields apiVersion and kind.
func (d *dumpContent) rawItem(list *document, raw jsontext.Value) {
	tree, err := decode.JSON(raw)
	if err != nil {
		d.fault = unreadable{labelOf(raw), err}.fault()
		return
	}
	d.settle(d.object(withKind(tree, list.text("apiVersion"), strings.TrimSuffix(list.text("kind"), "List"))))
}

func (d *dumpContent) single(doc *document) error {
	tree, err := doc.value()
	if err == nil {
		d.object(tree)
	}
	return err
}

func (d *dumpContent) readYAML(content io.Reader) {
	documents, err := decode.YAML(content)
	for _, doc := range documents {
		d.document(doc.Value)
	}
	if err != nil {
		d.fault = printable.Text(err.Error())
	}
}

func (d *dumpContent) document(tree model.Value) {
	items, ok := tree.Get("items")
	kind, isList := strings.CutSuffix(tree.At("kind").Str(), "List")
	if !ok || !isList {
		d.object(tree)
		return
	}
	for _, item := range items.Items() {
		d.object(withKind(item, tree.At("apiVersion").Str(), kind))
	}
	if err := wholeList(tree.At("kind").Str(), tree.At("metadata", "continue").Str()); err != nil {
		d.fault = err.Error()
	}
}

// wholeList returns an error if a list continues on another page.
func wholeList(kind, continues string) error {
	if continues == "" {
		return nil
	}
	return fmt.Errorf("the %s is one page of a longer list", printable.Text(kind))
}

// object adds an object, which replaces an earlier one with the same ID. It returns the approximate
// memory use of the object in bytes.
func (d *dumpContent) object(tree model.Value) (kept int64) {
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
	resource.Record = kube.ReadRelease(tree, d.env.Sealer)
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

func (d *dumpContent) kind(name string) *dumpedKind {
	k := d.byKind[name]
	if k == nil {
		k = &dumpedKind{byID: map[string]model.Resource{}}
		d.byKind[name] = k
	}
	return k
}

// unreadable records an invalid object, as a fault of its kind or else of the dump, and
// returns its weight.
func (d *dumpContent) unreadable(tree model.Value, err error) (kept int64) {
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
