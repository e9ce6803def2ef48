// Package kubernetes puts objects of a Kubernetes cluster back to their declared state.
//
// It changes an object with one JSON Patch, which tests the UID of the object and every value that it
// overwrites. Therefore a patch takes effect at most once, and never after another change of the same
// fields. The same patch is sent as a dry run first.
//
// After a write, driftd removes itself from the field managers of the object. The fields are assigned to
// the manager that applies the declaration, so that its next server-side apply has no conflict.
//
// The package does not change objects of the kinds in forbiddenKinds, replicas that are scaled
// automatically, and objects that Flux, Argo CD or Helm apply. Instead, it requests a Flux Kustomization to
// apply its objects again, or an Argo CD Application to sync one.
package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
	"github.com/driftd/driftd/internal/secret"
)

// manager is the field manager of all writes.
const manager = "driftd"

// Options configure an Actuator.
type Options struct {
	// Source is the name of the source, as in the keys of its resources.
	Source string
	// Writing are the settings for the credentials that write objects. They need the verbs get and patch on
	// the kinds that are put back, create on those that are created, and patch on the Kustomizations and
	// Applications that are requested to apply.
	Writing kubeapi.Access
	// Reading are the settings for the credentials that read autoscalers, and the records of the objects
	// that Flux, Argo CD and Helm apply. If it is nil, the credentials for writing read them.
	Reading *kubeapi.Access
	// Room seals the values that are read. It must have the same key as that of the source's collector, and
	// must not be nil.
	Room *secret.Room
	// Timeout is the maximum duration of each request; 0 means 10 seconds.
	Timeout time.Duration
	// Now returns the current time; nil means time.Now.
	Now func() time.Time
}

// defaultTimeout is the default of Options.Timeout.
const defaultTimeout = 10 * time.Second

// An Actuator implements reconcile.Actuator for a cluster. It is safe for concurrent use.
type Actuator struct {
	options Options
	kinds   map[string]*model.Kind
	// running bounds the requests that wait for a credential plugin.
	running  chan struct{}
	releases *releaseCache

	mu sync.Mutex
	// writer and reader are the connections; nil before the first one. identity is the user of the
	// writer; "" while it is not known.
	writer, reader *client
	identity       string
	// found are the kinds that were put back lately.
	found map[string]remembered
}

var _ reconcile.Actuator = (*Actuator)(nil)

// New returns an Actuator. It returns an error if the options are invalid. It does not use the network.
func New(o Options) (*Actuator, error) {
	err := o.Writing.Check()
	if o.Reading != nil {
		err = errors.Join(err, o.Reading.Check())
	}
	if err != nil {
		return nil, err
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	kinds, err := kube.Builtin()
	if err != nil {
		return nil, fmt.Errorf("read the built-in kinds: %w", err)
	}
	return &Actuator{options: o, kinds: kinds, running: make(chan struct{}, kubeapi.MaxRoundTrips), releases: newReleaseCache(), found: map[string]remembered{}}, nil
}

// limit bounds planning, and each later step of an action.
const limit = 30 * time.Second

// Limit implements reconcile.Actuator.
func (a *Actuator) Limit() time.Duration { return limit }

// clients returns the connections, which it makes if there are none. The credentials may have been
// renewed, so that a connection is not kept after an error: see drop.
func (a *Actuator) clients() (writer, reader *client, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.writer == nil {
		if a.writer, err = a.connect(a.options.Writing); err != nil {
			return nil, nil, err
		}
		a.reader, a.identity = a.writer, ""
		if a.options.Reading != nil {
			if a.reader, err = a.connect(*a.options.Reading); err != nil {
				a.writer = nil
				return nil, nil, err
			}
		}
	}
	return a.writer, a.reader, nil
}

func (a *Actuator) connect(access kubeapi.Access) (*client, error) {
	connection, err := access.Connect(a.running, nil)
	if err != nil {
		return nil, err
	}
	return newClient(connection, a.options.Timeout), nil
}

// drop drops the connections after an error that other credentials may heal.
func (a *Actuator) drop(err error) {
	if !isAccess(err) {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.writer, a.reader = nil, nil
	clear(a.found)
}

// who returns the user of the writer.
func (a *Actuator) who(ctx context.Context, writer *client) (string, error) {
	a.mu.Lock()
	known := a.identity
	a.mu.Unlock()
	if known != "" {
		return known, nil
	}
	review, err := writer.review(ctx, "authentication.k8s.io/v1", "SelfSubjectReview", model.MapOf())
	if is404(err) { // an API server before 1.28
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask who writes: %w", err)
	}
	name := review.At("status", "userInfo", "username").Str()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.writer == writer {
		a.identity = name
	}
	return name, nil
}

// A subject is the object of a key.
type subject struct {
	*served

	key             model.Key
	namespace, name string
}

// find returns where the API server has the object of a key.
func (a *Actuator) find(ctx context.Context, c *client, key model.Key) (*subject, error) {
	if key.Source != a.options.Source {
		return nil, fmt.Errorf("%s is not a resource of source %s", key, a.options.Source)
	}
	where, err := a.served(ctx, c, key.Kind)
	if err != nil {
		return nil, fmt.Errorf("find the kind %s: %w", key.Kind, err)
	}
	s := &subject{served: where, key: key, name: key.ID}
	if where.namespaced {
		if s.namespace, s.name, err = splitID(key.ID); err != nil {
			return nil, err
		}
	}
	return s, checkName(s.namespace, s.name)
}

// servedFor is how long it is remembered where the API server has a kind.
const servedFor = time.Minute

// A remembered is where the API server had a kind, until it is asked again.
type remembered struct {
	*served

	until time.Time
}

// served returns where the API server has a kind.
func (a *Actuator) served(ctx context.Context, c *client, kind string) (*served, error) {
	now := a.options.Now()
	a.mu.Lock()
	known, ok := a.found[kind]
	a.mu.Unlock()
	if ok && now.Before(known.until) {
		return known.served, nil
	}
	where, err := c.discover(ctx, kind)
	if err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.found[kind] = remembered{where, now.Add(servedFor)}
	return where, nil
}

// An object is a live object as it was read.
type object struct {
	// raw is the object itself. It may hold secrets.
	raw model.Value
	// sealed is what the collector makes of it.
	sealed model.Resource
}

// read reads the object of a subject; nil if there is none.
func (a *Actuator) read(ctx context.Context, c *client, s *subject) (*object, error) {
	raw, err := c.get(ctx, s.path())
	if isMissing(err) {
		return nil, nil //nolint:nilnil // there is no object
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.key, err)
	}
	return a.object(s, raw)
}

// object seals an object as the collector does.
func (a *Actuator) object(s *subject, raw model.Value) (*object, error) {
	resource, err := kube.NewResource(a.options.Source, raw, a.options.Room.Sealer())
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.key, err)
	}
	sealed := a.options.Room.Snapshot(model.Snapshot{Resources: []model.Resource{resource}})
	return &object{raw, sealed.Resources[0]}, nil
}

// uid returns the UID of the object.
func (o *object) uid() string { return o.raw.At("metadata", "uid").Str() }

// schema returns the schema of a kind; nil if it is not a built-in one.
func (a *Actuator) schema(kind string) *model.Schema {
	if k := a.kinds[kind]; k != nil {
		return k.Schema
	}
	return nil
}
