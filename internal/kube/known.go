package kube

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/model"
)

// The roles and bindings that the API server v1.36.3 creates at startup
// (kubernetes.io/bootstrapping: rbac-defaults), read from a real one.
//
//go:embed bootstrap.json
var bootstrapJSON []byte

// Other objects that the API server creates, and objects of installers: kubeadm, kind,
// k3s, and managed clusters.
//
//go:embed installers.json
var installersJSON []byte

// A knownObject describes an object that the API server or an installer creates. A live
// role or binding may grant less, as older versions do, but not more.
type knownObject struct {
	// By is who creates it, for messages.
	By string `json:"by"`
	// Kind, Namespace and Name are those of the object. Name may be a pattern. A
	// Namespace of "*" stands for every namespace.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Rules are the rules of a role. AggregationRule is set for a role that
	// aggregates others.
	Rules           []rule           `json:"rules"`
	AggregationRule *json.RawMessage `json:"aggregationRule"`
	// Role and Subjects are those of a binding: "ClusterRole/view",
	// "ServiceAccount/kube-system/coredns", "Group/system:masters". {namespace}
	// stands for the namespace of the binding.
	Role     string   `json:"role"`
	Subjects []string `json:"subjects"`
	// Images are patterns for the repositories of a workload's images, Account is its
	// service account, and Powers are its privileges on a node (see powers):
	// "hostPath /run*" stands for every path with that prefix.
	Images  []string `json:"images"`
	Account string   `json:"account"`
	Powers  []string `json:"powers"`
	// Keys are patterns for the keys of a ConfigMap's data.
	Keys []string `json:"keys"`
	// Selector is the selector of a Service, as "name=value".
	Selector string `json:"selector"`
}

type rule struct {
	APIGroups       []string `json:"apiGroups"`
	Resources       []string `json:"resources"`
	ResourceNames   []string `json:"resourceNames"`
	NonResourceURLs []string `json:"nonResourceURLs"`
	Verbs           []string `json:"verbs"`
}

// A knownTable contains the known objects by kind.
type knownTable map[string][]knownObject

// knownObjects returns the known objects. The data is part of the program: an
// error in it is found by the package's tests.
var knownObjects = sync.OnceValue(func() knownTable {
	table := knownTable{}
	for _, file := range []struct {
		data []byte
		by   string
	}{{bootstrapJSON, apiServer}, {installersJSON, ""}} {
		var list []knownObject
		if err := json.Unmarshal(file.data, &list); err != nil {
			panic("kube: built-in table of known objects: " + err.Error())
		}
		for _, o := range list {
			if o.By == "" {
				o.By = file.by
			}
			table["kubernetes/"+o.Kind] = append(table["kubernetes/"+o.Kind], o)
		}
	}
	return table
})

// match returns the entry for an object, by its kind, name and content together; nil if
// the object is not in the table.
func (t knownTable) match(r *model.Resource) *knownObject {
	for i := range t[r.Kind] {
		o := &t[r.Kind][i]
		if (o.Namespace == r.Place || o.Namespace == "*" && r.Place != "") && model.Glob(o.Name, r.Name) && o.holds(r) {
			return o
		}
	}
	return nil
}

// reason returns why the object need not be declared; "" for nil.
func (o *knownObject) reason() string {
	if o == nil {
		return ""
	}
	return "made by " + o.By
}

// widened returns a reason if a ClusterRoleBinding of the API server binds other
// subjects than the API server does; "" otherwise.
func (t knownTable) widened(r *model.Resource) string {
	for i := range t[r.Kind] {
		o := &t[r.Kind][i]
		if o.Role != "" && o.By == apiServer && o.Namespace == "" && o.Name == r.Name && !o.binds(r.Value, r.Place) {
			return "it binds others than the API server does"
		}
	}
	return ""
}

// apiServer is the creator of the objects in bootstrap.json, and openShift of some in
// installers.json.
const (
	apiServer = "the API server"
	openShift = "OpenShift"
)

// bound returns why a binding need not be declared: it is in the table, and so is its
// live role, because the name of a role does not show what the role grants. The
// bindings of OpenShift also need an OpenShift cluster. It returns "" otherwise.
func (w *world) bound(binding *model.Resource) string {
	o := knownObjects().match(binding)
	if o == nil || o.By == openShift && !w.openShift || !w.knowsRole(binding) {
		return ""
	}
	return o.reason()
}

// knowsRole reports whether the role of a binding is live and in the table, or roles
// were not read.
func (w *world) knowsRole(binding *model.Resource) bool {
	ref := binding.Value.At("roleRef")
	place, id := "", ref.At("name").Str()
	if ref.At("kind").Str() == "Role" {
		place, id = binding.Place, binding.Place+"/"+id
	}
	kind := "kubernetes/" + ref.At("kind").Str() + "." + rbacGroup
	role := w.byID[model.Ref{Kind: kind, ID: id}]
	if role == nil {
		return !w.covers(kind, place)
	}
	return knownObjects().match(role) != nil
}

// holds reports whether a resource has the content of the object.
func (o *knownObject) holds(r *model.Resource) bool {
	kind, _, _ := strings.Cut(plainKind(r.Kind), ".")
	switch kind {
	case "Role", "ClusterRole":
		return o.grants(r.Value)
	case "RoleBinding", "ClusterRoleBinding":
		return o.binds(r.Value, r.Place)
	case "Deployment", "DaemonSet":
		return o.runs(podSpec(r))
	case "ConfigMap":
		return keysWithin(r.Value.At("data"), o.Keys) && r.Value.At("binaryData").IsEmpty()
	case "ServiceAccount":
		return isBareAccount(r)
	case "Service":
		return o.serves(r.Value.At("spec"))
	case "PriorityClass", "Namespace":
		return true
	}
	return false
}

func keysWithin(data model.Value, keys []string) bool {
	return !slices.ContainsFunc(data.Fields(), func(f model.Field) bool {
		return !model.GlobAny(keys, f.Name)
	})
}

// grants reports whether a role grants nothing that the known one does not.
func (o *knownObject) grants(role model.Value) bool {
	if o.AggregationRule != nil {
		return string(role.At("aggregationRule").AppendJSON(nil)) == string(*o.AggregationRule)
	}
	if _, aggregates := role.Get("aggregationRule"); aggregates {
		return false
	}
	return !slices.ContainsFunc(role.At("rules").Items(), func(live model.Value) bool { return !o.grantsRule(live) })
}

// grantsRule reports whether the known rules allow each right of a live rule.
func (o *knownObject) grantsRule(live model.Value) bool {
	for _, right := range rightsOf(live) {
		if !slices.ContainsFunc(o.Rules, func(known rule) bool { return known.allows(right) }) {
			return false
		}
	}
	return true
}

// A right is one verb on one resource or URL.
type right struct{ group, resource, name, url, verb string }

func rightsOf(rule model.Value) []right {
	var rights []right
	names := texts(rule.At("resourceNames"))
	if len(names) == 0 {
		names = []string{""}
	}
	for _, verb := range texts(rule.At("verbs")) {
		for _, url := range texts(rule.At("nonResourceURLs")) {
			rights = append(rights, right{url: url, verb: verb})
		}
		for _, group := range texts(rule.At("apiGroups")) {
			for _, resource := range texts(rule.At("resources")) {
				for _, name := range names {
					rights = append(rights, right{group: group, resource: resource, name: name, verb: verb})
				}
			}
		}
	}
	return rights
}

func texts(list model.Value) []string {
	all := make([]string, 0, len(list.Items()))
	for _, item := range list.Items() {
		all = append(all, item.Str())
	}
	return all
}

// allows reports whether the rule allows a right.
func (k rule) allows(r right) bool {
	if r.url != "" {
		return among(k.NonResourceURLs, r.url) && among(k.Verbs, r.verb)
	}
	return among(k.APIGroups, r.group) && among(k.Resources, r.resource) && among(k.Verbs, r.verb) &&
		(len(k.ResourceNames) == 0 || slices.Contains(k.ResourceNames, r.name))
}

func among(known []string, text string) bool {
	return slices.Contains(known, text) || slices.Contains(known, "*")
}

// binds reports whether a binding in a namespace binds the known role to known subjects
// only.
func (o *knownObject) binds(binding model.Value, namespace string) bool {
	ref := binding.At("roleRef")
	if ref.At("kind").Str()+"/"+ref.At("name").Str() != o.Role {
		return false
	}
	return !slices.ContainsFunc(binding.At("subjects").Items(), func(s model.Value) bool {
		return !slices.ContainsFunc(o.Subjects, func(known string) bool {
			return strings.ReplaceAll(known, "{namespace}", namespace) == subjectText(s)
		})
	})
}

func subjectText(subject model.Value) string {
	text := subject.At("kind").Str() + "/"
	if namespace := subject.At("namespace").Str(); namespace != "" {
		text += namespace + "/"
	}
	return text + subject.At("name").Str()
}

// runs reports whether a pod runs the known images with no more than the known
// powers.
func (o *knownObject) runs(pod model.Value) bool {
	for _, c := range containersOf(pod) {
		if !model.GlobAny(o.Images, imageRepository(c.At("image").Str())) {
			return false
		}
	}
	for _, power := range powers(pod) {
		if !slices.ContainsFunc(o.Powers, func(pattern string) bool { return matchesPower(pattern, power) }) {
			return false
		}
	}
	return len(containersOf(pod)) > 0 && account(pod) == o.Account
}

// matchesPower reports whether a power matches a known one. A known power that ends in
// "*" matches all powers with that prefix.
func matchesPower(pattern, power string) bool {
	prefix, below := strings.CutSuffix(pattern, "*")
	return pattern == power || below && strings.HasPrefix(power, prefix)
}

// serves reports whether a Service selects the known pods and is not exposed outside of
// the cluster.
func (o *knownObject) serves(spec model.Value) bool {
	name, value, selects := strings.Cut(o.Selector, "=")
	selector := spec.At("selector")
	if selects && (len(selector.Fields()) != 1 || selector.At(name).Str() != value) || !selects && !selector.IsEmpty() {
		return false
	}
	kind := spec.At("type").Str()
	return (kind == "" || kind == "ClusterIP") && spec.At("externalIPs").IsEmpty()
}
