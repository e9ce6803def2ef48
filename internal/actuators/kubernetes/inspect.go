package kubernetes

import (
	"context"

	"github.com/driftd/driftd/internal/fieldpath"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// Inspect implements reconcile.Actuator.
func (a *Actuator) Inspect(ctx context.Context, key model.Key, p reconcile.Plan) (reconcile.Inspection, error) {
	writer, reader, err := a.clients()
	if err != nil {
		return "", err
	}
	inspection, err := a.inspect(ctx, writer, reader, key, p)
	if err != nil {
		a.drop(err)
		return "", a.public(writer, err)
	}
	return inspection, nil
}

func (a *Actuator) inspect(ctx context.Context, writer, reader *client, key model.Key, p reconcile.Plan) (reconcile.Inspection, error) {
	where, err := a.find(ctx, reader, key)
	if err != nil {
		return "", err
	}
	if p.System != "" {
		if err := writer.checkSystem(ctx, where, p.System); err != nil {
			return "", err
		}
	}
	o, err := a.read(ctx, writer, where)
	switch {
	case err != nil:
		return "", err
	case o == nil && p.Creates:
		return reconcile.AsBefore, nil
	case o == nil || !p.Creates && o.uid() != p.UID:
		return reconcile.AsOther, nil
	}
	return a.inspection(o, p), nil
}

// inspection compares an object with the fields of a plan.
func (a *Actuator) inspection(o *object, p reconcile.Plan) reconcile.Inspection {
	schema := a.schema(o.sealed.Kind)
	wanted, before := true, !p.Creates
	for i := range p.Changes {
		c := &p.Changes[i]
		held, why := jsonpatch.Find(o.sealed.Value, c.Path)
		if why != "" {
			return reconcile.AsOther
		}
		like := a.like(held, c.New)
		// A tool that makes an object adds labels to it.
		wanted = wanted && (isAsWanted(schema, c.Path, c.New, like) || p.Asks != "" && p.Creates && like != nil && contains(*like, *c.New))
		before = before && isAsWanted(schema, c.Path, c.Old, a.like(held, c.Old))
	}
	return reconcile.Inspected(wanted, before)
}

// like seals a value where another one is sealed.
func (a *Actuator) like(v, other *model.Value) *model.Value {
	if v == nil || other == nil {
		return v
	}
	sealed := a.options.Room.Sealer().SealLike(*v, *other)
	return &sealed
}

// schemaAt returns the schema of a path; nil if it has none.
func schemaAt(schema *model.Schema, path string) *model.Schema {
	steps, _ := fieldpath.Parse(path)
	for i := range steps {
		if steps[i].Kind == fieldpath.Field {
			schema = schema.Field(steps[i].Name)
		} else {
			schema = schema.Element()
		}
	}
	return schema
}
