package kube

import (
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// podPath returns the path of the pod specification in objects of a kind; nil if they run
// no pods.
func podPath(kind string) []string {
	switch plainKind(kind) {
	case "Pod":
		return []string{"spec"}
	case "Deployment.apps", "StatefulSet.apps", "DaemonSet.apps", "ReplicaSet.apps", "Job.batch", "ReplicationController",
		"Rollout.argoproj.io", "DeploymentConfig.apps.openshift.io":
		return []string{"spec", "template", "spec"}
	case "CronJob.batch":
		return []string{"spec", "jobTemplate", "spec", "template", "spec"}
	}
	return nil
}

// podTemplate returns the path of the pod template in objects of a kind, with a trailing
// dot unless it is empty; ok reports whether the kind runs pods.
func podTemplate(kind string) (path string, ok bool) {
	names := podPath(kind)
	if len(names) < 2 {
		return "", names != nil
	}
	return strings.Join(names[:len(names)-1], ".") + ".", true
}

// InPodTemplate reports whether a field of objects of the kind is in their pod template or contains
// it.
func InPodTemplate(kind, path string) bool {
	template, ok := podTemplate(kind)
	return ok && (path == "" || strings.HasPrefix(path+".", template) || strings.HasPrefix(template, path+"."))
}

// podSpec returns the specification of the pods that an object runs.
func podSpec(r *model.Resource) model.Value {
	path := podPath(r.Kind)
	if path == nil {
		return model.Value{}
	}
	return r.Value.At(path...)
}

// containersOf returns the containers and init containers of a pod, without ephemeral
// ones.
func containersOf(pod model.Value) []model.Value {
	return slices.Concat(pod.At("initContainers").Items(), pod.At("containers").Items())
}

// powers returns the privileges of a pod on its node that the baseline of the pod security
// standards forbids, sorted. https://kubernetes.io/docs/concepts/security/pod-security-standards/
func powers(pod model.Value) []string {
	var all []string
	for _, name := range hostFields {
		if pod.At(name).Text() == "true" {
			all = append(all, name)
		}
	}
	for _, volume := range pod.At("volumes").Items() {
		if path, ok := volume.Get("hostPath"); ok {
			all = append(all, "hostPath "+path.At("path").Str())
		}
	}
	all = append(all, contextPowers(pod.At("securityContext"))...)
	for _, c := range slices.Concat(containersOf(pod), pod.At("ephemeralContainers").Items()) {
		all = append(all, contextPowers(c.At("securityContext"))...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// contextPowers returns the privileges in a security context.
func contextPowers(context model.Value) []string {
	var all []string
	if context.At("privileged").Text() == "true" {
		all = append(all, "privileged")
	}
	if context.At("windowsOptions", "hostProcess").Text() == "true" {
		all = append(all, "hostProcess")
	}
	if context.At("procMount").Str() == "Unmasked" {
		all = append(all, "procMount")
	}
	for _, capability := range context.At("capabilities", "add").Items() {
		if name := strings.TrimPrefix(strings.ToUpper(capability.Str()), "CAP_"); slices.Contains(strongCapabilities, name) {
			all = append(all, "capability "+name)
		}
	}
	return all
}

var hostFields = []string{"hostNetwork", "hostPID", "hostIPC"}

// strongCapabilities are the capabilities with which a container can take over its node, if
// only by observing other containers.
var strongCapabilities = []string{
	"ALL", "BPF", "DAC_READ_SEARCH", "MAC_ADMIN", "MAC_OVERRIDE", "NET_ADMIN", "PERFMON", "SYS_ADMIN", "SYS_BOOT",
	"SYS_MODULE", "SYS_PTRACE", "SYS_RAWIO", "SYS_TIME", "SYSLOG",
}

// Privileged reports whether r is, or creates, a pod that can take over its node.
func Privileged(r *model.Resource) bool { return len(powers(podSpec(r))) > 0 }

// fromTemplate reports whether the pods that child runs can come from the pod template of owner. If
// the template was written after child was created, its earlier content is unknown, and the result
// is true if the controller replaces pods that do not match. Otherwise, and if the template was
// written in the same second or at an unknown time, the privileges are compared, since a client can
// set the time or wait for a write.
func (w *world) fromTemplate(owner, child *model.Resource) bool {
	have, want := podSpec(child), podSpec(owner)
	if isDebugged(child) || isEdited(child) {
		return false
	}
	if plainKind(child.Kind) == "ReplicaSet.apps" && child.Value.At("spec", "replicas").Text() == "0" {
		return true // An earlier revision, which runs no pods.
	}
	switch at, known := templateWritten(owner); {
	case hasConstantTemplate(owner):
	case at.After(child.Created) && replaces(owner):
		return true
	case !known || !at.Before(child.Created):
		return w.noMorePowers(have, want)
	}
	return w.fits(have, want, hasConstantTemplate(owner))
}

// replaces reports whether the controller of owner replaces or stops objects that do
// not fit its template.
func replaces(owner *model.Resource) bool {
	switch plainKind(owner.Kind) {
	case "Deployment.apps", "Rollout.argoproj.io", "DeploymentConfig.apps.openshift.io":
		return true
	case "DaemonSet.apps", "StatefulSet.apps":
		strategy := owner.Value.At("spec", "updateStrategy")
		return strategy.At("type").Str() != "OnDelete" && strategy.At("rollingUpdate", "partition").IsEmpty()
	}
	return false
}

// isEdited reports whether a tool of people and pipelines wrote the pod specification of
// an object after the object was created.
func isEdited(r *model.Resource) bool {
	path := podPath(r.Kind)
	return slices.ContainsFunc(r.Owners, func(o model.Owner) bool {
		fields := &o.Fields
		for _, name := range path {
			if fields = fields.Child(model.Step{Text: name}); fields == nil {
				return false
			}
		}
		return o.Through == "" && o.At.After(r.Created) && byTool(&o)
	})
}

// fits reports whether a pod runs the containers of its template, with no more
// privileges. With whole, the template cannot have changed since; otherwise fields may
// have been removed from it, because a removal leaves no time in managedFields.
func (w *world) fits(have, want model.Value, whole bool) bool {
	return w.noMorePowers(have, want) && account(have) == account(want) && w.sameContainers(have, want, whole)
}

// isDebugged reports whether a pod has ephemeral containers.
func isDebugged(pod *model.Resource) bool {
	return len(podSpec(pod).At("ephemeralContainers").Items()) > 0
}

// hasConstantTemplate reports whether the pod template of an object cannot have changed
// since the object was created. The generation counts the changes of a specification;
// clients cannot set it, unlike the times in managedFields.
func hasConstantTemplate(r *model.Resource) bool {
	if r.Generation == 1 {
		return true
	}
	switch plainKind(r.Kind) {
	case "Job.batch":
		return true
	case "ReplicaSet.apps", "ReplicationController":
		return slices.ContainsFunc(r.Origin.Owners, func(o model.OwnerReference) bool { return o.Controller })
	}
	return false
}

// templateWritten returns when the pod template of an object was last written, by its
// managedFields; known is false if they have no such entry or no time.
func templateWritten(r *model.Resource) (at time.Time, known bool) {
	for i := range r.Owners {
		o := &r.Owners[i]
		spec := o.Fields.Child(model.Step{Text: "spec"})
		if o.Through != "" || spec == nil || spec.Child(model.Step{Text: podPath(r.Kind)[1]}) == nil {
			continue
		}
		known = true
		if o.At.After(at) {
			at = o.At
		}
	}
	return at, known && !at.IsZero()
}

// noMorePowers reports whether a pod has no more privileges than its template. If the
// cluster mutates pods, NET_ADMIN is allowed: injectors that set up a pod's network add a
// container with it.
func (w *world) noMorePowers(have, want model.Value) bool {
	allowed := powers(want)
	for _, power := range powers(have) {
		if !slices.Contains(allowed, power) && !(w.mutates && power == "capability NET_ADMIN") {
			return false
		}
	}
	return true
}

// account returns the service account of a pod.
func account(pod model.Value) string {
	if name := pod.At("serviceAccountName").Str(); name != "" {
		return name
	}
	return "default"
}

// sameContainers reports whether a pod runs the containers of its template. If the
// cluster mutates pods, the pod may have more containers, and images from a mirror.
func (w *world) sameContainers(have, want model.Value, whole bool) bool {
	template := map[string]model.Value{}
	for _, c := range containersOf(want) {
		template[c.At("name").Str()] = c
	}
	for _, c := range containersOf(have) {
		of, named := template[c.At("name").Str()]
		switch {
		case !named && !w.mutates, named && !w.sameProgram(c, of, whole):
			return false
		}
	}
	return true
}

// sameProgram reports whether two containers run the same image and command, and, with
// whole, have the same values of all fields that determine what runs. If the cluster
// mutates pods, only the names of the images are compared.
func (w *world) sameProgram(have, want model.Value, whole bool) bool {
	from, to := want.At("image").Str(), have.At("image").Str()
	if w.mutates {
		return from == to || imageName(from) == imageName(to)
	}
	same := func(name string) bool { return sameOrEmpty(have.At(name), want.At(name)) }
	if from != to || !same("command") || !same("args") {
		return false
	}
	return !whole || !slices.ContainsFunc(programFields, func(name string) bool { return !same(name) }) && sameOrEmpty(environment(have), environment(want))
}

// programFields are the fields of a container, in addition to its image, command and
// environment, that determine which program runs and that controllers copy unchanged.
var programFields = []string{"workingDir", "envFrom", "lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}

// environment returns the variables of a container without the one that the Job
// controller adds.
func environment(container model.Value) model.Value {
	return model.ListOf(slices.DeleteFunc(slices.Clone(container.At("env").Items()), func(v model.Value) bool {
		return v.At("name").Str() == "JOB_COMPLETION_INDEX"
	})...)
}

func sameOrEmpty(a, b model.Value) bool { return a.Equal(b) || a.IsEmpty() && b.IsEmpty() }

// imageName returns the last part of an image's repository: "nginx" of
// "registry.example.org/library/nginx:1.27@sha256:…".
func imageName(image string) string {
	repository := imageRepository(image)
	return repository[strings.LastIndex(repository, "/")+1:]
}

// imageRepository returns an image without its tag and digest.
func imageRepository(image string) string {
	image, _, _ = strings.Cut(image, "@")
	if colon := strings.LastIndex(image, ":"); colon > strings.LastIndex(image, "/") {
		image = image[:colon]
	}
	return image
}
