// Package cluster is a simulated Kubernetes API server for the demonstration. It stores objects
// with managed fields, serves lists and watches, and writes an audit log.
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

// An Object is a Kubernetes object as decoded JSON.
type Object = map[string]any

// A Writer is the author of a write.
type Writer struct {
	// User is the user name.
	User string
	// Agent is the name of the program, such as "kubectl".
	Agent string
	// Manager is the field manager, such as "kubectl-edit".
	Manager string
}

// A Ref identifies an object.
type Ref struct{ Kind, Namespace, Name string }

// maxEvents is the number of past events from which a watch can start.
const maxEvents = 1000

// A Cluster is a simulated API server. It is safe for concurrent use.
type Cluster struct {
	// Token is the token of the user who may write over HTTP, or "" if there is none. It must be set before
	// the first request.
	Token string

	mu      sync.Mutex
	audit   io.Writer
	version int
	objects map[Ref]Object
	// events are the latest events, the oldest first. Those up to version forgotten are removed.
	events    []event
	forgotten int
	// changed is closed when there is another event.
	changed chan struct{}
}

// An event is a watch event.
type event struct {
	version int
	kind    string
	// place is the namespace of the object.
	place string
	line  []byte
}

// New returns a Cluster without objects. For each write it appends an audit.k8s.io/v1 event to
// audit.
func New(audit io.Writer) *Cluster {
	return &Cluster{audit: audit, version: 1000, objects: map[Ref]Object{}, changed: make(chan struct{})}
}

// Apply writes a whole object like client-side kubectl apply: the writer owns all its fields, and
// the manifest is stored in the annotation last-applied-configuration.
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
	return c.put(ref, object, write{verb, by, at})
}

// Edit changes an existing object. The writer becomes the owner of the fields that edit changes.
func (c *Cluster) Edit(ref Ref, by Writer, at time.Time, edit func(Object)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.objects[ref]
	if before == nil {
		return fmt.Errorf("edit %s %s/%s: not found", ref.Kind, ref.Namespace, ref.Name)
	}
	object, err := copyOf(before)
	if err != nil {
		return err
	}
	edit(object)
	// Encode and decode the object, so that its values have the types of decoded JSON.
	if object, err = copyOf(object); err != nil {
		return err
	}
	owned(before, object, by, at, changedLeaves(before, object))
	return c.put(ref, object, write{"patch", by, at})
}

// owned makes a writer the owner of the fields that it changed in an object, and counts the change.
func owned(before, object Object, by Writer, at time.Time, changed map[string]any) {
	meta := metaOf(object)
	meta["generation"] = generation(before) + 1
	managed, _ := meta["managedFields"].([]any)
	managed = slices.DeleteFunc(managed, func(other any) bool {
		fields, ok := other.(map[string]any)["fieldsV1"].(map[string]any)
		take(fields, changed)
		return ok && len(fields) == 0
	})
	meta["managedFields"] = append(managed, entry(by.Manager, object["apiVersion"], at, changed))
}

// Delete deletes ref at a time, and publishes the watch event and the audit event of its
// deletion by the writer. It returns an error if there is no such object.
func (c *Cluster) Delete(ref Ref, by Writer, at time.Time) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	object := c.objects[ref]
	if object == nil {
		return fmt.Errorf("delete %s %s/%s: not found", ref.Kind, ref.Namespace, ref.Name)
	}
	delete(c.objects, ref)
	c.version++
	metaOf(object)["resourceVersion"] = strconv.Itoa(c.version)
	if err := c.publish("DELETED", ref, object); err != nil {
		return err
	}
	return c.audited(ref, write{"delete", by, at})
}

// put stores an object and adds a watch event and an audit event. The caller must hold mu, as
// for publish and audited.
func (c *Cluster) put(ref Ref, object Object, d write) error {
	what := "MODIFIED"
	if c.objects[ref] == nil {
		what = "ADDED"
	}
	c.version++
	metaOf(object)["resourceVersion"] = strconv.Itoa(c.version)
	c.objects[ref] = object
	if err := c.audited(ref, d); err != nil {
		return err
	}
	return c.publish(what, ref, object)
}

// publish adds a watch event and wakes all watches.
func (c *Cluster) publish(what string, ref Ref, object Object) error {
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

// metaOf returns the metadata of an object, and adds it if it is missing.
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

// RefOf returns the Ref of an object. It is an error if the kind is not served or a name is missing.
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

// copyOf returns a deep copy of an object.
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
