package kube

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// Checks of objects of Flux that depend on each other.
const (
	checkSuspended   = "flux/suspended"
	checkNotReady    = "flux/not-ready"
	checkStalled     = "flux/stalled"
	checkNotObserved = "flux/not-observed"
	checkBehind      = "flux/behind"
	checkNotListed   = "flux/not-in-inventory"
	checkNotFetched  = "flux/source-behind"
)

// fluxSeverities are the severities of the checks of objects of Flux.
func fluxSeverities() map[string]model.Severity {
	return map[string]model.Severity{
		checkSuspended:             model.Medium,
		checkNotReady:              model.Medium,
		checkStalled:               model.High,
		checkNotObserved:           model.Low,
		checkBehind:                model.Medium,
		checkNotListed:             model.Medium,
		checkNotFetched:            model.Medium,
		"flux/drift-detection-off": model.Low,
		"flux/drift-ignored":       model.Low,
	}
}

// The kinds of Flux with checks of their own.
const (
	fluxKustomization = "Kustomization.kustomize.toolkit.fluxcd.io"
	fluxRelease       = "HelmRelease.helm.toolkit.fluxcd.io"
	fluxGitRepository = "GitRepository.source.toolkit.fluxcd.io"
)

// fluxLabel begins the labels with the Kustomization that applied an object.
const fluxLabel = "kustomize.toolkit.fluxcd.io/"

// isFlux reports whether Flux reconciles objects of a kind, and reports it in their status.
func isFlux(kind string) bool {
	name, group, _ := strings.Cut(plainKind(kind), ".")
	return kind == "kubernetes/"+fluxKustomization || kind == "kubernetes/"+fluxRelease ||
		group == "source.toolkit.fluxcd.io" && slices.Contains([]string{"GitRepository", "OCIRepository", "HelmRepository", "Bucket", "HelmChart"}, name)
}

// fluxViolations returns the checks that an object of Flux fails. Messages in its status are left
// out, because they may quote any object.
// https://fluxcd.io/flux/components/kustomize/kustomizations/#kustomization-status
func fluxViolations(kind string, whole model.Value) []model.Violation {
	c := fluxChecks{whole: whole, spec: whole.At("spec"), status: whole.At("status")}
	c.suspended()
	c.conditions()
	c.revisions()
	if plainKind(kind) == fluxRelease {
		c.driftDetection()
	}
	return c.found
}

// fluxChecks checks one object of Flux.
type fluxChecks struct {
	whole, spec, status model.Value
	found               []model.Violation
}

// fails adds a failed check. path is the field that shows it, and may be empty.
func (c *fluxChecks) fails(check string, path []string, format string, args ...any) {
	who := model.UnknownActor("the status of the object does not name who caused it")
	if len(path) > 0 {
		who = writerOf(c.whole, path...)
	}
	c.found = append(c.found, model.Violation{Check: check, Severity: fluxSeverities()[check], Path: strings.Join(path, "."), Actor: who, Reason: fmt.Sprintf(format, args...)})
}

func (c *fluxChecks) isSuspended() bool { return c.spec.At("suspend").Text() == "true" }

func (c *fluxChecks) suspended() {
	if c.isSuspended() {
		c.fails(checkSuspended, []string{"spec", "suspend"}, "Flux does not reconcile it: ask who suspended it, then run flux resume, or accept this")
	}
}

var conditionReason = lazyregexp.New(`^[A-Za-z]{1,60}$`)

// conditions checks the conditions, and whether Flux has processed the current spec.
func (c *fluxChecks) conditions() {
	for _, condition := range c.status.At("conditions").Items() {
		reason := condition.At("reason").Str()
		if !conditionReason().MatchString(reason) {
			reason = "a reason that is no word"
		}
		switch condition.At("type").Str() + " " + condition.At("status").Str() {
		case "Stalled True":
			c.fails(checkStalled, nil, "Flux reports %s and does not try again until the object changes: run flux get all for the message", reason)
		case "Ready False":
			c.fails(checkNotReady, nil, "Flux reports %s: run flux get all for the message", reason)
			if reason == "DependencyNotReady" {
				c.found[len(c.found)-1].WaitsFor = c.dependencies()
			}
		case "Ready Unknown":
			if !c.isSuspended() {
				c.unfinished(instant(condition.At("lastTransitionTime")))
			}
		}
	}
	// Some objects have no status, such as a HelmRepository of type oci.
	if !c.isSuspended() && c.status.At("observedGeneration").Text() != "" && !c.isObserved() {
		c.fails(checkNotObserved, nil, "Flux has not handled the current spec: check that its controller runs")
	}
}

// unfinished adds the violation of an object on which Flux has worked since a time. SettleChecks removes it while that is recent.
func (c *fluxChecks) unfinished(since time.Time) {
	text := "a time that its status does not show"
	if !since.IsZero() {
		text = since.Format(time.RFC3339)
	}
	c.fails(checkNotReady, nil, "Flux has been reconciling it since %s, and has not ended: check that its controller runs", text)
	c.found[len(c.found)-1].Since = &since
}

// dependencies returns the objects that the object waits for, which have its kind.
func (c *fluxChecks) dependencies() []model.Ref {
	var all []model.Ref
	kind := KindName(c.whole.At("apiVersion").Str(), c.whole.At("kind").Str())
	for _, d := range c.spec.At("dependsOn").Items() {
		place := cmp.Or(d.At("namespace").Str(), c.whole.At("metadata", "namespace").Str())
		all = append(all, model.Ref{Kind: kind, ID: place + "/" + d.At("name").Str()})
	}
	return all
}

// fluxUndecided returns the checks that cannot be judged while Flux works on an object: the status does not show
// whether an attempt that failed is repeated.
func fluxUndecided(whole model.Value) []string {
	c := fluxChecks{status: whole.At("status")}
	if c.has("Ready", "Unknown") {
		return []string{checkBehind, checkNotReady}
	}
	return nil
}

// fluxReadySince returns since when Flux reports that an object is ready; nil if it does not.
func fluxReadySince(whole model.Value) *time.Time {
	for _, condition := range whole.At("status", "conditions").Items() {
		if condition.At("type").Str() == "Ready" && condition.At("status").Str() == "True" {
			since := instant(condition.At("lastTransitionTime"))
			return &since
		}
	}
	return nil
}

// isObserved reports whether Flux has seen the current spec. The status as a whole follows only when
// the object is ready; until then, the condition Ready or Reconciling has the generation.
func (c *fluxChecks) isObserved() bool {
	generation := c.whole.At("metadata", "generation").Text()
	if generation == "" || c.status.At("observedGeneration").Text() == generation {
		return true
	}
	return slices.ContainsFunc(c.status.At("conditions").Items(), func(condition model.Value) bool {
		return slices.Contains([]string{"Ready", "Reconciling"}, condition.At("type").Str()) && condition.At("observedGeneration").Text() == generation
	})
}

// has reports whether a condition has a status.
func (c *fluxChecks) has(condition, status string) bool {
	return slices.ContainsFunc(c.status.At("conditions").Items(), func(v model.Value) bool {
		return v.At("type").Str() == condition && v.At("status").Str() == status
	})
}

// revisions checks that the last attempt to apply succeeded. While Flux applies, or waits for the
// objects, Ready is Unknown, and the last attempt is ahead. The attempted revision is left out: each
// commit changes it.
func (c *fluxChecks) revisions() {
	applied, attempted := c.status.At("lastAppliedRevision").Str(), c.status.At("lastAttemptedRevision").Str()
	if applied != "" && attempted != "" && applied != attempted && !c.has("Ready", "Unknown") {
		c.fails(checkBehind, nil, "Flux has applied %s, and could not apply a later revision: run flux get all for the message", shortText(applied))
	}
}

// driftDetection checks that a HelmRelease does not turn off the detection of drift. A release that
// does not mention it has none either, which is Flux' default.
func (c *fluxChecks) driftDetection() {
	detection := c.spec.At("driftDetection")
	if detection.At("mode").Str() == "disabled" {
		c.fails("flux/drift-detection-off", []string{"spec", "driftDetection", "mode"}, "Flux does not correct what is changed in the objects of the release: set mode to enabled, or accept this")
	}
	if len(detection.At("ignore").Items()) > 0 {
		c.fails("flux/drift-ignored", []string{"spec", "driftDetection", "ignore"}, "Flux does not correct the fields that it ignores: remove the rules, or accept this")
	}
}

// maxInventory bounds the entries of an inventory that are read.
const maxInventory = 20_000

// fluxInstalls returns the objects in the inventory of a Flux Kustomization. It returns none for a
// Kustomization that applies to another cluster.
func fluxInstalls(whole model.Value) []model.Ref {
	if !whole.At("spec", "kubeConfig").IsEmpty() {
		return nil
	}
	var all []model.Ref
	for i, entry := range whole.At("status", "inventory", "entries").Items() {
		if i == maxInventory {
			break
		}
		if ref, ok := inventoryRef(entry.At("id").Str()); ok {
			all = append(all, ref)
		}
	}
	return all
}

// fluxInventory returns the inventory of a Flux Kustomization; nil for one that applies to another
// cluster.
func fluxInventory(whole model.Value) *model.Inventory {
	if !whole.At("spec", "kubeConfig").IsEmpty() {
		return nil
	}
	c := fluxChecks{whole: whole, status: whole.At("status")}
	i := &model.Inventory{Lacks: model.Violation{Check: checkNotListed, Severity: fluxSeverities()[checkNotListed], Path: "status.inventory",
		Actor:  model.UnknownActor("the status of the object does not name who caused it"),
		Reason: "Flux has applied the commit, and its inventory lacks objects that git declares: it would not prune them; run flux reconcile kustomization, and look for who writes the status"}}
	applied, attempted := c.status.At("lastAppliedRevision").Str(), c.status.At("lastAttemptedRevision").Str()
	isSettled := c.has("Ready", "True") && (attempted == "" || attempted == applied) &&
		c.status.At("observedGeneration").Text() == whole.At("metadata", "generation").Text()
	if isSettled && len(c.status.At("inventory", "entries").Items()) <= maxInventory {
		i.Commit = commitOf(applied)
	}
	return i
}

// fluxFetched returns what source-controller fetched of a GitRepository; nil for one that is suspended, which is a violation itself.
func fluxFetched(whole model.Value) *model.Fetched {
	if whole.At("spec", "suspend").Text() == "true" {
		return nil
	}
	artifact := whole.At("status", "artifact")
	return &model.Fetched{Commit: commitOf(artifact.At("revision").Str()), At: instant(artifact.At("lastUpdateTime")),
		Behind: model.Violation{Check: checkNotFetched, Severity: fluxSeverities()[checkNotFetched], Path: "status.artifact.revision",
			Actor: model.UnknownActor("the status of the object does not name who caused it"),
			Reason: "Flux has not fetched the commit that git has, for longer than the interval in git: run flux reconcile source git, and check that source-controller runs, " +
				"its credentials and the URL of the repository"}}
}

var revisionCommit = lazyregexp.New(`(?:^|[/:])([0-9a-f]{40}|[0-9a-f]{64})$`)

// commitOf returns the commit of a revision, as in main@sha1:… and main/…; "" if it has none.
func commitOf(revision string) string {
	if found := revisionCommit().FindStringSubmatch(revision); found != nil {
		return found[1]
	}
	return ""
}

// inventoryRef returns the object of an ID in an inventory, which has the form
// namespace_name_group_kind. A colon in a name is encoded as two underscores.
func inventoryRef(id string) (ref model.Ref, ok bool) {
	namespace, rest, _ := strings.Cut(id, "_")
	end := strings.LastIndexByte(rest, '_')
	if end < 0 {
		return ref, false
	}
	kind := rest[end+1:]
	begin := strings.LastIndexByte(rest[:end], '_')
	if begin <= 0 || kind == "" {
		return ref, false
	}
	name, group := strings.ReplaceAll(rest[:begin], "__", ":"), rest[begin+1:end]
	ref = model.Ref{Kind: "kubernetes/" + kind, ID: name}
	if group != "" {
		ref.Kind += "." + group
	}
	if namespace != "" {
		ref.ID = namespace + "/" + name
	}
	return ref, true
}
