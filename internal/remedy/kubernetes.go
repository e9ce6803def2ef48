package remedy

import (
	"strings"

	"github.com/driftd/driftd/internal/jsonpatch"
	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/model"
)

// maxPatch bounds the length of a suggested patch: a longer one is not read before it is run.
const maxPatch = 16 << 10

// kubectl returns a kubectl command on the object of the finding.
func (c *issue) kubectl(verb string, flags ...string) command {
	kind := strings.ToLower(strings.TrimPrefix(c.Kind, "kubernetes/"))
	line := command{"kubectl", verb, kind + "/" + c.Name}
	if c.Place != "" {
		line = append(line, "--namespace="+c.Place)
	}
	return append(line, flags...)
}

// kubernetes returns the step that puts an object back with a JSON Patch.
func (c *issue) kubernetes() Step {
	if s, ok := c.deliverer(); ok {
		return s
	}
	s := Step{Title: "Patch the live object"}
	p := jsonpatch.Patch{Live: c.Live}
	for i := range c.Changes {
		if why := c.patchField(&p, &c.Changes[i]); why != "" {
			s.note("Not in the patch: %s, because %s.", c.Changes[i].Path, why)
		}
	}
	if p.IsEmpty() {
		left := s.Notes
		s = c.apply("Apply the declaration")
		s.Notes = append(s.Notes, left...)
		return s
	}
	text := p.Text()
	if len(text) > maxPatch {
		return c.apply("Apply the declaration, because a patch would be too long")
	}
	patched := c.kubectl("patch", "--type=json", "--patch="+text)
	s.commands(append(patched[:len(patched):len(patched)], "--dry-run=server", "--output=yaml"))
	s.commands(patched)
	s.note("The first command only shows the result. The patch tests the value that driftd read of each field that it replaces or removes: if one has changed since, nothing is written.")
	if p.Adds() {
		s.note("A field that is added cannot be tested: look whether it is still absent.")
	}
	if c.restartsPods() {
		s.note("It changes the pod template, so that the pods are replaced.")
	}
	if p.Replaces() {
		s.note("If a pipeline applies the object with --server-side, its next apply that changes such a field reports a conflict with kubectl-patch: run it once with --force-conflicts.")
	}
	return s
}

// patchField adds one change to the patch, or returns why it is not in it.
func (c *issue) patchField(p *jsonpatch.Patch, change *model.Change) string {
	live := path(change)
	switch {
	case change.Secret:
		return "it is a secret: apply " + c.place() + " instead"
	case live == "status" || strings.HasPrefix(live, "status."):
		return "controllers set the status"
	case live == "spec.replicas":
		return "an autoscaler may set it: look for one with kubectl get hpa, and use kubectl scale if there is none"
	}
	if why := c.form(change); why != "" && c.Declared == terraform {
		return why
	}
	return p.Set(live, change.Live, change.Declared)
}

// restartsPods reports whether a change is in a pod template.
func (c *issue) restartsPods() bool {
	for i := range c.Changes {
		if strings.HasPrefix(path(&c.Changes[i]), "spec.template.") {
			return true
		}
	}
	return false
}

var objectName = lazyregexp.New(`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`)

// isObjectName reports whether Flux, Argo CD and Helm can give a name to their objects.
func isObjectName(text string) bool { return len(text) <= 253 && objectName().MatchString(text) }

// deliverer returns the step for an object that Flux, Argo CD or Helm applies, according to its
// labels and annotations; ok is false for other objects. Another writer would be overruled,
// or would take the fields from it.
func (c *issue) deliverer() (s Step, ok bool) {
	if c.Live == nil {
		return s, false
	}
	labels, annotations := c.Live.At("metadata", "labels"), c.Live.At("metadata", "annotations")
	get := func(from model.Value, name string) string {
		if text := from.At(name).Str(); isObjectName(text) {
			return text
		}
		return ""
	}
	if name := get(labels, "kustomize.toolkit.fluxcd.io/name"); name != "" {
		return delivered("Flux", command{"flux", "reconcile", "kustomization", name, "--namespace=" + get(labels, "kustomize.toolkit.fluxcd.io/namespace"), "--with-source"}), true
	}
	if name := get(labels, "helm.toolkit.fluxcd.io/name"); name != "" {
		return delivered("Flux", command{"flux", "reconcile", "helmrelease", name, "--namespace=" + get(labels, "helm.toolkit.fluxcd.io/namespace"), "--force"}), true
	}
	application, _, tracked := strings.Cut(annotations.At("argocd.argoproj.io/tracking-id").Str(), ":")
	if tracked && isObjectName(application) {
		return delivered("Argo CD", command{"argocd", "app", "sync", application}), true
	}
	if name := get(labels, "argocd.argoproj.io/instance"); name != "" {
		return delivered("Argo CD", command{"argocd", "app", "sync", name}), true
	}
	if release := get(annotations, "meta.helm.sh/release-name"); release != "" {
		return words("Ask Helm to put it back", "The object belongs to the Helm release "+release+": run helm upgrade with its chart and its values. Do not patch the object: Helm does not see that."), true
	}
	return s, false
}

func delivered(tool string, lines ...command) Step {
	s := words("Ask "+tool+" to put it back", tool+" applies the object, according to its labels and annotations. Do not patch it: "+tool+" would undo that, or lose the field.")
	s.commands(lines...)
	s.note("It applies everything that the object's source has, also commits that are not applied yet.")
	return s
}

// applyFile returns the step that applies the manifest of a claim.
func (c *issue) applyFile(title string) Step {
	s := Step{Title: title}
	file, line := splitAddress(c.Address)
	if line == "" || file == "" {
		return words(title, "It is declared in "+c.place()+": apply it in the usual way.")
	}
	s.commands(command{"kubectl", "diff", "--filename=" + file})
	s.commands(command{"kubectl", "apply", "--filename=" + file})
	s.note("Run it at the top of the declaration, at the commit that is to be live. The file may hold other objects: the first command shows all that changes.")
	s.note("If a kustomization includes the file, use kubectl diff -k and kubectl apply -k with its folder instead: the file alone lacks what the kustomization changes. If it is applied with --server-side or by a pipeline, apply it that way. If an autoscaler sets replicas, remove replicas from the file first.")
	return s
}
