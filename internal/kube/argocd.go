package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// viaArgoCD is Actor.Via of the user in the status of an Application.
const viaArgoCD = "Argo CD"

// argoSeverities returns the severities of the checks of Applications.
func argoSeverities() map[string]model.Severity {
	return map[string]model.Severity{
		"argocd/auto-sync-off":       model.Low,
		"argocd/self-heal-off":       model.Low,
		"argocd/skip-reconcile":      model.Medium,
		"argocd/manual-sync":         model.Low,
		"argocd/rollback":            model.Medium,
		"argocd/other-revision":      model.Medium,
		"argocd/parameter-override":  model.Medium,
		"argocd/not-synced":          model.Low,
		"argocd/sync-failed":         model.Medium,
		"argocd/degraded":            model.Medium,
		"argocd/ignored-differences": model.Low,
		"argocd/error":               model.Medium,
	}
}

// applicationViolations returns the checks that an Application of Argo CD fails. Messages in its
// status are left out, because they may quote any object.
// https://argo-cd.readthedocs.io/en/stable/operator-manual/application.yaml
func applicationViolations(app model.Value) []model.Violation {
	a := applicationChecks{app: app, spec: app.At("spec"), status: app.At("status")}
	a.name = app.At("metadata", "name").Str()
	a.automation()
	a.operation()
	a.history()
	a.overrides()
	a.state()
	a.ignored()
	return a.found
}

// applicationChecks checks one Application.
type applicationChecks struct {
	app, spec, status model.Value
	name              string
	found             []model.Violation
}

// fails adds a failed check. path is the field that shows it, and may be empty.
func (a *applicationChecks) fails(check, path string, who model.Actor, format string, args ...any) {
	a.found = append(a.found, model.Violation{Check: check, Severity: argoSeverities()[check], Path: path, Actor: who, Reason: fmt.Sprintf(format, args...)})
}

// isAutomated reports whether Argo CD syncs the Application by itself.
func (a *applicationChecks) isAutomated() bool {
	automated := a.spec.At("syncPolicy", "automated")
	return automated.Kind() == model.Map && automated.At("enabled").Text() != "false"
}

const skipReconcile = "argocd.argoproj.io/skip-reconcile"

// automation checks that automatic synchronization was not turned off. It ignores an Application
// that was never synchronized automatically, since people synchronize it.
func (a *applicationChecks) automation() {
	synced := append(slices.Clone(a.status.At("history").Items()), a.status.At("operationState", "operation"))
	wasAutomated := slices.ContainsFunc(synced, func(s model.Value) bool { return s.At("initiatedBy", "automated").Text() == "true" })
	switch {
	case !a.isAutomated() && wasAutomated:
		a.fails("argocd/auto-sync-off", "spec.syncPolicy.automated", writerOf(a.app, "spec", "syncPolicy"),
			"Argo CD synced it automatically before, and automatic synchronization is off: turn it on, or accept this")
	case a.isAutomated() && a.spec.At("syncPolicy", "automated", "selfHeal").Text() == "false":
		a.fails("argocd/self-heal-off", "spec.syncPolicy.automated.selfHeal", writerOf(a.app, "spec", "syncPolicy", "automated", "selfHeal"),
			"selfHeal is false: Argo CD does not put back what is changed in the cluster; set it to true, or accept this")
	}
	if a.app.At("metadata", "annotations", skipReconcile).Text() == "true" {
		a.fails("argocd/skip-reconcile", `metadata.annotations["`+skipReconcile+`"]`, writerOf(a.app, "metadata", "annotations", skipReconcile),
			"Argo CD does not reconcile it, because of its annotation: remove the annotation %s", skipReconcile)
	}
}

// userOf returns the user in a field initiatedBy. A client that can write the Application can set it.
func userOf(initiated, at model.Value) model.Actor {
	name := initiated.At("username").Str()
	if name == "" {
		return model.UnknownActor("the Application does not name the user: an operation that was set without Argo CD's API names none")
	}
	return model.Actor{Name: shortText(name), At: instant(at), Via: viaArgoCD, Confidence: model.Likely}
}

// shortText returns a text of a foreign author for a message.
func shortText(text string) string { return printable.Line(text, 100) }

// initiator returns who began the last sync, and whether it was a user. Argo CD merges the record
// of an operation into that of the one before, so that the field automated stays true. The history
// has it as it was, but only of full syncs that succeeded, and older versions omit it there.
func (a *applicationChecks) initiator() (who model.Actor, isUser bool) {
	state := a.status.At("operationState")
	if by := state.At("operation", "initiatedBy"); by.At("automated").Text() != "true" {
		return userOf(by, stamp(state)), !state.At("operation", "sync").IsNull()
	}
	entries := a.status.At("history").Items()
	if len(entries) == 0 {
		return model.Actor{}, false
	}
	last := entries[len(entries)-1]
	by, recorded := last.Get("initiatedBy")
	return userOf(by, last.At("deployedAt")), recorded && by.At("automated").Text() != "true"
}

// operation checks the last operation: the actor that began it, and the changes that it applied.
func (a *applicationChecks) operation() {
	who, isUser := a.initiator()
	if !isUser {
		return
	}
	state := a.status.At("operationState")
	sync := state.At("operation", "sync")
	if a.isAutomated() {
		a.fails("argocd/manual-sync", "", who, "the last sync was requested by a user, although it syncs automatically: check that nothing was bypassed; the next automatic sync ends this")
	}
	source := sync.At("source")
	if !source.IsNull() && !source.Equal(a.spec.At("source")) || len(sync.At("sources").Items())+len(sync.At("manifests").Items()) > 0 {
		a.fails("argocd/parameter-override", "", who, "the last sync applied a source or manifests of the request, which the Application does not have: sync it without them")
	}
	applied, wanted := state.At("syncResult", "revision").Str(), a.status.At("sync", "revision").Str()
	if sync.At("revision").Str() != "" && applied != "" && wanted != "" && applied != wanted && !a.isRolledBack() {
		a.fails("argocd/other-revision", "", who, "revision %s was synced by request, and its target revision is another one: sync that one", shortText(applied))
	}
}

func stamp(state model.Value) model.Value {
	if at := state.At("finishedAt"); at.Str() != "" {
		return at
	}
	return state.At("startedAt")
}

// revisionsOf returns the revisions of an entry of the history as one text.
func revisionsOf(entry model.Value) string {
	return cmp.Or(entry.At("revision").Str(), strings.Join(texts(entry.At("revisions")), " "))
}

// isRolledBack reports whether the last deployed revision was deployed before another one.
func (a *applicationChecks) isRolledBack() bool {
	var revisions []string
	for _, entry := range a.status.At("history").Items() {
		if r := revisionsOf(entry); len(revisions) == 0 || revisions[len(revisions)-1] != r {
			revisions = append(revisions, r)
		}
	}
	last := len(revisions) - 1
	return last > 0 && slices.Contains(revisions[:last], revisions[last])
}

// history checks that the Application was not rolled back.
func (a *applicationChecks) history() {
	entries := a.status.At("history").Items()
	if a.isAutomated() || !a.isRolledBack() {
		return
	}
	last := entries[len(entries)-1]
	a.fails("argocd/rollback", "", userOf(last.At("initiatedBy"), last.At("deployedAt")),
		"it was rolled back to %s, and automatic synchronization is off: sync it when the newest commit may be applied again", shortText(revisionsOf(last)))
}

// overridePaths are the fields of a source that parameterize it.
func overridePaths() [][]string {
	var paths [][]string
	for tool, fields := range map[string][]string{
		"helm":      {"parameters", "values", "valuesObject", "valueFiles", "fileParameters"},
		"kustomize": {"images", "namePrefix", "nameSuffix", "commonLabels", "commonAnnotations", "replicas", "patches", "components", "namespace"},
	} {
		for _, field := range fields {
			paths = append(paths, []string{"spec", "source", tool, field})
		}
	}
	slices.SortFunc(paths, slices.Compare)
	return paths
}

// overrides checks that the parameters of the source were written by the writer of the source
// itself. A parameter with another writer is not in the manifest of the Application.
func (a *applicationChecks) overrides() {
	list, err := owners("", a.app.At("metadata", "managedFields"))
	if err != nil {
		return
	}
	repository := fieldSteps("spec", "source", "repoURL")
	for _, path := range overridePaths() {
		if a.app.At(path...).IsEmpty() {
			continue
		}
		steps := fieldSteps(path...)
		// An entry may have fields below the path only.
		writes := func(o model.Owner) bool { return o.Fields.Depth(steps) == len(steps) }
		if !slices.ContainsFunc(list, writes) || slices.ContainsFunc(list, func(o model.Owner) bool {
			return writes(o) && o.Fields.Depth(repository) == len(repository)
		}) {
			continue
		}
		if !slices.ContainsFunc(list, func(o model.Owner) bool { return o.Fields.Depth(repository) == len(repository) }) {
			continue
		}
		a.fails("argocd/parameter-override", strings.Join(path, "."), writerOf(a.app, path...),
			"%s was set apart from the rest of the source: commit it to the Application's manifest, or remove it", strings.Join(path[1:], "."))
		return // one finding for all: the reason names the first
	}
}

// state checks the state that Argo CD reports.
func (a *applicationChecks) state() {
	nobody := model.UnknownActor("the status of an Application has no author")
	var kinds []string
	for _, c := range a.status.At("conditions").Items() {
		if kind := c.At("type").Str(); strings.HasSuffix(kind, "Error") {
			kinds = append(kinds, shortText(kind))
		}
	}
	if slices.Sort(kinds); len(kinds) > 0 {
		kinds = slices.Compact(kinds)
		a.fails("argocd/error", "", nobody, "Argo CD reports %s: see argocd app get %s", strings.Join(kinds[:min(len(kinds), 5)], ", "), a.name)
	}
	phase := a.status.At("operationState", "phase").Str()
	switch sync := a.status.At("sync", "status").Str(); {
	case phase == "Failed" || phase == "Error":
		a.fails("argocd/sync-failed", "", nobody, "the last sync ended with %s: see argocd app get %s", phase, a.name)
	case sync == "OutOfSync" || sync == "Unknown" && len(kinds) == 0: // an error is why it is unknown
		a.fails("argocd/not-synced", "", nobody, "Argo CD has it as %s: see argocd app diff %s", sync, a.name)
	}
	if a.status.At("health", "status").Str() == "Degraded" {
		a.fails("argocd/degraded", "", nobody, "Argo CD reports its health as Degraded: see argocd app get %s", a.name)
	}
}

// broad are the pointers and expressions of ignoreDifferences that ignore a whole object or most of
// it.
func broad() []string {
	return []string{"", "/", "/spec", "/data", "/rules", "/metadata", ".", ".spec", ".data", ".rules", ".metadata", ".[]", "..", ".spec[]", ".spec.template", "/spec/template"}
}

// ignored checks that no rule makes Argo CD ignore whole objects, or all fields of a writer with
// some name, since each client chooses its name.
func (a *applicationChecks) ignored() {
	for i, rule := range a.spec.At("ignoreDifferences").Items() {
		which := orAny(rule.At("kind").Str())
		var what string
		switch {
		case slices.ContainsFunc(append(texts(rule.At("jsonPointers")), texts(rule.At("jqPathExpressions"))...), func(p string) bool { return slices.Contains(broad(), strings.TrimSpace(p)) }):
			what = "most of each object"
		case len(rule.At("managedFieldsManagers").Items()) > 0:
			what = "everything that a client of a certain name writes, and each client chooses its name"
		default:
			continue
		}
		a.fails("argocd/ignored-differences", "spec.ignoreDifferences", writerOf(a.app, "spec", "ignoreDifferences"),
			"ignoreDifferences[%d] makes Argo CD ignore, of kind %s, %s: name the fields; driftd compares them", i, which, what)
		return
	}
}

func orAny(kind string) string {
	if kind == "" {
		return "any"
	}
	return shortText(kind)
}

// maxInstalls bounds the objects of one Application.
const maxInstalls = 10_000

// applicationInstalls returns the objects that an Application deployed according to its status.
func applicationInstalls(app model.Value) []model.Ref {
	resources := app.At("status", "resources").Items()
	refs := make([]model.Ref, 0, min(len(resources), maxInstalls))
	for _, r := range resources[:min(len(resources), maxInstalls)] {
		version := r.At("version").Str()
		if group := r.At("group").Str(); group != "" {
			version = group + "/" + version
		}
		if kind, name := r.At("kind").Str(), r.At("name").Str(); kind != "" && name != "" {
			id := identity{apiVersion: version, kind: kind, namespace: r.At("namespace").Str(), name: name}
			refs = append(refs, model.Ref{Kind: KindName(version, kind), ID: id.id()})
		}
	}
	return refs
}
