package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// requestedAt is the annotation that makes Flux reconcile an object now. Flux copies its value into status.lastHandledReconcileAt.
// https://fluxcd.io/flux/components/kustomize/kustomizations/#triggering-a-reconcile
const requestedAt = "reconcile.fluxcd.io/requestedAt"

// mergeType is the content type of the patch that sets it.
const mergeType = "application/merge-patch+json"

const (
	// followTime is how long a request is followed, and followPause the pause between two looks.
	followTime  = 20 * time.Second
	followPause = 250 * time.Millisecond
)

// A request is a change that a Kustomization of Flux makes: driftd asks for it, and writes nothing but the annotation.
type request struct {
	*base

	reader *client
	by     *applied
}

// planRequest plans to ask Flux to apply an object again. The request puts back all drift of the Kustomization, so the plan covers the
// findings of all objects in its inventory. It is refused if Flux would apply another commit than the one that driftd compares with.
func (a *Actuator) planRequest(ctx context.Context, reader *client, b *base, by *applied) (reconcile.Change, error) {
	revision, err := b.checkFlux(ctx, reader, by)
	if err != nil {
		return nil, err
	}
	b.plan.Asks = fmt.Sprintf("%s to apply %s again", by.title(), revision)
	b.plan.Content = by.content(revision)
	b.plan.Person = "a request to Flux, which applies all that its source has,"
	for _, f := range b.source.Others {
		if f.Source == b.finding.Source && by.has(by.object, refOf(f.Key)) {
			b.plan.Also = append(b.plan.Also, reconcile.Covered{Finding: f.ID, Basis: f.Basis, Subject: f.Key})
		}
	}
	slices.SortFunc(b.plan.Also, func(a, b reconcile.Covered) int { return strings.Compare(a.Finding, b.Finding) })
	return &request{b, reader, by}, nil
}

// refOf returns the ref of a key.
func refOf(key model.Key) ref {
	kind, group, _ := strings.Cut(strings.TrimPrefix(key.Kind, "kubernetes/"), ".")
	namespace, name, ok := strings.Cut(key.ID, "/")
	if !ok {
		namespace, name = "", key.ID
	}
	return ref{group, kind, namespace, name}
}

// checkFlux returns the revision that a Kustomization applied, and would apply again. The error is a *reconcile.Refusal if it would
// do something else, or nothing.
func (b *base) checkFlux(ctx context.Context, reader *client, by *applied) (revision string, err error) {
	k := by.object
	revision = k.At("status", "lastAppliedRevision").Str()
	ready, why := conditionOf(k, "Ready")
	switch {
	case k.At("metadata", "deletionTimestamp").Str() != "":
		return "", refuse(guardDeclarer, "%s is being deleted", by.title())
	case k.At("spec", "suspend").Text() == "true":
		return "", refuse(guardDeclarer, "%s is suspended, and applies nothing: ask who suspended it, then run flux resume kustomization %s --namespace=%s", by.title(), by.name(), by.namespace())
	case !k.At("spec", "kubeConfig").IsNull():
		return "", refuse(guardDeclarer, "%s applies to another cluster", by.title())
	case k.At("spec", "force").Text() == "true":
		return "", refuse(guardScope, "%s has spec.force, with which it may delete objects and create them again", by.title())
	case !k.At("status", "observedGeneration").Equal(k.At("metadata", "generation")):
		return "", refuse(guardScope, "%s was changed, and Flux has not applied that yet", by.title())
	case ready == "Unknown":
		return "", refuse(guardStillSo, "%s is at work: %s: look again", by.title(), why)
	case ready != "True":
		return "", refuse(guardDeclarer, "%s is not ready: %s", by.title(), why)
	case b.source.Revision == "" || commitOf(revision) != b.source.Revision:
		return "", refuse(guardScope, "%s has applied %s, and declaration %s was read at %s: the request would not apply what is declared here", by.title(), revision, b.finding.Declaration, b.source.Revision)
	}
	return revision, b.checkFluxSource(ctx, reader, by, revision)
}

// checkFluxSource refuses unless the source of a Kustomization has the revision that it applied.
func (b *base) checkFluxSource(ctx context.Context, reader *client, by *applied, revision string) error {
	from := by.object.At("spec", "sourceRef")
	namespace, name := from.At("namespace").Str(), from.At("name").Str()
	if namespace == "" {
		namespace = by.namespace()
	}
	if kind := from.At("kind").Str(); kind != "GitRepository" {
		return refuse(guardDeclarer, "the source of %s has the kind %s, and not GitRepository: driftd cannot compare it with a commit", by.title(), kind)
	}
	if err := checkName(namespace, name); err != nil {
		return err
	}
	where, err := reader.discover(ctx, "kubernetes/GitRepository.source.toolkit.fluxcd.io")
	if err != nil {
		return fmt.Errorf("find the source of %s: %w", by.title(), err)
	}
	source, err := reader.get(ctx, where.collection(namespace)+"/"+name)
	if err != nil {
		return fmt.Errorf("read GitRepository %s/%s: %w", namespace, name, err)
	}
	if now := source.At("status", "artifact", "revision").Str(); now != revision {
		return refuse(guardScope, "GitRepository %s/%s has %s, which %s has not applied yet: the request would apply it", namespace, name, now, by.title())
	}
	return nil
}

// conditionOf returns the status and the message of a condition of an object.
func conditionOf(object model.Value, name string) (status, message string) {
	for _, c := range object.At("status", "conditions").Items() {
		if c.At("type").Str() == name {
			return c.At("status").Str(), c.At("message").Str()
		}
	}
	return "", "it has no condition " + name
}

// commitOf returns the commit of a revision of Flux, as in main@sha1:COMMIT, or main/COMMIT before Flux 2.
func commitOf(revision string) string { return revision[strings.LastIndexAny(revision, ":/")+1:] }

// content identifies what a request would do.
func (a *applied) content(revision string) string {
	return fmt.Sprintf("%s %s generation %s", revision, a.object.At("metadata", "uid").Str(), a.object.At("metadata", "generation").Text())
}

// body returns the patch that sets the annotation of the Kustomization as it was read. It has no effect on another version of it.
func (a *applied) body(token string) []byte {
	annotations := model.MapOf(model.Field{Name: requestedAt, Value: model.StringOf(token)})
	metadata := model.MapOf(model.Field{Name: "annotations", Value: annotations}, model.Field{Name: "resourceVersion", Value: a.object.At("metadata", "resourceVersion")},
		model.Field{Name: "uid", Value: a.object.At("metadata", "uid")})
	return model.MapOf(model.Field{Name: "metadata", Value: metadata}).AppendJSON(nil)
}

// Rehearse implements reconcile.Change.
func (r *request) Rehearse(ctx context.Context) error {
	_, _, err := r.writer.send(ctx, http.MethodPatch, r.by.path(), r.writer.query(true), mergeType, r.by.body(r.actuator.token()))
	switch code := httpclient.Code(err); {
	case code == http.StatusForbidden:
		return refuse(guardRights, "the credentials for writing may not ask %s: grant patch on kustomizations.kustomize.toolkit.fluxcd.io in namespace %s", r.by.title(), r.by.namespace())
	case code == http.StatusConflict:
		return refuse(guardStillSo, "%s changed since it was read: look again", r.by.title())
	case err != nil:
		return r.public(err)
	}
	return nil
}

// token returns the value of the annotation, which the answer of Flux repeats.
func (a *Actuator) token() string { return a.options.Now().UTC().Format(time.RFC3339Nano) }

// Write implements reconcile.Change. It asks Flux, and follows what comes of it.
func (r *request) Write(ctx context.Context) (reconcile.Receipt, error) {
	now, err := r.actuator.appliedNow(ctx, r.reader, r.by)
	if err != nil {
		return reconcile.Receipt{}, &reconcile.NotWrittenError{Err: r.public(err)}
	}
	revision, err := r.checkFlux(ctx, r.reader, now)
	if err != nil {
		return reconcile.Receipt{}, r.unsent(err)
	}
	if now.content(revision) != r.plan.Content {
		return reconcile.Receipt{}, refuse(guardStillSo, "%s changed since: look again", now.title())
	}
	if err := r.stillSo(ctx); err != nil {
		return reconcile.Receipt{}, r.unsent(err)
	}
	token := r.actuator.token()
	_, id, err := r.writer.send(ctx, http.MethodPatch, now.path(), r.writer.query(false), mergeType, now.body(token))
	receipt := reconcile.Receipt{Status: httpclient.Code(err), Request: id, At: r.actuator.options.Now()}
	switch {
	case err != nil && wasNotExecuted(err):
		return receipt, &reconcile.NotWrittenError{Err: r.public(err)}
	case err != nil:
		return receipt, r.public(err)
	}
	receipt.Status = http.StatusOK
	return receipt, r.follow(ctx, now, token)
}

// errAsWanted is the error of a request for an object that is as wanted already.
var errAsWanted = errors.New("it is as declared already")

// stillSo reads the object again, and compares it with the plan.
func (r *request) stillSo(ctx context.Context) error {
	o, err := r.actuator.read(ctx, r.writer, r.subject)
	switch {
	case err != nil:
		return err
	case o == nil && r.plan.Creates:
		return nil
	case o == nil || !r.plan.Creates && o.uid() != r.plan.UID:
		return refuse(guardStillSo, "it does not exist any more, or was created again: look again")
	}
	switch r.actuator.inspection(o, r.plan) {
	case reconcile.AsBefore:
		return nil
	case reconcile.AsWanted:
		return errAsWanted
	case reconcile.AsOther, reconcile.AsWaiting:
	}
	return refuse(guardStillSo, "it was changed since it was read: look again")
}

// unsent returns the error of a read before the request.
func (r *request) unsent(err error) error {
	if refusal := (*reconcile.Refusal)(nil); errors.As(err, &refusal) {
		return refusal
	}
	return &reconcile.NotWrittenError{Err: r.public(err)}
}

// hasHandled reports whether Flux is done with a request. It shows that at the end of each pass, also of one that ended early: that
// does not prove that an object was applied.
func (a *applied) hasHandled(token string) bool {
	ready, _ := conditionOf(a.object, "Ready")
	return a.object.At("status", "lastHandledReconcileAt").Str() == token && (ready == "True" || ready == "False")
}

// follow returns as soon as the object is as wanted, or Flux has handled the request. followTime does not cut off a read: that it could
// not be read would be reported of a request that Flux does not handle.
func (r *request) follow(ctx context.Context, by *applied, token string) error {
	over := time.After(followTime)
	for {
		done, err := r.isDone(ctx, by, token)
		if done {
			return nil
		}
		select {
		case <-time.After(followPause):
			continue
		case <-ctx.Done():
			return fmt.Errorf("what came of the request %s was not followed to its end: %w", token, context.Cause(ctx))
		case <-over:
		}
		if err != nil {
			return r.public(fmt.Errorf("what came of the request %s could not be read: %w", token, err))
		}
		return fmt.Errorf("%s has not handled the request %s within %s: see flux get kustomization %s --namespace=%s", by.title(), token, followTime, by.name(), by.namespace())
	}
}

// isDone reports whether the object is as wanted, or Flux has handled the request.
func (r *request) isDone(ctx context.Context, by *applied, token string) (bool, error) {
	o, err := r.actuator.read(ctx, r.writer, r.subject)
	if err != nil {
		return false, err
	}
	if o != nil && r.actuator.inspection(o, r.plan) == reconcile.AsWanted {
		return true, nil
	}
	now, err := r.actuator.appliedNow(ctx, r.reader, by)
	return err == nil && now.hasHandled(token), err
}
