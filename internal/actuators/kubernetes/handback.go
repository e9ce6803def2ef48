package kubernetes

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// maxHandBacks bounds the attempts to hand fields back: the object may change in between.
const maxHandBacks = 5

// HandBack implements reconcile.Actuator. It assigns the fields that driftd owns to the field manager in the
// plan. If the plan names none, or that manager no longer owns a field, they are left without an owner, so that
// the next server-side apply takes them without a conflict. Other entries of managedFields are not changed.
func (a *Actuator) HandBack(ctx context.Context, key model.Key, p reconcile.Plan) error {
	writer, reader, err := a.clients()
	if err != nil {
		return err
	}
	if err := a.handBack(ctx, writer, reader, key, p); err != nil {
		a.drop(err)
		return a.public(writer, err)
	}
	return nil
}

func (a *Actuator) handBack(ctx context.Context, writer, reader *client, key model.Key, p reconcile.Plan) error {
	where, err := a.find(ctx, reader, key)
	if err != nil {
		return err
	}
	if p.System != "" {
		if err := writer.checkSystem(ctx, where, p.System); err != nil {
			return err
		}
	}
	for range maxHandBacks {
		var done bool
		if done, err = a.handBackOnce(ctx, writer, where, p); done || err != nil && httpclient.Code(err) != http.StatusConflict {
			return err
		}
	}
	return fmt.Errorf("hand the fields of %s back: it changed %d times meanwhile: %w", key, maxHandBacks, err)
}

// handBackOnce hands the fields back. done reports whether there is nothing left to do. The error has
// the status 409 if the object changed in between.
func (a *Actuator) handBackOnce(ctx context.Context, c *client, s *subject, p reconcile.Plan) (done bool, err error) {
	data, err := c.bytes(ctx, s.path())
	if isMissing(err) {
		return true, nil
	}
	if err != nil {
		return false, fmt.Errorf("read %s: %w", s.key, err)
	}
	var o unstructured.Unstructured
	if err := o.UnmarshalJSON(data); err != nil {
		return false, fmt.Errorf("read %s: it is not an object", s.key)
	}
	if p.UID != "" && string(o.GetUID()) != p.UID {
		return true, nil // another object has the name now
	}
	body, err := handBackPatch(&o, p)
	if err != nil || body == nil {
		return true, err
	}
	_, _, err = c.send(ctx, http.MethodPatch, s.path(), c.query(false), patchType, body)
	if err != nil {
		r := a.redactorOf(s, data, p)
		return false, r.error(fmt.Errorf("hand the fields of %s back: %w", s.key, r.rejection(err)))
	}
	return true, nil
}

// redactorOf returns the redactor of an object and a plan that was carried out.
func (a *Actuator) redactorOf(s *subject, data []byte, p reconcile.Plan) *redactor {
	r := &redactor{sealed: hasSecret(p.Changes)}
	raw, err := decode.JSON(data)
	if err != nil {
		return &redactor{sealed: true}
	}
	o, err := a.object(s, raw)
	if err != nil {
		return &redactor{sealed: true}
	}
	r.add(o.raw, o.sealed.Value)
	return r
}

// handBackPatch returns the patch that gives driftd's fields to the field manager of a plan, or to none
// if there is none or it applied nothing that is left; nil if driftd owns no field. It tests the resourceVersion, so that it has effect only on the
// object as it was read.
func handBackPatch(o *unstructured.Unstructured, p reconcile.Plan) ([]byte, error) {
	entries := o.GetManagedFields()
	owns, applies := false, false
	for i := range entries {
		owns = owns || isOwn(&entries[i])
		applies = applies || entries[i].Manager == p.HandBack && entries[i].Operation == metav1.ManagedFieldsOperationApply && entries[i].Subresource == ""
	}
	switch {
	case !owns:
		return nil, nil
	case !applies:
		// A manager that owns nothing else would seem to have applied only these fields.
		return releasePatch(o)
	}
	for i := range entries {
		if isOwn(&entries[i]) {
			if err := trim(&entries[i], p); err != nil {
				return nil, err
			}
		}
	}
	o.SetManagedFields(entries)
	return csaupgrade.UpgradeManagedFieldsPatch(o, sets.New(manager), p.HandBack)
}

func isOwn(e *metav1.ManagedFieldsEntry) bool {
	return e.Manager == manager && e.Operation == metav1.ManagedFieldsOperationUpdate && e.Subresource == ""
}

// unowned is a set of fields that no object and no declaration with a name has.
const unowned = `{"f:metadata":{"f:generateName":{}}}`

// releasePatch returns the patch that removes driftd's entry. If an object has no other entry, it owns
// a field that does not exist afterwards: without any entry, the API server would give all fields to
// "before-first-apply", with which the next server-side apply has a conflict.
func releasePatch(o *unstructured.Unstructured) ([]byte, error) {
	var kept []metav1.ManagedFieldsEntry
	var own metav1.ManagedFieldsEntry
	for _, e := range o.GetManagedFields() {
		if isOwn(&e) {
			own = e
			continue
		}
		kept = append(kept, e)
	}
	if len(kept) == 0 {
		if own.FieldsV1 != nil && string(own.FieldsV1.GetRawBytes()) == unowned {
			return nil, nil
		}
		own.FieldsV1 = &metav1.FieldsV1{}
		own.FieldsV1.SetRawBytes([]byte(unowned))
		kept = append(kept, own)
	}
	return json.Marshal([]map[string]any{
		{"op": "replace", "path": "/metadata/managedFields", "value": kept},
		{"op": "replace", "path": "/metadata/resourceVersion", "value": o.GetResourceVersion()},
	})
}
