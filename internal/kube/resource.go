package kube

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// NewResource converts a live object, in the form in which the API server or kubectl get -o yaml
// --show-managed-fields returns it, to a resource. It seals Secrets. It returns ErrNotObject if the
// object has no apiVersion, kind or name.
func NewResource(source string, object model.Value, sealer model.Sealer) (model.Resource, error) {
	object, _ = upgrade(object)
	id, err := identify(object)
	if err != nil {
		return model.Resource{}, err
	}
	metadata := object.At("metadata")
	kind := KindName(id.apiVersion, id.kind)
	r := model.Resource{
		Key:        model.Key{Source: source, Kind: kind, ID: id.id()},
		Place:      id.namespace,
		Name:       id.name,
		Value:      seal(kind, content(kind, object), sealer),
		Created:    instant(metadata.At("creationTimestamp")),
		OwnersFrom: model.ViaManagedFields,
		Origin:     origin(metadata),
		Watched:    watched(kind, object),
		Outgoing:   outgoingRevision(kind, object),
	}
	r.SystemOwned = systemOwned(&r, object)
	if why := knownObjects().widened(&r); why != "" {
		r.Watched, r.Altered = why, true
	}
	if n, err := strconv.ParseInt(metadata.At("generation").Text(), 10, 64); err == nil {
		r.Generation = n
	}
	if r.Owners, err = owners(kind, metadata.At("managedFields")); err != nil {
		return model.Resource{}, fmt.Errorf("read managedFields of %s: %w", r.Key, err)
	}
	if len(r.Owners) == 0 {
		r.WriterUnknown = "it has no managedFields, which tell who wrote what: make a dump with --show-managed-fields"
	}
	if kind == secretKind {
		adoptStringData(r.Owners, object.At("data"))
	}
	r.LastApplied = lastAppliedTo(&r, metadata, sealer)
	r.Violations, r.Undecided, r.Installs = violations(kind, object), undecided(kind, object), installs(kind, object)
	if isFlux(kind) {
		r.ReadySince = fluxReadySince(object)
	}
	if plainKind(kind) == fluxKustomization {
		r.Inventory = fluxInventory(object)
	}
	if plainKind(kind) == fluxGitRepository {
		r.Fetched = fluxFetched(object)
	}
	fillValues(&r)
	return r, nil
}

func instant(v model.Value) time.Time {
	t, err := time.Parse(time.RFC3339Nano, v.Str())
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// lastAppliedTo reads the annotation that client-side kubectl apply leaves. It
// counts while the writer that left it still owns it: kubectl apply
// --server-side takes it over and lets it grow old.
func lastAppliedTo(r *model.Resource, metadata model.Value, sealer model.Sealer) *model.Value {
	text, ok := metadata.At("annotations").Get(lastApplied)
	if !ok || !markRecorder(r.Owners) {
		return nil
	}
	object, err := decode.JSON([]byte(strings.TrimSpace(text.Str())))
	if err != nil || object.Kind() != model.Map {
		return nil
	}
	object, _ = upgrade(object)
	value := seal(r.Kind, content(r.Kind, plainSecret(r.Kind, object)), sealer)
	return &value
}

// markRecorder marks the writer that owns the annotation; it reports whether the
// annotation still counts.
func markRecorder(owners []model.Owner) bool {
	path := []model.Step{{Text: "metadata"}, {Text: "annotations"}, {Text: lastApplied}}
	for i := range owners {
		if o := &owners[i]; o.Fields.Depth(path) == len(path) {
			o.Records = !o.Applies && !o.Edits
			return o.Records
		}
	}
	return len(owners) == 0
}
