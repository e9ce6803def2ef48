package kube

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// ClaimOptions contains the parts of a claim that are not in its manifest, and options for reading
// it.
type ClaimOptions struct {
	Declaration      string
	Address          string
	DefaultNamespace string
	// RequiredNamespace is the only namespace that a manifest may name, as with kubectl apply
	// --namespace; "" allows any. A claim in another namespace is unchecked.
	RequiredNamespace string
	Sealer            model.Sealer
	// Plain reports whether secrets are left as they are instead of being sealed.
	Plain bool
	// Kinds maps the names of known kinds to the kinds: those of Builtin, and those that the
	// declaration itself defines (KindsFromCRD).
	Kinds map[string]*model.Kind
}

// SchemaOf returns the schema of a kind; nil if the kind is unknown.
func (o *ClaimOptions) SchemaOf(kind string) *model.Schema {
	if known := o.Kinds[kind]; known != nil {
		return known.Schema
	}
	return nil
}

// ErrUnrendered is returned for a manifest whose name is a template.
var ErrUnrendered = errors.New("is named by a template that was not rendered: declare what the template renders to")

// Unrendered reports whether name contains a template, as of Helm or of Flux substitutions.
func Unrendered(name string) bool {
	return strings.Contains(name, "{{") || strings.Contains(name, "${")
}

// isHook reports whether the object is a hook of Helm or Argo CD: it is made for a
// moment of a deploy, and may be removed after it.
func isHook(object model.Value) bool {
	annotations := object.At("metadata", "annotations")
	return annotations.At("helm.sh/hook").Str() != "" || annotations.At("argocd.argoproj.io/hook").Str() != ""
}

// mayBeAbsent reports whether the object is removed after it served its purpose: a hook, or a Job that its controller deletes some
// time after it has ended.
func mayBeAbsent(object model.Value) bool {
	return isHook(object) || KindName(object.At("apiVersion").Str(), object.At("kind").Str()) == "kubernetes/Job.batch" &&
		!object.At("spec", "ttlSecondsAfterFinished").IsNull()
}

// NewClaim converts a manifest to a claim. It seals secrets, unless o.Plain is set. The claim of a
// document that SOPS encrypted is unchecked. NewClaim returns ErrNotObject if the manifest has no
// apiVersion, kind or name, and ErrUnrendered if its name is a template.
func NewClaim(object model.Value, o ClaimOptions) (model.Claim, error) {
	id, err := identify(object)
	switch {
	case err != nil:
		return model.Claim{}, err
	case Unrendered(id.apiVersion) || Unrendered(id.kind) || Unrendered(id.namespace) || Unrendered(id.name):
		return model.Claim{}, ErrUnrendered
	}
	object, apiVersion := upgrade(object)
	c := model.Claim{
		Declaration: o.Declaration, Address: o.Address, Version: apiVersion, Name: id.name,
		Kind: KindName(id.apiVersion, id.kind), ClaimApply: model.ClaimApply{MayBeAbsent: mayBeAbsent(object)},
	}
	known := o.Kinds[c.Kind]
	if known == nil {
		// Tools that apply manifests add their namespace to all kinds whose scope they cannot find out, and the server ignores it.
		c.AltID, c.PlaceAssumed = id.name, id.namespace == ""
	}
	switch {
	case known != nil && !known.Namespaced:
		id.namespace = ""
	case id.namespace == "":
		id.namespace = cmp.Or(o.RequiredNamespace, o.DefaultNamespace, "default")
	}
	if id.namespace != "" && o.RequiredNamespace != "" && id.namespace != o.RequiredNamespace {
		c.Unchecked = fmt.Sprintf("the manifest's namespace %q does not match the namespace %q that was asked for, and kubectl would refuse it; "+
			"scan it with --namespace %s", id.namespace, o.RequiredNamespace, id.namespace)
	}
	if _, ok := object.Get("aggregationRule"); ok {
		c.Delegated = append(c.Delegated, aggregated())
	}
	c.ID, c.Place = id.id(), id.namespace
	// A chart may be applied without Helm's records. A value of a release that git lacks is drift.
	c.OnlyLive, c.Complete = c.Kind == ReleaseKind, c.Kind == ReleaseKind
	if why := incomplete(c.Kind, object); why != "" {
		c.Unchecked = why
		return c, nil
	}
	c.Value = o.value(c.Kind, object)
	return c, nil
}

// incomplete returns why the value of a manifest is not what is applied; "" if it is.
func incomplete(kind string, object model.Value) string {
	if _, ok := object.Get("sops"); ok {
		return "encrypted with SOPS; driftd does not decrypt it"
	}
	if hasReference(kind, object) {
		return "has a reference to 1Password (op://) that op inject replaces; driftd does not read the secret"
	}
	return ""
}

// value returns the declared value of an object of a kind.
func (o *ClaimOptions) value(kind string, object model.Value) model.Value {
	v := content(kind, plainSecret(kind, object))
	if o.Plain {
		return v
	}
	return seal(kind, v, o.Sealer)
}

// upgrade converts a manifest of an old version whose kind is read in a newer one. For example,
// autoscaling/v1 is read as v2.
func upgrade(object model.Value) (upgraded model.Value, apiVersion string) {
	apiVersion = object.At("apiVersion").Str()
	if object.At("kind").Str() != "HorizontalPodAutoscaler" || apiVersion != "autoscaling/v1" {
		return object, apiVersion
	}
	const current = "autoscaling/v2"
	spec := object.At("spec")
	if percent, ok := spec.Get("targetCPUUtilizationPercentage"); ok {
		target := model.MapOf(model.Field{Name: "type", Value: model.StringOf("Utilization")},
			model.Field{Name: "averageUtilization", Value: percent})
		cpu := model.MapOf(model.Field{Name: "name", Value: model.StringOf("cpu")}, model.Field{Name: "target", Value: target})
		metric := model.MapOf(model.Field{Name: "type", Value: model.StringOf("Resource")}, model.Field{Name: "resource", Value: cpu})
		spec = spec.Without("targetCPUUtilizationPercentage").With("metrics", model.ListOf(metric))
		object = object.With("spec", spec)
	}
	return object, current
}

// RelateClaims sorts the claims of a declaration and sets the parts of each that depend on others:
// the fields that a declared autoscaler determines.
func RelateClaims(claims []model.Claim) {
	slices.SortStableFunc(claims, func(a, b model.Claim) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Address, b.Address))
	})
	targets := map[string]model.Delegation{}
	for _, c := range claims {
		if isAutoscaler(c.Kind) {
			targets[scaleTarget(c.Place, c.Value)] = scaledBy(c.Kind, c.Name, c.Value)
		}
	}
	for i := range claims {
		c := &claims[i]
		if d, ok := targets[c.Kind+" "+c.ID]; ok {
			c.Delegated = append(c.Delegated, d)
		}
	}
}
