package kubernetes

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

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
}

func (a *Actuator) planCreation(ctx context.Context, reader *client, b *base) (reconcile.Change, error) {
	written := b.source.Written
	if written.IsEmpty() {
		return nil, refuse(guardStillSo, "it is not declared any more: look again")
	}
	if kind := written.At("type").Str(); b.finding.Kind == "kubernetes/Secret" && slices.Contains(tokenTypes(), kind) {
		return nil, refuse(guardKind, "driftd never creates a Secret of type %s: it is a credential of the cluster", kind)
	}
	if r := a.checkDeclarer(ctx, reader, b.subject, written); r != nil {
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
	b.plan.Creates, b.plan.System = true, system
	for _, f := range topFields(written) {
		b.plan.Changes = append(b.plan.Changes, reconcile.FieldChange{Path: f.Name, New: &f.Value})
	}
	return &creation{b, b.subject.manifest(declared).AppendJSON(nil)}, nil
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
		return c.actuator.public(c.writer, c.rejected(err, func(why string) error {
			return refuse(guardRehearsal, "the API server rejects the object: %s", why)
		}))
	}
	after, err := c.actuator.object(c.subject, result)
	if err != nil {
		return err
	}
	schema := c.actuator.schema(c.finding.Kind)
	var made []string
	for i := range c.plan.Changes {
		change := &c.plan.Changes[i]
		got, why := jsonpatch.Find(after.sealed.Value, change.Path)
		if why != "" || !isAsWanted(schema, change.Path, change.New, c.actuator.like(got, change.New)) {
			made = append(made, change.Path)
		}
	}
	if len(made) > 0 {
		return refuse(guardRehearsal, "admission changes %s of it", strings.Join(made[:min(len(made), maxNamed)], ", "))
	}
	return nil
}

// Write implements reconcile.Change.
func (c *creation) Write(ctx context.Context) (reconcile.Receipt, error) {
	// The address may lead to another cluster since the plan was made.
	if err := c.writer.checkSystem(ctx, c.subject, c.plan.System); err != nil {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: c.actuator.public(c.writer, err)}
	}
	_, request, err := c.writer.send(ctx, http.MethodPost, c.subject.collection(c.subject.namespace), c.writer.query(false), jsonType, c.body)
	receipt := reconcile.Receipt{Status: httpclient.Code(err), Request: request, At: c.actuator.options.Now()}
	if err == nil {
		receipt.Status = http.StatusCreated
		return receipt, nil
	}
	executed := !wasNotExecuted(err)
	err = c.rejected(err, func(why string) error { return errors.New("the API server rejects the object: " + why) })
	err = c.actuator.public(c.writer, err)
	if executed {
		return receipt, err
	}
	return receipt, &reconcile.NotWrittenError{Err: err}
}

func (c *creation) rejected(err error, invalid func(why string) error) error {
	switch httpclient.Code(err) {
	case http.StatusConflict:
		return refuse(guardStillSo, "it exists again: look again")
	case http.StatusUnprocessableEntity, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound:
		return invalid(c.actuator.reason(err, c.plan.Changes))
	}
	return err
}
