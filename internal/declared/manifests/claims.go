package manifests

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/model"
)

// declaration returns the claims of c. Kinds that the declaration defines are read first,
// because claims on their objects need them.
func (l *loader) declaration(ctx context.Context, t *tree, c content) (model.Declaration, error) {
	known, err := kube.Builtin()
	if err != nil {
		return model.Declaration{}, err
	}
	own := map[string]*model.Kind{}
	for _, o := range c.objects {
		maps.Copy(own, kube.KindsFromCRD(o.value))
	}
	options := kube.ClaimOptions{
		Declaration: l.env.Name, DefaultNamespace: l.config.DefaultNamespace, RequiredNamespace: l.config.RequiredNamespace,
		Sealer: l.env.Sealer, Plain: l.plain, Kinds: known,
	}
	maps.Copy(options.Kinds, own)
	touches := t.lastChanges(ctx, c.files())
	maps.Copy(touches, t.others.lastChanges())
	claims := make([]model.Claim, 0, len(c.objects))
	delivered := l.deliveries(c.objects)
	for _, o := range c.objects {
		value, unchecked := delivered.of(o)
		options.Address, options.DefaultNamespace = o.address, cmp.Or(o.namespace, l.config.DefaultNamespace)
		if l.argocd != nil && hasNoPlace(o, options.Kinds) {
			c.bounded(o.address, []model.Extent{{Kind: "kubernetes/" + kindOf(value), Name: value.At("metadata", "name").Str()}}, "%s %s has no namespace, and the destination of its Application has none: Argo CD refuses it", value.At("kind").Str(), shown(nameOf(value)))
			continue
		}
		claim, err := kube.NewClaim(value, options)
		if err != nil {
			c.bounded(o.address, []model.Extent{extentOf(value)}, "%s: %s", value.At("kind").Str(), cmp.Or(unchecked, identityError(err, value)))
			continue
		}
		claim.Unchecked = cmp.Or(claim.Unchecked, unchecked, o.unchecked)
		claim.InstalledBy, claim.Fetch, claim.Unenforced = o.installedBy, o.fetch, o.unenforced
		if err := cmp.Or(o.leftToChance(&claim, options), o.leftToCluster(&claim, options)); err != nil {
			return model.Declaration{}, fmt.Errorf("%s: %w", o.address, err)
		}
		claim.AlsoIn, claim.AuditEvents = t.alsoIn(o), lastEvents(touches, o.files)
		if o.found != nil {
			claim.AlsoIn, claim.AuditEvents = o.found.alsoIn, o.found.events
		}
		claims = append(claims, claim)
	}
	kube.RelateClaims(claims)
	governed := kube.Governed(l.governing(claims), placesOf(c.problems), l.config.Namespaces)
	return model.Declaration{
		Repository: l.repositoryURL(),
		Name:       l.env.Name, Governs: l.env.Governs, Revision: t.revision, Revised: t.others.lastRevised(t.revised),
		Claims: claims, Scopes: append(governed.Scopes, l.argocd.scopes(claims)...), NotGoverned: l.notGoverned(governed.Shared), Watches: true,
		Problems: sortProblems(c.problems), Notes: c.notes(), Kinds: own,
		DeployWindow: l.config.DeployWindow, ApplyBeforeMerge: l.config.ApplyBeforeMerge,
	}, nil
}

// repositoryURL returns the URL of the repository; "" if addresses are not paths in it.
func (l *loader) repositoryURL() string {
	if l.config.Label != "" || l.fetched != nil {
		return ""
	}
	return l.url()
}

// hasNoPlace reports whether neither an object of an Application nor its destination has a namespace,
// and the object's kind needs one. Objects of Argo CD are in its own.
func hasNoPlace(o object, kinds map[string]*model.Kind) bool {
	known := kinds["kubernetes/"+kindOf(o.value)]
	return known != nil && known.Namespaced && o.namespace == "" && o.value.At("metadata", "namespace").Str() == "" && !isArgo(o.value)
}

// deliveries returns the deliveries whose changes are not rendered.
func (l *loader) deliveries(objects []object) deliveryList {
	if l.argocd != nil || l.flux != nil {
		return nil
	}
	return deliveries(objects, l.url())
}

// A provenance is where an object of another commit is written, and who wrote it last.
type provenance struct {
	alsoIn []string
	events []model.AuditEvent
}

// alsoIn returns the addresses of the files that determine an object, without that of its own
// address.
func (p place) alsoIn(o object) []string {
	var also []string
	for _, name := range o.files {
		if !p.isAt(name, o.address) {
			also = append(also, p.address(name))
		}
	}
	return also
}

// url returns the URL of the repository, or "" for a folder.
func (l *loader) url() string {
	if l.repository == nil {
		return ""
	}
	return l.repository.URL()
}

// notGoverned returns the namespaces with the step that makes them governed.
func (l *loader) notGoverned(namespaces []string) []model.NotGoverned {
	var all []model.NotGoverned
	for _, name := range namespaces {
		all = append(all, model.NotGoverned{Place: name,
			Remedy: fmt.Sprintf("declare the Namespace, or set namespaces: [%s] on %s", name, l.env.Name)})
	}
	return all
}

// governing returns the claims that make their namespaces governed. Claims in another namespace
// than the required one cannot be applied, and Applications are in the namespace of Argo CD, which
// may be installed by other means.
func (l *loader) governing(claims []model.Claim) []model.Claim {
	required := l.config.RequiredNamespace
	// An object that depends on the API versions of the cluster may not exist.
	claims = slices.DeleteFunc(slices.Clone(claims), func(c model.Claim) bool { return c.OnlyLive && c.Kind != kube.ReleaseKind })
	if l.argocd != nil {
		return slices.DeleteFunc(claims, func(c model.Claim) bool { return isArgoKind(c.Kind) })
	}
	if required == "" {
		return claims
	}
	return slices.DeleteFunc(claims, func(c model.Claim) bool { return c.Place != "" && c.Place != required })
}

// files returns the files of all objects.
func (c *content) files() []string {
	seen := map[string]bool{}
	for _, o := range c.objects {
		if o.found != nil {
			continue
		}
		for _, file := range o.files {
			seen[file] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// identityError returns why an object with a kind has no identity.
func identityError(err error, object model.Value) string {
	if errors.Is(err, kube.ErrUnrendered) {
		return err.Error()
	}
	if object.At("metadata", "generateName").Str() != "" {
		return "has generateName and no name: each apply creates another object, and none can be compared"
	}
	return "has no metadata.name; give it one"
}

func sortProblems(problems []model.Problem) []model.Problem {
	slices.SortFunc(problems, func(a, b model.Problem) int {
		return cmp.Or(cmp.Compare(a.Address, b.Address), cmp.Compare(a.Reason, b.Reason))
	})
	return slices.CompactFunc(problems, func(a, b model.Problem) bool { return a.Address == b.Address && a.Reason == b.Reason })
}
