// Package cluster is a small stand-in for a Kubernetes API server, for the
// demonstration: it keeps objects with the record of who wrote which field,
// lists and watches them, and tells an audit log who did what.
package cluster

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
)

// An Object is one as the API writes it.
type Object = map[string]any

// A Writer is who writes, and with what.
type Writer struct {
	// User is the name by which the API server knows them.
	User string
	// Agent is the program's name: "kubectl".
	Agent string
	// Manager is the field manager of the write: "kubectl-edit".
	Manager string
}

// A Ref names an object.
type Ref struct{ Kind, Namespace, Name string }

// maxEvents bounds how far back a watch may begin.
const maxEvents = 1000

// A Cluster is an API server with what it keeps. It is safe for concurrent use.
type Cluster struct {
	mu      sync.Mutex
	audit   io.Writer
	version int
	objects map[Ref]Object
	// events are the last ones, oldest first; those up to forgotten are gone.
	events    []event
	forgotten int
	// changed is closed when there is another event.
	changed chan struct{}
}

// An event is what a watch tells of one write.
type event struct {
	version int
	kind    string
	// place is the object's namespace.
	place string
	line  []byte
}

// New returns a Cluster without objects. Each write is told to audit as a line
// of audit.k8s.io/v1.
func New(audit io.Writer) *Cluster {
	return &Cluster{audit: audit, version: 1000, objects: map[Ref]Object{}, changed: make(chan struct{})}
}

// Apply writes a whole object, as kubectl apply does on the client's side: it
// becomes the writer's, and what was applied is kept beside it.
func (c *Cluster) Apply(manifest Object, by Writer, at time.Time) error {
	ref, err := RefOf(manifest)
	if err != nil {
		return err
	}
	applied, err := json.Marshal(manifest)
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", ref.Kind, ref.Name, err)
	}
	object, err := copyOf(manifest)
	if err != nil {
		return err
	}
	meta := metaOf(object)
	meta["managedFields"] = []any{entry(by.Manager, object["apiVersion"], at, leaves(object))}
	annotations, _ := meta["annotations"].(map[string]any)
	annotations = maps.Clone(annotations)
	if annotations == nil {
		annotations = map[string]any{}
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(applied) + "\n"
	meta["annotations"] = annotations
	c.mu.Lock()
	defer c.mu.Unlock()
	verb := "patch"
	meta["creationTimestamp"] = at.UTC().Format(time.RFC3339)
	meta["generation"] = 1
	if before := c.objects[ref]; before != nil {
		meta["creationTimestamp"] = metaOf(before)["creationTimestamp"]
		meta["generation"] = generation(before) + 1
		meta["uid"] = metaOf(before)["uid"]
	} else {
		verb = "create"
		meta["uid"] = fmt.Sprintf("5d6f1c2a-0000-4000-8000-%012d", c.version)
	}
	return c.put(ref, object, deed{verb, by, at})
}

// Edit changes an object that is there: the fields that edit changes become the
// writer's.
func (c *Cluster) Edit(ref Ref, by Writer, at time.Time, edit func(Object)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.objects[ref]
	if before == nil {
		return fmt.Errorf("edit %s %s/%s: it is not there", ref.Kind, ref.Namespace, ref.Name)
	}
	object, err := copyOf(before)
	if err != nil {
		return err
	}
	edit(object)
	// What edit wrote gets the form of what was read.
	if object, err = copyOf(object); err != nil {
		return err
	}
	meta := metaOf(object)
	meta["generation"] = generation(before) + 1
	changed := changedLeaves(before, object)
	managed, _ := meta["managedFields"].([]any)
	managed = slices.DeleteFunc(managed, func(other any) bool {
		fields, ok := other.(map[string]any)["fieldsV1"].(map[string]any)
		take(fields, changed)
		return ok && len(fields) == 0
	})
	meta["managedFields"] = append(managed, entry(by.Manager, object["apiVersion"], at, changed))
	return c.put(ref, object, deed{"patch", by, at})
}

// Delete removes an object that is there.
func (c *Cluster) Delete(ref Ref, by Writer, at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := c.objects[ref]
	if object == nil {
		return fmt.Errorf("delete %s %s/%s: it is not there", ref.Kind, ref.Namespace, ref.Name)
	}
	delete(c.objects, ref)
	c.version++
	metaOf(object)["resourceVersion"] = strconv.Itoa(c.version)
	if err := c.tell("DELETED", ref, object); err != nil {
		return err
	}
	return c.note(ref, deed{"delete", by, at})
}

// put keeps an object, and tells those who watch and the audit log. It is called
// with mu held, as are tell and note.
func (c *Cluster) put(ref Ref, object Object, d deed) error {
	what := "MODIFIED"
	if c.objects[ref] == nil {
		what = "ADDED"
	}
	c.version++
	metaOf(object)["resourceVersion"] = strconv.Itoa(c.version)
	c.objects[ref] = object
	if err := c.note(ref, d); err != nil {
		return err
	}
	return c.tell(what, ref, object)
}

func (c *Cluster) tell(what string, ref Ref, object Object) error {
	line, err := json.Marshal(map[string]any{"type": what, "object": object})
	if err != nil {
		return fmt.Errorf("encode %s %s: %w", ref.Kind, ref.Name, err)
	}
	c.events = append(c.events, event{c.version, ref.Kind, ref.Namespace, append(line, '\n')})
	if over := len(c.events) - maxEvents; over > 0 {
		c.forgotten = c.events[over-1].version
		c.events = c.events[over:]
	}
	close(c.changed)
	c.changed = make(chan struct{})
	return nil
}

// metaOf returns the metadata of an object, which every object has.
func metaOf(object Object) map[string]any {
	meta, ok := object["metadata"].(map[string]any)
	if !ok {
		meta = map[string]any{}
		object["metadata"] = meta
	}
	return meta
}

func generation(object Object) int {
	switch n := metaOf(object)["generation"].(type) {
	case int:
		return n
	case float64:
		return int(n)
	}
	return 0
}

// RefOf names an object; an error tells what is not served, or incomplete.
func RefOf(object Object) (Ref, error) {
	meta := metaOf(object)
	kind, _ := object["kind"].(string)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	k, ok := kindOf(kind)
	switch {
	case !ok:
		return Ref{}, fmt.Errorf("kind %q is not served", kind)
	case name == "" || k.namespaced != (namespace != ""):
		return Ref{}, fmt.Errorf("%s %q in namespace %q is incomplete", kind, name, namespace)
	}
	return Ref{kind, namespace, name}, nil
}

// copyOf returns an object that shares nothing with another.
func copyOf(object Object) (Object, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("copy object: %w", err)
	}
	var copied Object
	if err := json.Unmarshal(text, &copied); err != nil {
		return nil, fmt.Errorf("copy object: %w", err)
	}
	return copied, nil
}
