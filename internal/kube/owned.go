package kube

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A world contains the objects of a snapshot that show who created other objects.
type world struct {
	// owners are the resources that other resources name as their owners, by kind,
	// name and UID.
	owners map[model.OwnerReference]*model.Resource
	// byID are Services, Endpoints, ServiceAccounts and roles.
	byID map[model.Ref]*model.Resource
	// revisions are the ControllerRevisions by the UID of their owner.
	revisions map[string][]*model.Resource
	// sets are the StatefulSets with volume claim templates.
	sets []*model.Resource
	// certificates are the Certificates of cert-manager, by the namespace and name of
	// their Secret.
	certificates map[string][]model.Ref
	// bundles counts how often each content occurs in the ConfigMaps that are
	// published in every namespace, by the ConfigMap's name.
	bundles map[string]map[string]int
	// certified reports, by content, whether it consists of certificates only.
	certified map[string]bool
	// classes are the names of the default IngressClasses.
	classes []string
	// mutates reports whether the cluster may change pods when they are created.
	mutates bool
	// openShift reports whether the cluster is an OpenShift, or may be one.
	openShift bool
	// covers reports whether a kind was fully read in a namespace.
	covers func(kind, place string) bool
}

const (
	serviceKind     = "kubernetes/Service"
	endpointsKind   = "kubernetes/Endpoints"
	sliceKind       = "kubernetes/EndpointSlice.discovery.k8s.io"
	accountKind     = "kubernetes/ServiceAccount"
	certificateKind = "kubernetes/Certificate.cert-manager.io"
	versionKind     = "kubernetes/ClusterVersion.config.openshift.io"
)

func newWorld(resources []model.Resource, covers func(kind, place string) bool) *world {
	w := &world{
		owners: map[model.OwnerReference]*model.Resource{}, byID: map[model.Ref]*model.Resource{},
		revisions:    map[string][]*model.Resource{},
		certificates: map[string][]model.Ref{}, bundles: map[string]map[string]int{}, certified: map[string]bool{},
		openShift: !covers(versionKind, ""), covers: covers,
	}
	w.mutates = !covers("kubernetes/MutatingWebhookConfiguration.admissionregistration.k8s.io", "") ||
		!covers("kubernetes/MutatingAdmissionPolicy.admissionregistration.k8s.io", "")
	named := map[string]bool{}
	for i := range resources {
		for _, owner := range resources[i].Origin.Owners {
			named[owner.UID] = true
		}
	}
	for i := range resources {
		if r := &resources[i]; r.Origin.UID != "" && named[r.Origin.UID] {
			w.owners[model.OwnerReference{Kind: r.Kind, Name: r.Name, UID: r.Origin.UID}] = r
		}
		w.add(&resources[i])
	}
	return w
}

// add adds a resource that is evidence of the origin of other resources.
func (w *world) add(r *model.Resource) {
	switch plainKind(r.Kind) {
	case "Service", "Endpoints", "ServiceAccount", "Role." + rbacGroup, "ClusterRole." + rbacGroup:
		w.byID[model.Ref{Kind: r.Kind, ID: r.ID}] = r
	case "StatefulSet.apps":
		if len(r.Value.At("spec", "volumeClaimTemplates").Items()) > 0 {
			w.sets = append(w.sets, r)
		}
	case "ControllerRevision.apps":
		for _, owner := range r.Origin.Owners {
			w.revisions[owner.UID] = append(w.revisions[owner.UID], r)
		}
	case "IngressClass.networking.k8s.io":
		if r.Value.At("metadata", "annotations", "ingressclass.kubernetes.io/is-default-class").Str() == "true" {
			w.classes = append(w.classes, r.Name)
		}
	case "Certificate.cert-manager.io":
		secret := r.Place + "/" + r.Value.At("spec", "secretName").Str()
		w.certificates[secret] = append(w.certificates[secret], model.Ref{Kind: r.Kind, ID: r.ID})
	case "ConfigMap":
		w.addBundle(r)
	case "MutatingWebhookConfiguration.admissionregistration.k8s.io":
		w.mutates = w.mutates || slices.ContainsFunc(r.Value.At("webhooks").Items(), func(hook model.Value) bool { return rulesMatchPods(hook.At("rules")) })
	case "ClusterVersion.config.openshift.io":
		w.openShift, w.mutates = true, true // The API server resolves image streams.
	case "MutatingAdmissionPolicy.admissionregistration.k8s.io":
		w.mutates = w.mutates || rulesMatchPods(r.Value.At("spec", "matchConstraints", "resourceRules"))
	}
}

// addBundle counts the certificates that a ConfigMap of a name holds.
func (w *world) addBundle(r *model.Resource) {
	text := bundle(r)
	if text == "" {
		return
	}
	if w.bundles[r.Name] == nil {
		w.bundles[r.Name] = map[string]int{}
	}
	w.bundles[r.Name][text]++
}

// rulesMatchPods reports whether admission rules match pods, or objects that create
// them.
func rulesMatchPods(rules model.Value) bool {
	return slices.ContainsFunc(rules.Items(), func(rule model.Value) bool {
		return slices.ContainsFunc(texts(rule.At("resources")), func(resource string) bool {
			return slices.Contains(podResources, resource)
		})
	})
}

var podResources = []string{"*", "*/*", "pods", "pods/*", "replicasets", "jobs"}

// relate records the creator of a resource, if the snapshot contains it.
func (w *world) relate(r *model.Resource) {
	for _, ref := range r.Origin.Owners {
		if r.SystemOwned == "" {
			w.relateOwner(r, ref)
		}
	}
	if r.SystemOwned != "" {
		return
	}
	switch plainKind(r.Kind) {
	case "PersistentVolumeClaim":
		r.SystemOwned = w.claimedBy(r)
	case "Endpoints":
		r.SystemOwned = w.addressed(r)
	case "ConfigMap":
		r.SystemOwned = w.published(r)
	case "Secret":
		w.relateSecret(r)
	case roleBinding, clusterRoleBinding:
		r.SystemOwned = w.bound(r)
	}
}

// relateOwner records the owner of a resource if the reference is evidence: the owner is live with
// that UID, and is of a kind that creates such objects. An owner of a kind in the table of makers
// is judged itself, and the resource together with it. A custom resource is evidence for the
// resource only if it is declared or automatic.
func (w *world) relateOwner(r *model.Resource, ref model.OwnerReference) {
	owner := w.owners[model.OwnerReference{Kind: ref.Kind, Name: ref.Name, UID: ref.UID}]
	known := makerOf(ref.Kind, r.Kind)
	if owner != nil && isCustom(ref.Kind) && podPath(ref.Kind) != nil && podSpec(owner).IsNull() {
		known = nil // A Rollout can refer to a Deployment instead.
	}
	reason := "owned by " + shortName(ref.Kind, ref.Name)
	switch {
	case !mayMake(known, r, ref):
	case owner == nil:
		r.SystemOwned = w.orphaned(r, ref, reason)
	case owner.Place != "" && owner.Place != r.Place:
	case known == nil:
		r.Makers = append(r.Makers, model.Ref{Kind: owner.Kind, ID: owner.ID})
	case known.made(w, owner, r):
		r.SystemOwned = reason
	}
}

// mayMake reports whether objects of the kind in a reference may create a resource;
// known is the entry of the two kinds in the table of makers, or nil.
func mayMake(known *maker, r *model.Resource, ref model.OwnerReference) bool {
	if known != nil {
		return known.anyReference || ref.Controller
	}
	return isCustom(ref.Kind) && (!isRisky(r) || makesRisky(ref.Kind, r.Kind)) && !madeByHand(r)
}

// orphaned returns why a resource is automatic although its owner is not in the
// snapshot; "" where it is not.
func (w *world) orphaned(r *model.Resource, ref model.OwnerReference, reason string) string {
	switch {
	case isRisky(r):
	case r.Origin.Ending:
		return reason + ", and ends with it"
	case !w.covers(ref.Kind, r.Place):
		return reason + ", of a kind that was not read"
	}
	return ""
}

// A maker is a kind whose controllers create objects of another kind.
type maker struct {
	owner, child string
	// made reports whether the owner created the child, by the content of both.
	made func(w *world, owner, child *model.Resource) bool
	// anyReference reports whether the reference need not name the owner as the
	// controller.
	anyReference bool
}

func makerOf(owner, child string) *maker {
	owner, child = plainKind(owner), plainKind(child)
	for i := range makers {
		if makers[i].owner == owner && makers[i].child == child {
			return &makers[i]
		}
	}
	return nil
}

var makers = []maker{
	{owner: "Deployment.apps", child: "ReplicaSet.apps", made: madeFromTemplate},
	{owner: "Rollout.argoproj.io", child: "ReplicaSet.apps", made: madeFromTemplate},
	{owner: "DeploymentConfig.apps.openshift.io", child: "ReplicationController", made: madeFromTemplate},
	{owner: "ReplicaSet.apps", child: "Pod", made: madeFromTemplate},
	{owner: "ReplicationController", child: "Pod", made: madeFromTemplate},
	{owner: "StatefulSet.apps", child: "Pod", made: madeFromRevision},
	{owner: "DaemonSet.apps", child: "Pod", made: madeFromRevision},
	{owner: "Job.batch", child: "Pod", made: madeFromTemplate},
	{owner: "CronJob.batch", child: "Job.batch", made: scheduled},
	{owner: "StatefulSet.apps", child: "ControllerRevision.apps", made: named},
	{owner: "DaemonSet.apps", child: "ControllerRevision.apps", made: named},
	{owner: "StatefulSet.apps", child: "PersistentVolumeClaim", made: claimed, anyReference: true},
	{owner: "Pod", child: "PersistentVolumeClaim", made: ephemeral},
	{owner: "Pod", child: "ResourceClaim.resource.k8s.io", made: resourceClaim},
	{owner: "Service", child: "EndpointSlice.discovery.k8s.io", made: sliced},
	{owner: "Endpoints", child: "EndpointSlice.discovery.k8s.io", made: mirrored, anyReference: true},
	{owner: "Node", child: "Pod", made: mirrorPod},
	{owner: "Node", child: "CSINode.storage.k8s.io", made: always, anyReference: true},
	{owner: "Ingress.networking.k8s.io", child: "Certificate.cert-manager.io", made: shimmed},
}

func always(*world, *model.Resource, *model.Resource) bool { return true }

// ephemeral reports whether a claim belongs to an ephemeral volume of a pod.
func ephemeral(_ *world, owner, child *model.Resource) bool {
	return slices.ContainsFunc(owner.Value.At("spec", "volumes").Items(), func(volume model.Value) bool {
		_, claims := volume.Get("ephemeral")
		return claims && child.Name == owner.Name+"-"+volume.At("name").Str()
	})
}

// resourceClaim reports whether a pod requests resource claims and the child is named
// after it.
func resourceClaim(w *world, owner, child *model.Resource) bool {
	return len(owner.Value.At("spec", "resourceClaims").Items()) > 0 && named(w, owner, child)
}

// shimmed reports whether an Ingress names the Secret of a Certificate.
func shimmed(_ *world, owner, child *model.Resource) bool {
	secret := child.Value.At("spec", "secretName")
	return slices.ContainsFunc(owner.Value.At("spec", "tls").Items(), func(tls model.Value) bool {
		return secret.Str() != "" && tls.At("secretName").Equal(secret)
	})
}

// maxPrefix is the length to which the API server cuts a name before it adds a random
// suffix.
const maxPrefix = 58

// named reports whether a child is named after its owner.
func named(_ *world, owner, child *model.Resource) bool {
	prefix := owner.Name + "-"
	return strings.HasPrefix(child.Name, prefix[:min(len(prefix), maxPrefix)])
}

// scheduled reports whether a CronJob made a Job. The controller never stops a Job that
// does not fit the template. Such a Job must have the name that the controller gives,
// and a writer other than kubectl. A Job that fits can have any name and writer, as
// after kubectl create job --from.
// https://github.com/kubernetes/kubernetes/blob/v1.33.0/pkg/controller/cronjob/utils.go
func scheduled(w *world, owner, child *model.Resource) bool {
	if !w.fromTemplate(owner, child) {
		return false
	}
	minutes, ok := strings.CutPrefix(child.Name, owner.Name+"-")
	return ok && isNumber(minutes) && !madeByHand(child) || w.fits(podSpec(child), podSpec(owner), true)
}

// isNumber reports whether a text has decimal digits only.
func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// madeFromTemplate reports whether the owner selects the child by its labels and the
// child can come from the owner's template.
func madeFromTemplate(w *world, owner, child *model.Resource) bool {
	return selectsChild(owner, child) && w.fromTemplate(owner, child)
}

// madeFromRevision is madeFromTemplate for controllers that can create pods from an
// earlier template, which they keep as a revision. If the pod names none of the
// owner's revisions, it is compared with the current template.
func madeFromRevision(w *world, owner, child *model.Resource) bool {
	if !selectsChild(owner, child) || isDebugged(child) {
		return false
	}
	name := child.Value.At("metadata", "labels", "controller-revision-hash").Str()
	if plainKind(owner.Kind) == "StatefulSet.apps" {
		if ordinal, cut := strings.CutPrefix(child.Name, owner.Name+"-"); !cut || !isNumber(ordinal) {
			return false // The controller ignores the pod.
		}
	} else {
		name = owner.Name + "-" + name
	}
	for _, r := range w.revisions[owner.Origin.UID] {
		if r.Name == name && r.Place == owner.Place {
			return w.fits(podSpec(child), r.Value.At("data", "spec", "template", "spec"), true) &&
				(w.noMorePowers(podSpec(child), podSpec(owner)) || isReplaced(owner, r, child))
		}
	}
	return w.fromTemplate(owner, child)
}

// isReplaced reports whether the controller of owner creates or keeps pods of an earlier
// revision until it has replaced them. A client that cannot write owner cannot cause it,
// whereas clients can write revisions.
func isReplaced(owner, revision, pod *model.Resource) bool {
	at, _ := templateWritten(owner)
	return owner.Outgoing != "" && owner.Outgoing == revision.Name || at.After(pod.Created) && replaces(owner)
}

// outgoingRevision returns the revision that the controller of a StatefulSet is
// replacing, by the object's status; "" if there is none.
func outgoingRevision(kind string, object model.Value) string {
	current, update := object.At("status", "currentRevision").Str(), object.At("status", "updateRevision").Str()
	if plainKind(kind) != "StatefulSet.apps" || current == update {
		return ""
	}
	return current
}

// selectsChild reports whether the child has the labels of the owner's selector and is
// named after the owner.
func selectsChild(owner, child *model.Resource) bool {
	selector := owner.Value.At("spec", "selector")
	if labels, ok := selector.Get("matchLabels"); ok {
		selector = labels
	}
	labels := child.Value.At("metadata", "labels")
	for _, f := range selector.Fields() {
		if f.Value.Kind() == model.String && labels.At(f.Name).Str() != f.Value.Str() {
			return false
		}
	}
	return named(nil, owner, child)
}

func claimed(_ *world, owner, child *model.Resource) bool { return claimsFor(owner, child) }

// sliced reports whether the EndpointSlice controller maintains the slice. It does so
// for Services with a selector, and overwrites other changes.
func sliced(_ *world, owner, child *model.Resource) bool {
	labels := child.Value.At("metadata", "labels")
	return selects(owner) && labels.At("kubernetes.io/service-name").Str() == owner.Name &&
		labels.At("endpointslice.kubernetes.io/managed-by").Str() == "endpointslice-controller.k8s.io"
}

// mirrored reports whether the slice mirrors Endpoints. The Endpoints are judged
// themselves.
func mirrored(_ *world, owner, child *model.Resource) bool {
	labels := child.Value.At("metadata", "labels")
	return labels.At("kubernetes.io/service-name").Str() == owner.Name &&
		labels.At("endpointslice.kubernetes.io/managed-by").Str() == "endpointslicemirroring-controller.k8s.io"
}

// mirrorPod reports whether a pod is the mirror of a kubelet's static pod. A kubelet
// removes mirrors of pods that it does not run.
func mirrorPod(_ *world, owner, child *model.Resource) bool {
	_, marked := child.Value.At("metadata", "annotations").Get("kubernetes.io/config.mirror")
	return marked && child.Value.At("spec", "nodeName").Str() == owner.Name && strings.HasSuffix(child.Name, "-"+owner.Name)
}

// addressed returns a reason if a controller maintains Endpoints for a Service; ""
// otherwise.
func (w *world) addressed(r *model.Resource) string {
	service := w.byID[model.Ref{Kind: serviceKind, ID: r.ID}]
	switch {
	case selects(service):
		return "made for " + shortName(service.Kind, service.Name)
	case service == nil && !w.covers(serviceKind, r.Place):
		return "made for a Service, which was not read"
	}
	return ""
}

// selects reports whether a Service has a selector.
func selects(service *model.Resource) bool {
	return service != nil && len(service.Value.At("spec", "selector").Fields()) > 0
}

// claimedBy returns a reason if the volume claim template of a StatefulSet made a claim;
// "" otherwise.
func (w *world) claimedBy(r *model.Resource) string {
	for _, set := range w.sets {
		if set.Place == r.Place && claimsFor(set, r) {
			return "made for " + shortName(set.Kind, set.Name)
		}
	}
	return ""
}

// claimsFor reports whether a StatefulSet's volume claim template made a claim. The
// claim is named <template>-<set>-<ordinal> and has the class, access modes and data
// source of the template; its size may have been expanded since.
func claimsFor(set, claim *model.Resource) bool {
	for _, template := range set.Value.At("spec", "volumeClaimTemplates").Items() {
		ordinal, ok := strings.CutPrefix(claim.Name, template.At("metadata", "name").Str()+"-"+set.Name+"-")
		if ok && isNumber(ordinal) && sameClaim(template.At("spec"), claim.Value.At("spec")) {
			return true
		}
	}
	return false
}

func sameClaim(want, have model.Value) bool {
	if class := want.At("storageClassName"); !class.IsNull() && !class.Equal(have.At("storageClassName")) {
		return false
	}
	return sameOrEmpty(want.At("accessModes"), have.At("accessModes")) && sameOrEmpty(want.At("dataSource"), have.At("dataSource"))
}

// published returns who publishes a ConfigMap with certificates in every namespace; ""
// if it is not such a ConfigMap, or if more namespaces have another content.
func (w *world) published(r *model.Resource) string {
	text := bundle(r)
	if text == "" || !w.isCertificates(text) {
		return ""
	}
	for _, count := range w.bundles[r.Name] {
		if count > w.bundles[r.Name][text] {
			return ""
		}
	}
	return bundleKeys[r.Name].reason
}

// isCertificates reports whether a text consists of certificates. It caches the result,
// because most namespaces have the same content.
func (w *world) isCertificates(text string) bool {
	valid, known := w.certified[text]
	if !known {
		valid = isCertificates(text)
		w.certified[text] = valid
	}
	return valid
}

// relateSecret records who created a Secret without an owner reference: cert-manager,
// for a Certificate that names it, or OpenShift, for a service account.
func (w *world) relateSecret(r *model.Resource) {
	switch r.Value.At("type").Str() {
	case "kubernetes.io/tls":
		r.Makers = append(r.Makers, w.certificates[r.ID]...)
		if _, issued := r.Value.At("metadata", "annotations").Get("cert-manager.io/certificate-name"); issued && !w.covers(certificateKind, r.Place) {
			r.SystemOwned = "issued by cert-manager, whose certificates were not read"
		}
	case "kubernetes.io/dockercfg", "kubernetes.io/dockerconfigjson":
		name, _, ok := strings.Cut(r.Name, "-dockercfg-")
		if account := w.byID[model.Ref{Kind: accountKind, ID: r.Place + "/" + name}]; ok && account != nil && namesSecret(account, r.Name) {
			r.Makers = append(r.Makers, model.Ref{Kind: account.Kind, ID: account.ID})
		}
	}
}

func namesSecret(account *model.Resource, secret string) bool {
	return slices.ContainsFunc(account.Value.At("imagePullSecrets").Items(), func(s model.Value) bool {
		return s.At("name").Str() == secret
	})
}

// madeByHand reports whether only tools of people and pipelines wrote an object, so that
// no controller created it.
func madeByHand(r *model.Resource) bool {
	written := false
	for i := range r.Owners {
		o := &r.Owners[i]
		if o.Through != "" {
			continue
		}
		if !byTool(o) {
			return false
		}
		written = true
	}
	return written
}

// byTool reports whether a writer is a tool of people and pipelines.
func byTool(o *model.Owner) bool {
	return o.Edits || o.Delivers || strings.HasPrefix(o.Name, "kubectl")
}
