package discipline

import (
	"path"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A Check is a rule for declared files. IDs are stable.
type Check struct {
	ID       string
	Severity model.Severity
	// Title is a short description. Advice is the recommended reaction to a finding.
	Title, Advice string
	// Optional reports whether the check runs only if a selection includes it.
	Optional bool
}

// The IDs of the checks.
const (
	lockMissing        = "terraform/lock-missing"
	providerUnpinned   = "terraform/provider-unpinned"
	moduleUnpinned     = "terraform/module-unpinned"
	implicitDependency = "terraform/implicit-dependency"
	ignoreChanges      = "terraform/ignore-changes"
	ignoredAttribute   = "terraform/ignored-attribute"
	impureFunction     = "terraform/impure-function"
	remoteUnpinned     = "kustomize/remote-unpinned"
	dependencyUnpinned = "chart/dependency-unpinned"
	imageUnpinned      = "image/unpinned"
	imageNoDigest      = "image/no-digest"
	sourceUnpinned     = "flux/source-unpinned"
	suspendedInGit     = "flux/suspended-in-git"
	revisionUnpinned   = "argocd/revision-unpinned"
	manualSync         = "argocd/manual-sync"
	gitDirty           = "git/dirty"
	gitUnpushed        = "git/unpushed"
	gitBehind          = "git/behind"
	gitDiverged        = "git/diverged"
	gitRefOld          = "git/ref-old"
	acceptanceNoEnd    = "acceptance/no-end"
	exemptionInvalid   = "exemption/invalid"
)

// Checks returns all checks, in the order of the documentation.
func Checks() []Check {
	return []Check{
		{lockMissing, model.Medium, "The lock file of a root is missing, or lacks a provider that the root requires",
			"Run terraform init (or tofu init), and commit .terraform.lock.hcl.", false},
		{providerUnpinned, model.Medium, "A provider has neither a version constraint nor an entry in a lock file",
			"Add a version to required_providers.", false},
		{moduleUnpinned, model.Medium, "A module is not called at an exact version, a tag or a full commit hash",
			"Set version to one version, or ref to a tag or a full commit hash. The lock file has no modules.", false},
		{implicitDependency, model.Info, "A data source reads what is declared elsewhere",
			"Make sure that the plan may change when the other side does; exempt the line with the reason.", false},
		{ignoreChanges, model.Medium, "ignore_changes = all hides every change of a resource",
			"List the attributes that another system sets, or remove the line.", false},
		{ignoredAttribute, model.Info, "ignore_changes hides the changes of an attribute",
			"Remove it when no other system sets the attribute any more.", true},
		{impureFunction, model.Low, "An argument has another value in each plan, so that no plan is empty",
			"Set the value in a variable, keep it in the state, or list the argument in ignore_changes.", false},
		{remoteUnpinned, model.Medium, "A remote base is not fetched at a tag or a full commit hash",
			"Add ?ref= with a tag or a full commit hash, or copy the base.", false},
		{dependencyUnpinned, model.Medium, "A chart depends on a range of versions, and no Chart.lock has the one to use",
			"Run helm dependency update, and commit Chart.lock; or set one version.", false},
		{imageUnpinned, model.Medium, "An image has no tag, or the tag latest",
			"Set the tag of one version, or a digest.", false},
		{imageNoDigest, model.Info, "An image has a tag and no digest",
			"Add @sha256: and the digest, because a tag can be moved.", true},
		{sourceUnpinned, model.Medium, "A source or a chart of Flux follows a range, a moving tag or a branch of another repository",
			"Set one version, tag, commit or digest, so that each change has a commit in this repository.", false},
		{suspendedInGit, model.Medium, "An object of Flux is declared with suspend: true",
			"Remove it when the pause is over; exempt the line with the reason until then.", false},
		{revisionUnpinned, model.Medium, "An Application follows a range of charts or a branch of another repository",
			"Set targetRevision to one version, a tag or a full commit hash.", false},
		{manualSync, model.Info, "An Application has no automated sync",
			"Set syncPolicy.automated, or exempt the line with the reason.", false},
		{gitDirty, model.Low, "Files of the work tree are not as in the last commit",
			"Commit the changes, or discard them.", false},
		{gitUnpushed, model.Low, "The work tree has commits that the remote lacks",
			"Push them.", false},
		{gitBehind, model.Low, "The upstream branch has commits that the work tree lacks, as of the last fetch",
			"Pull them.", false},
		{gitDiverged, model.Medium, "The work tree and the upstream branch each have commits that the other lacks",
			"Rebase or merge, and push.", false},
		{gitRefOld, model.Low, "The last commit is older than 90 days, and the default branch has newer ones",
			"Merge the default branch, or check it out; for a declaration, set ref to a newer commit, tag or branch.", false},
		{acceptanceNoEnd, model.Info, "An acceptance in a file has no end within five years",
			"Set until to the day on which it is to be reviewed, or exempt the line with the reason.", false},
		{exemptionInvalid, model.Low, "A comment driftd:ignore has no reason, or names no check",
			"Write # driftd:ignore CHECK-ID and the reason.", false},
	}
}

// IsAboutPins reports whether the check with the given ID concerns versions that are not pinned.
func IsAboutPins(id string) bool {
	switch id {
	case lockMissing, providerUnpinned, moduleUnpinned, remoteUnpinned, dependencyUnpinned, imageUnpinned, sourceUnpinned, revisionUnpinned:
		return true
	}
	return false
}

// A Selection is a list of patterns of check IDs, such as terraform/*, !git/*, and * for all. The last
// pattern that matches applies. If the first pattern excludes, or there are none, all checks that are not
// optional are selected initially.
type Selection []string

// Unknown returns the patterns that match no check.
func (s Selection) Unknown() []string {
	return slices.DeleteFunc(slices.Clone(s), func(p string) bool {
		return slices.ContainsFunc(Checks(), func(c Check) bool { return fits(p, c.ID) })
	})
}

// ChecksPins reports whether all checks about pinned versions are selected.
func (s Selection) ChecksPins() bool {
	return !slices.ContainsFunc(Checks(), func(c Check) bool { return IsAboutPins(c.ID) && !s.includes(&c) })
}

// includes reports whether a check is selected. An optional one is only by its own ID.
func (s Selection) includes(c *Check) bool {
	included := !c.Optional && (len(s) == 0 || strings.HasPrefix(s[0], "!"))
	for _, p := range s {
		if fits(p, c.ID) && (!c.Optional || strings.TrimPrefix(p, "!") == c.ID) {
			included = !strings.HasPrefix(p, "!")
		}
	}
	return included
}

func fits(pattern, id string) bool {
	if pattern = strings.TrimPrefix(pattern, "!"); pattern == "*" {
		return true
	}
	ok, err := path.Match(pattern, id)
	return ok && err == nil
}
