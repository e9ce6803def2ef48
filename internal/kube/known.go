package kube

import (
	_ "embed"
	"encoding/json"
	"slices"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/model"
)

// The roles and bindings that the API server v1.36.3 makes when it starts
// (kubernetes.io/bootstrapping: rbac-defaults), read from a real one.
//
//go:embed bootstrap.json
var bootstrapJSON []byte

// What the API server makes beside them, and what installers put into a cluster:
// kubeadm, kind, k3s, and the clouds.
//
//go:embed installers.json
var installersJSON []byte

// A knownObject is what an object that somebody else makes holds. Of roles and
// bindings a live one may grant less, as older versions do, and never more.
type knownObject struct {
	// By names who makes it, for messages.
	By string `json:"by"`
	// Kind, Namespace and Name are the object's; Name may be a pattern, and
	// Namespace "*" for every one.
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	// Rules are what a role grants; AggregationRule is how others do.
	Rules           []rule           `json:"rules"`
	AggregationRule *json.RawMessage `json:"aggregationRule"`
	// Role and Subjects are what a binding binds: "ClusterRole/view",
	// "ServiceAccount/kube-system/coredns", "Group/system:masters"; {namespace}
	// stands for the binding's own.
	Role     string   `json:"role"`
	Subjects []string `json:"subjects"`
	// Images are patterns of the repositories of a workload's images, Account its service
	// account, Powers what it may do to a node: "hostPath /run*" stands for every
	// path that begins so.
	Images  []string `json:"images"`
	Account string   `json:"account"`
	Powers  []string `json:"powers"`
	// Keys are patterns of those of a ConfigMap's data.
	Keys []string `json:"keys"`
	// Selector is the pods that a Service leads to, as "name=value".
	Selector string `json:"selector"`
}

type rule struct {
	APIGroups       []string `json:"apiGroups"`
	Resources       []string `json:"resources"`
	ResourceNames   []string `json:"resourceNames"`
	NonResourceURLs []string `json:"nonResourceURLs"`
	Verbs           []string `json:"verbs"`
}

// A knownTable is the known objects by kind.
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

// match says who makes an object, by its kind, name and content together; ""
// when nobody is known to.
func (t knownTable) match(r *model.Resource) string {
	for i := range t[r.Kind] {
		o := &t[r.Kind][i]
		if (o.Namespace == r.Place || o.Namespace == "*" && r.Place != "") && model.Glob(o.Name, r.Name) && o.holds(r) {
			return "made by " + o.By
		}
	}
	return ""
}

// widened returns why a ClusterRoleBinding that the API server makes is not as it
// made it: it gives its role to others, too; "" otherwise.
func (t knownTable) widened(r *model.Resource) string {
	for i := range t[r.Kind] {
		o := &t[r.Kind][i]
		if o.Role != "" && o.By == apiServer && o.Namespace == "" && o.Name == r.Name && !o.binds(r.Value, r.Place) {
			return "it binds others than the API server does"
		}
	}
	return ""
}

// apiServer is who makes what is in bootstrap.json.
const apiServer = "the API server"

// holds reports whether a resource has the object's content.
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
		return !slices.ContainsFunc(keys, func(pattern string) bool { return model.Glob(pattern, f.Name) })
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

// grantsRule reports whether each right of a live rule is one of the known ones.
func (o *knownObject) grantsRule(live model.Value) bool {
	for _, right := range rightsOf(live) {
		if !slices.ContainsFunc(o.Rules, func(known rule) bool { return known.allows(right) }) {
			return false
		}
	}
	return true
}

// A right is one verb on one thing.
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

// binds reports whether a binding in a namespace gives the known role to known
// subjects only.
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
		if !slices.ContainsFunc(o.Images, func(pattern string) bool { return model.Glob(pattern, imageRepository(c.At("image").Str())) }) {
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

// matchesPower compares a power with a known one, which stands for all that begin
// like it where it ends in "*".
func matchesPower(pattern, power string) bool {
	prefix, below := strings.CutSuffix(pattern, "*")
	return pattern == power || below && strings.HasPrefix(power, prefix)
}

// serves reports whether a Service leads to the known pods, and is not exposed.
func (o *knownObject) serves(spec model.Value) bool {
	name, value, selects := strings.Cut(o.Selector, "=")
	selector := spec.At("selector")
	if selects && (len(selector.Fields()) != 1 || selector.At(name).Str() != value) || !selects && !selector.IsEmpty() {
		return false
	}
	kind := spec.At("type").Str()
	return (kind == "" || kind == "ClusterIP") && spec.At("externalIPs").IsEmpty()
}
