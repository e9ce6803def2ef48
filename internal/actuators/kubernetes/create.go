package kubernetes

import (
	"context"
	"net/http"
	"slices"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// A creation is a change that creates an object. Its field manager is driftd, because the one of the
// object that was deleted is not known. HandBack makes it own nothing afterwards.
type creation struct {
	*base

	body []byte
	// rehearsed is the object that the dry run answered; nil before it.
	rehearsed *object
}

func (a *Actuator) planCreation(ctx context.Context, reader *client, b *base) (reconcile.Change, error) {
	written := b.source.Written
	if written.IsEmpty() {
		return nil, refuse(guardStillSo, "it is not declared any more: look again")
	}
	if kind := written.At("type").Str(); b.finding.Kind == "kubernetes/Secret" && slices.Contains(tokenTypes(), kind) {
		return nil, refuse(guardKind, "driftd never creates a Secret of type %s: it is a credential of the cluster", kind)
	}
	asked, r := a.checkDeclarer(ctx, reader, b.subject, written)
	if r != nil {
		return nil, r
	}
	if !written.At("spec", "replicas").IsNull() {
		if r := checkAutoscalers(ctx, reader, b.subject); r != nil {
			return nil, r
		}
	}
	system, err := b.system(ctx, reader)
	if err != nil {
		return nil, err
	}
	b.plan.Creates, b.plan.System = true, system
	for _, f := range topFields(written) {
		b.plan.Changes = append(b.plan.Changes, reconcile.FieldChange{Path: f.Name, New: &f.Value})
	}
	if asked != nil {
		return a.planRequest(ctx, reader, b, asked)
	}
	return b.creation(ctx, written)
}

// creation returns the change that creates an object as it is declared, with its secrets.
func (b *base) creation(ctx context.Context, written model.Value) (reconcile.Change, error) {
	declared := written
	if isSealed(&declared) {
		if err := b.unseal(ctx); err != nil {
			return nil, err
		}
		if !b.sealed.Equal(declared) || isSealed(b.plain) {
			return nil, refuse(guardStillSo, "its declared secrets changed since the scan: look again")
		}
		declared = *b.plain
	}
	if !jsonpatch.IsExact(&declared) {
		return nil, refuse(guardStillSo, "its declaration is not valid text")
	}
	b.redactor.sealed = b.redactor.sealed || isSealed(&written)
	return &creation{base: b, body: b.subject.manifest(declared).AppendJSON(nil)}, nil
}

// topFields returns the declared fields of an object, with those of its metadata instead of that.
func topFields(declared model.Value) (fields []model.Field) {
	for _, f := range declared.Fields() {
		if f.Name != "metadata" {
			fields = append(fields, f)
			continue
		}
		for _, m := range f.Value.Fields() {
			if !m.Value.IsEmpty() {
				fields = append(fields, model.Field{Name: "metadata." + m.Name, Value: m.Value})
			}
		}
	}
	return fields
}

// manifest returns a declared value with what identifies the object.
func (s *subject) manifest(declared model.Value) model.Value {
	metadata := declared.At("metadata")
	if metadata.IsNull() {
		metadata = model.MapOf()
	}
	metadata = metadata.With("name", model.StringOf(s.name))
	if s.namespace != "" {
		metadata = metadata.With("namespace", model.StringOf(s.namespace))
	}
	return declared.With("apiVersion", model.StringOf(s.apiVersion())).With("kind", model.StringOf(s.kind)).With("metadata", metadata)
}

// Rehearse implements reconcile.Change.
func (c *creation) Rehearse(ctx context.Context) error {
	result, _, err := c.writer.send(ctx, http.MethodPost, c.subject.collection(c.subject.namespace), c.writer.query(true), jsonType, c.body)
	if err != nil {
		return c.public(c.rejected(ctx, err, func(why string) error {
			return refuse(guardRehearsal, "the API server rejects the object: %s", why)
		}))
	}
	after, err := c.actuator.object(c.subject, result)
	if err != nil {
		return c.public(err)
	}
	if made, _ := c.unexpected(after); len(made) > 0 {
		return refuse(guardRehearsal, "admission changes %s of it", first(made))
	}
	c.rehearsed = after
	return nil
}

// unexpected compares an answer with the declaration, and with the answer of the dry run: the defaults of fields that
// are not declared are not known otherwise.
func (c *creation) unexpected(after *object) (made, others []string) {
	schema := c.actuator.schema(c.finding.Kind)
	for i := range c.plan.Changes {
		change := &c.plan.Changes[i]
		got, why := jsonpatch.Find(after.sealed.Value, change.Path)
		if why != "" || !isAsWanted(schema, change.Path, change.New, c.actuator.like(got, change.New)) {
			made = append(made, change.Path)
		}
	}
	if len(made) == 0 && c.rehearsed != nil {
		others = c.differences(created(c.rehearsed.raw), created(after.raw))
	}
	return made, others
}

// created returns a new object without what the API server sets in each one, and the addresses and ports of a
// Service, which it assigns only if it is no dry run.
func created(object model.Value) model.Value {
	object = managed(object)
	object = object.With("metadata", object.At("metadata").Without("uid", "creationTimestamp"))
	if object.At("kind").Str() != "Service" {
		return object
	}
	spec := object.At("spec").Without("clusterIP", "clusterIPs", "healthCheckNodePort")
	ports := slices.Clone(spec.At("ports").Items())
	for i := range ports {
		ports[i] = ports[i].Without("nodePort")
	}
	return object.With("spec", spec.With("ports", model.ListOf(ports...)))
}

// Write implements reconcile.Change.
func (c *creation) Write(ctx context.Context) (reconcile.Receipt, error) {
	// The address may lead to another cluster since the plan was made.
	if err := c.writer.checkSystem(ctx, c.subject, c.plan.System); err != nil {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: c.public(err)}
	}
	return c.write(ctx, http.MethodPost, c.subject.collection(c.subject.namespace), jsonType, c.body, c)
}

func (c *creation) rejected(_ context.Context, err error, invalid func(why string) error) error {
	rejected := isRejection(err) || is404(err)
	err = c.redactor.rejection(err)
	switch {
	case httpclient.Code(err) == http.StatusConflict:
		return refuse(guardStillSo, "it exists again: look again")
	case rejected:
		return invalid(c.reason(err))
	}
	return err
}
