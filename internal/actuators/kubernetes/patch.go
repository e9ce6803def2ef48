package kubernetes

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
	"github.com/driftd/driftd/internal/reconcile"
)

// A patch is a change of an object that exists.
type patch struct {
	*base

	// before is the object as it was read, and expected what the patch makes of it.
	before   *object
	expected model.Value
	body     []byte
}

// query returns the parameters of a write. Unknown fields are errors: the API server would drop them.
// It ends a write at the same time as the client does, so that none is carried out later.
func (c *client) query(dryRun bool) url.Values {
	q := url.Values{"fieldManager": {manager}, "fieldValidation": {"Strict"}, "timeout": {c.timeout.String()}}
	if dryRun {
		q.Set("dryRun", "All")
	}
	return q
}

// Rehearse implements reconcile.Change.
func (c *patch) Rehearse(ctx context.Context) error {
	result, _, err := c.writer.send(ctx, http.MethodPatch, c.subject.path(), c.writer.query(true), patchType, c.body)
	if err != nil {
		return c.public(c.rejected(ctx, err, func(why string) error {
			return refuse(guardRehearsal, "the API server rejects the change: %s", why)
		}))
	}
	after, err := c.actuator.object(c.subject, result)
	if err != nil {
		return err
	}
	made, others := c.unexpected(after)
	switch {
	case len(made) > 0 && c.redactor.sealed:
		return c.public(refuse(guardRehearsal, "admission changes %s", first(made)))
	case len(made) > 0:
		for i, path := range made {
			made[i] = path + " " + shown(after, path)
		}
		return c.public(refuse(guardRehearsal, "admission makes it %s", first(made)))
	case len(others) > 0:
		return c.public(refuse(guardRehearsal, "the API server would change more: %s", first(others)))
	}
	return nil
}

// Write implements reconcile.Change.
func (c *patch) Write(ctx context.Context) (reconcile.Receipt, error) {
	return c.write(ctx, http.MethodPatch, c.subject.path(), patchType, c.body, c)
}

// rejected returns the error of a patch. A failed test and an invalid value have the same status
// code, so that the object is read again and compared.
func (c *patch) rejected(ctx context.Context, err error, invalid func(why string) error) error {
	rejected := isRejection(err)
	err = c.redactor.rejection(err)
	switch code := httpclient.Code(err); {
	case code == http.StatusUnprocessableEntity || code == http.StatusNotFound:
	case rejected:
		return invalid(c.reason(err))
	default:
		return err
	}
	now, readErr := c.actuator.read(ctx, c.writer, c.subject)
	switch {
	case readErr != nil:
		return errors.Join(err, c.redactor.rejection(readErr))
	case now == nil:
		return refuse(guardStillSo, "it does not exist any more: look again")
	case now.uid() != c.before.uid():
		return refuse(guardStillSo, "it was deleted and created again: look again")
	}
	for i := range c.plan.Changes {
		path := c.plan.Changes[i].Path
		before, _ := jsonpatch.Find(c.before.raw, path)
		after, _ := jsonpatch.Find(now.raw, path)
		if !model.SameValue(before, after) {
			return refuse(guardStillSo, "%s changed since: look again", path)
		}
	}
	generation := func(o *object) model.Value { return o.raw.At("metadata", "generation") }
	if !generation(now).Equal(generation(c.before)) {
		return refuse(guardStillSo, "another field of it changed since: look again")
	}
	return invalid(c.reason(err))
}

// unexpected compares an answer with what the patch makes of the object. made are the paths of the plan with
// other values, and others those of other fields that differ.
func (c *patch) unexpected(after *object) (made, others []string) {
	result, schema := after.raw, c.actuator.schema(c.finding.Kind)
	for i := range c.plan.Changes {
		path := c.plan.Changes[i].Path
		wanted, _ := jsonpatch.FindDeclared(c.expected, path)
		got, why := jsonpatch.Find(result, path)
		if why != "" || !isAsWanted(schema, path, wanted, got) {
			made = append(made, path)
			continue
		}
		if got != nil {
			// The value may have its defaults now.
			result = jsonpatch.With(result, path, wanted)
		}
	}
	if len(made) > 0 {
		return made, nil
	}
	return nil, c.differences(managed(c.expected), managed(result))
}

// isAsWanted reports whether a value means the same as the wanted one. Of a kind without a schema
// the defaults are not known: a map may have more fields.
func isAsWanted(schema *model.Schema, path string, wanted, got *model.Value) bool {
	var w, g model.Value
	if wanted != nil {
		w = *wanted
	}
	if got != nil {
		g = *got
	}
	at := schemaAt(schema, path)
	return diff.Equal(at, w, g) || schema == nil && contains(g, w)
}

// contains reports whether a value has all that another one has.
func contains(v, other model.Value) bool {
	switch {
	case v.Kind() == model.Map && other.Kind() == model.Map:
		for _, f := range other.Fields() {
			if held, ok := v.Get(f.Name); !ok && !f.Value.IsEmpty() || ok && !contains(held, f.Value) {
				return false
			}
		}
		return true
	case v.Kind() == model.List && other.Kind() == model.List && len(v.Items()) == len(other.Items()):
		for i, item := range other.Items() {
			if !contains(v.Items()[i], item) {
				return false
			}
		}
		return true
	}
	return v.Equal(other)
}

// shown returns a sealed value for people.
func shown(o *object, path string) string {
	v, _ := jsonpatch.Find(o.sealed.Value, path)
	switch {
	case v == nil:
		return "absent"
	case v.HasSecret():
		return model.SecretText
	}
	return printable.Text(v.String())
}

// managed returns an object without what the API server keeps itself.
func managed(object model.Value) model.Value {
	metadata := object.At("metadata").Without("managedFields", "resourceVersion", "generation")
	if annotations, ok := metadata.Get("annotations"); ok {
		// The API server counts the templates of a DaemonSet, and a controller those of a Deployment.
		metadata = metadata.With("annotations", annotations.Without("deprecated.daemonset.template.generation", "deployment.kubernetes.io/revision"))
	}
	return object.Without("status").With("metadata", metadata)
}

// differences returns the paths at which an answer differs from what is expected. Admission may choose the name of
// a field: if the object has a secret, the path of its parent stands for a name that is not expected.
func (b *base) differences(expected, answer model.Value) []string {
	all := differences(expected, answer, "", b.redactor.sealed)
	return slices.Compact(all)
}

// differences returns the paths at which two values differ. An empty map or list is the same as none. With
// known, it names only fields that a has.
func differences(a, b model.Value, path string, known bool) (paths []string) {
	switch {
	case a.Equal(b) || isNone(a) && isNone(b):
		return nil
	case a.Kind() == model.Map && b.Kind() == model.Map, !known && isMapOrNone(a) && isMapOrNone(b):
		for _, name := range names(a, b) {
			below := strings.TrimPrefix(path+"."+name, ".")
			if _, ok := a.Get(name); known && !ok {
				below = cmp.Or(path, "another field")
			}
			paths = append(paths, differences(a.At(name), b.At(name), below, known)...)
		}
		return paths
	case a.Kind() == model.List && b.Kind() == model.List && len(a.Items()) == len(b.Items()):
		for i := range a.Items() {
			paths = append(paths, differences(a.Items()[i], b.Items()[i], path, known)...)
		}
		return paths
	}
	return []string{printable.Text(path)}
}

func isMapOrNone(v model.Value) bool { return v.Kind() == model.Map || isNone(v) }

func isNone(v model.Value) bool {
	return v.IsNull() || v.Kind() >= model.List && v.Kind() != model.Secret && v.IsEmpty()
}

// names returns the names of the fields of two maps, sorted.
func names(a, b model.Value) (all []string) {
	x, y := a.Fields(), b.Fields()
	for len(x) > 0 || len(y) > 0 {
		switch {
		case len(y) == 0 || len(x) > 0 && x[0].Name < y[0].Name:
			all, x = append(all, x[0].Name), x[1:]
		case len(x) == 0 || y[0].Name < x[0].Name:
			all, y = append(all, y[0].Name), y[1:]
		default:
			all, x, y = append(all, x[0].Name), x[1:], y[1:]
		}
	}
	return all
}
