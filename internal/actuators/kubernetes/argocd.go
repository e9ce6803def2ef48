package kubernetes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/kubeapi"
	"github.com/driftd/driftd/internal/model"
)

// An argo asks an Application of Argo CD to sync one object, by the field operation, in which Argo CD's own API server sets it too.
// https://argo-cd.readthedocs.io/en/stable/user-guide/sync-kubectl/
type argo struct{}

// offer implements asker. It refuses unless Argo CD compares the object with the commit that driftd compares with, sees the drift, and
// would sync it now.
func (argo) offer(ctx context.Context, reader *client, b *base, by *applied) (offer, error) {
	for _, check := range []func(*base, *applied) error{checkOperation, checkSource, checkHistory, checkAutomation, checkSynced, checkOptions} {
		if err := check(b, by); err != nil {
			return offer{}, err
		}
	}
	if server := by.object.At("spec", "destination", "server").Str(); !isInCluster(by.object.At("spec", "destination")) && !isServer(reader, server) && !isServer(b.writer, server) {
		return offer{}, refuse(guardDeclarer, "%s applies to %s, and nothing shows that this is the cluster of source %s", by.title(), quoted(by.object.At("spec", "destination")), b.finding.Source)
	}
	if err := checkProject(ctx, reader, by, b.actuator.options.Now()); err != nil {
		return offer{}, err
	}
	spec := sha256.Sum256(by.object.At("spec").AppendJSON(nil))
	return offer{
		asks:    fmt.Sprintf("%s to sync %s %s at %s", by.title(), b.subject.kind, b.finding.Key.ID, b.source.Revision),
		content: fmt.Sprintf("%s %s %x", b.source.Revision, by.uid(), spec),
	}, nil
}

// quoted returns a value in one line, for messages.
func quoted(v model.Value) string { return string(v.AppendJSON(nil)) }

// isInCluster reports whether a destination is the cluster of Argo CD, in which its Applications are.
func isInCluster(destination model.Value) bool {
	return destination.At("server").Str() == "https://kubernetes.default.svc" || destination.At("name").Str() == "in-cluster"
}

// isServer reports whether an address is that of a client.
func isServer(c *client, address string) bool {
	return strings.TrimSuffix(address, "/") == strings.TrimSuffix(c.base.String(), "/")
}

// checkOperation refuses an Application that has an operation, or cannot be synced.
func checkOperation(_ *base, by *applied) error {
	app := by.object
	state := app.At("status", "operationState")
	switch phase := state.At("phase").Str(); {
	case !app.At("operation").IsNull():
		return refuse(guardStillSo, "%s has an operation already: look again", by.title())
	case phase == "Running", phase == "Terminating":
		return refuse(guardStillSo, "%s is at work: look again", by.title())
	}
	for _, c := range app.At("status", "conditions").Items() {
		if kind := c.At("type").Str(); kind == "ComparisonError" || kind == "InvalidSpecError" {
			// The message may quote any object of the source.
			return refuse(guardDeclarer, "%s cannot be synced because of its %s: see %s", by.title(), kind, by.see())
		}
	}
	return nil
}

// checkSource refuses an Application unless its only source is a git commit, which is the one that driftd compares with.
func checkSource(b *base, by *applied) error {
	app := by.object
	source := app.At("spec", "source")
	switch {
	case len(app.At("spec", "sources").Items()) > 0, source.IsNull():
		return refuse(guardDeclarer, "%s does not have exactly one spec.source, so that driftd cannot compare it with a commit: run %s", by.title(), by.command())
	case source.At("chart").Str() != "":
		return refuse(guardDeclarer, "the source of %s is a chart of a Helm repository, and driftd cannot compare it with a commit: run %s", by.title(), by.command())
	}
	if now := app.At("status", "sync", "revision").Str(); b.source.Revision == "" || now != b.source.Revision {
		return refuse(guardScope, "%s compares with %s, and declaration %s was read at %s: the request would not apply what is declared here; run %s --refresh, and look again",
			by.title(), now, b.finding.Declaration, b.source.Revision, by.see())
	}
	return nil
}

// checkHistory refuses an Application whose source was changed since it was synced, or that was rolled back.
func checkHistory(_ *base, by *applied) error {
	app := by.object
	history := app.At("status", "history").Items()
	last := app.At("status", "operationState", "syncResult", "source")
	if len(history) > 0 {
		last = history[len(history)-1].At("source")
	}
	if source := app.At("spec", "source"); !isSameSource(last, source) {
		return refuse(guardScope, "the source of %s was changed since it was synced, and the request would apply that change: run %s first", by.title(), by.command())
	}
	var revisions []string
	for _, sync := range history {
		if revision := sync.At("revision").Str(); len(revisions) == 0 || revisions[len(revisions)-1] != revision {
			revisions = append(revisions, revision)
		}
	}
	if n := len(revisions); n > 0 && slices.Contains(revisions[:n-1], revisions[n-1]) {
		return refuse(guardScope, "%s was rolled back to %s: run %s when the newest commit may be applied again", by.title(), revisions[n-1], by.command())
	}
	return nil
}

// isSameSource reports whether two sources are rendered in the same way. In its own fields, Argo CD leaves out what is empty; of the
// values of a chart, something empty can replace a default.
func isSameSource(a, b model.Value) bool {
	values := func(v model.Value) model.Value { return v.At("helm", "valuesObject") }
	return contains(a, b) && contains(b, a) && values(a).Equal(values(b))
}

// checkAutomation refuses an Application that is synced automatically and was not synced to its commit with success. Argo CD decides by
// the last operation whether it syncs all objects of a commit, and does not ask whether that operation was about one object: a
// request would begin a sync that failed before, or would keep one from beginning.
func checkAutomation(b *base, by *applied) error {
	state := by.object.At("status", "operationState")
	switch automated := by.object.At("spec", "syncPolicy", "automated"); {
	case automated.IsNull(), state.At("phase").Str() == "Succeeded" && state.At("syncResult", "revision").Str() == b.source.Revision:
		return nil
	}
	return refuse(guardScope, "%s is synced automatically, and its last operation is not a successful one at %s: a request would change what Argo CD does with the other objects: see %s",
		by.title(), b.source.Revision, by.see())
}

// checkSynced refuses an object that Argo CD would not apply, or that it sees no drift of.
func checkSynced(b *base, by *applied) error {
	for _, r := range by.object.At("status", "resources").Items() {
		if resourceRef(r) != b.subject.ref() {
			continue
		}
		switch status := r.At("status").Str(); {
		case r.At("hook").Text() == "true":
			return refuse(guardDeclarer, "it is a hook of %s, which Argo CD runs only when it syncs everything: run %s", by.title(), by.command())
		case r.At("requiresPruning").Text() == "true":
			return refuse(guardScope, "%s has it, and not at %s: a sync would delete it", by.title(), b.source.Revision)
		case status != "OutOfSync":
			return refuse(guardDeclarer, "%s has it as %s: Argo CD sees no drift of it, since it ignores the difference, renders something else than declaration %s, or has not looked since: run %s --refresh",
				by.title(), status, b.finding.Declaration, by.see())
		default:
			return nil
		}
	}
	return refuse(guardStillSo, "%s does not have it any more: look again", by.title())
}

// syncOptions is the annotation of a manifest with options of Argo CD, separated by commas.
const syncOptions = "argocd.argoproj.io/sync-options"

// checkOptions refuses an object that Argo CD would delete and create again, or replace.
func checkOptions(b *base, by *applied) error {
	options := strings.Split(b.source.Written.At("metadata", "annotations", syncOptions).Str(), ",")
	for _, o := range by.object.At("spec", "syncPolicy", "syncOptions").Items() {
		options = append(options, o.Str())
	}
	for _, o := range options {
		if o = strings.TrimSpace(o); o == "Force=true" || o == "Replace=true" {
			return refuse(guardScope, "the sync option %s of %s, or of the object, replaces the object, or deletes it and creates it again", o, by.title())
		}
	}
	return nil
}

// checkProject refuses if a sync window of the project of an Application may block the sync: Argo CD would carry it out at a later time.
func checkProject(ctx context.Context, reader *client, by *applied, now time.Time) error {
	namespace := by.object.At("status", "controllerNamespace").Str()
	if namespace == "" {
		namespace = by.namespace()
	}
	name := cmp.Or(by.object.At("spec", "project").Str(), "default")
	project, err := reader.named(ctx, "kubernetes/AppProject.argoproj.io", namespace, name)
	if err != nil {
		if httpclient.Code(err) == http.StatusForbidden {
			return refuse(guardDeclarer, "a sync window may block the sync: the credentials for reading may not get appprojects.argoproj.io in namespace %s: grant get on them", namespace)
		}
		return fmt.Errorf("read project %s/%s of %s: %w", namespace, name, by.title(), kubeapi.FirstLine(err))
	}
	if project.At("kind").Str() != "AppProject" || project.At("metadata", "name").Str() != name {
		return fmt.Errorf("read project %s/%s of %s: the answer is not that object", namespace, name, by.title())
	}
	why, err := blocking(project.At("spec", "syncWindows").Items(), by.object, now)
	if err != nil {
		return refuse(guardDeclarer, "project %s of %s has a sync window that driftd cannot read: %v", name, by.title(), err)
	}
	if why != "" {
		return refuse(guardDeclarer, "%s of project %s may block the sync of %s", why, name, by.title())
	}
	return nil
}

// request implements asker. It sets the operation, and removes the state of the last one, which Argo CD would mix with the new one. It
// passes on the sync options of the Application, except CreateNamespace, which would also write the metadata of the namespace.
func (argo) request(b *base, by *applied, token string) model.Value {
	resource := []model.Field{{Name: "group", Value: model.StringOf(b.subject.group)}, {Name: "kind", Value: model.StringOf(b.subject.kind)}, {Name: "name", Value: model.StringOf(b.subject.name)}}
	if b.subject.namespace != "" {
		resource = append(resource, model.Field{Name: "namespace", Value: model.StringOf(b.subject.namespace)})
	}
	sync := model.MapOf(model.Field{Name: "revision", Value: model.StringOf(b.source.Revision)}, model.Field{Name: "resources", Value: model.ListOf(model.MapOf(resource...))})
	options := slices.DeleteFunc(slices.Clone(by.object.At("spec", "syncPolicy", "syncOptions").Items()), func(o model.Value) bool {
		return strings.HasPrefix(o.Str(), "CreateNamespace=")
	})
	if len(options) > 0 {
		sync = sync.With("syncOptions", model.ListOf(options...))
	}
	info := []model.Value{infoOf(tokenInfo, token)}
	if b.source.Note != "" {
		info = append(info, infoOf("Reason", b.source.Note))
	}
	operation := model.MapOf(model.Field{Name: "initiatedBy", Value: model.MapOf(model.Field{Name: "username", Value: model.StringOf(manager)})},
		model.Field{Name: "info", Value: model.ListOf(info...)}, model.Field{Name: "sync", Value: sync})
	return model.MapOf(model.Field{Name: "operation", Value: operation},
		model.Field{Name: "status", Value: model.MapOf(model.Field{Name: "operationState", Value: model.Value{}})})
}

// tokenInfo is the name of the information of an operation that identifies it.
const tokenInfo = "driftd request"

func infoOf(name, value string) model.Value {
	return model.MapOf(model.Field{Name: "name", Value: model.StringOf(name)}, model.Field{Name: "value", Value: model.StringOf(value)})
}

// hasToken reports whether an operation is the one with a token.
func hasToken(operation model.Value, token string) bool {
	return slices.ContainsFunc(operation.At("info").Items(), infoOf(tokenInfo, token).Equal)
}

// reply implements asker. That an operation succeeded does not prove that the object was applied: it also succeeds if the Application
// does not have the object.
func (argo) reply(b *base, asked, now *applied, token string) reply {
	state := now.object.At("status", "operationState")
	phase, message := state.At("phase").Str(), state.At("message").Str()
	switch begun := hasToken(state.At("operation"), token); {
	case !begun && !hasToken(now.object.At("operation"), token):
		return reply{progress: gone}
	case !begun:
		return reply{progress: pending, withdrawal: withdrawal(asked, now), why: "it has not begun"}
	case phase == "Running" && strings.Contains(message, windowBlocks):
		return reply{progress: pending, withdrawal: withdrawal(asked, now), why: message}
	case phase == "Running", phase == "Terminating":
		return reply{why: message}
	case phase == "Succeeded":
		return reply{progress: ended, why: message}
	case phase == "Failed":
		return reply{progress: ended, failed: phase, why: cmp.Or(failure(state, b.subject.ref()), message)}
	}
	return reply{progress: ended, failed: phase} // the message may quote other objects
}

// windowBlocks is a part of the message of an operation that waits for the end of a sync window.
const windowBlocks = "blocked by sync window"

// withdrawal returns the JSON Patch that removes an operation, and restores the state of the one before it, by which Argo CD decides
// whether it syncs a commit automatically. It has no effect on another version of the Application.
func withdrawal(asked, now *applied) []byte {
	operations := []model.Value{operationOf("test", "/metadata/uid", now.object.At("metadata", "uid")),
		operationOf("test", "/metadata/resourceVersion", now.object.At("metadata", "resourceVersion")),
		operationOf("remove", "/operation", model.Value{})}
	before, is := asked.object.At("status", "operationState"), now.object.At("status", "operationState")
	switch {
	case !before.IsNull():
		operations = append(operations, operationOf("add", "/status/operationState", before))
	case !is.IsNull():
		operations = append(operations, operationOf("remove", "/status/operationState", model.Value{}))
	}
	return model.ListOf(operations...).AppendJSON(nil)
}

// operationOf returns an operation of a JSON Patch.
func operationOf(op, pointer string, value model.Value) model.Value {
	v := model.MapOf(model.Field{Name: "op", Value: model.StringOf(op)}, model.Field{Name: "path", Value: model.StringOf(pointer)})
	if value.IsNull() {
		return v
	}
	return v.With("value", value)
}

// failure returns why Argo CD could not apply an object; "" if it does not show that.
func failure(state model.Value, r ref) string {
	for _, one := range state.At("syncResult", "resources").Items() {
		if resourceRef(one) == r && one.At("status").Str() == "SyncFailed" {
			return one.At("message").Str()
		}
	}
	return ""
}
