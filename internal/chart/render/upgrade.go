package render

import (
	"path"
	"regexp"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
)

// A revision is the number of a revision of a release. The first one is an installation, and each other one an
// upgrade.
type revision int

const (
	installation revision = 1
	upgrade      revision = 2
)

func (r revision) isUpgrade() bool { return r > installation }

// after returns the revision after n further upgrades; an installation is the first one at all times.
func (r revision) after(n int) revision {
	if !r.isUpgrade() {
		return r
	}
	return r + revision(n)
}

// A releaseUse is what templates use of a release that differs between its revisions: whether it is upgraded,
// and the number of the revision.
type releaseUse struct{ upgrade, revision bool }

// These match uses in templates, also of names for a part of the values that are not those of .Release: to render
// once more than necessary does no harm.
var (
	usesUpgrade  = regexp.MustCompile(`\bIs(Install|Upgrade)\b`)
	usesRevision = regexp.MustCompile(`\.Revision\b`)
)

// usedBy returns what the templates of a chart and of its subcharts use.
func usedBy(c *chartv2.Chart) (u releaseUse) {
	for _, t := range c.Templates {
		if path.Base(t.Name) == "NOTES.txt" {
			continue
		}
		u.revision = u.revision || usesRevision.Match(t.Data)
		u.upgrade = u.upgrade || u.revision || usesUpgrade.Match(t.Data)
	}
	for _, sub := range c.Dependencies() {
		below := usedBy(sub)
		u.upgrade, u.revision = u.upgrade || below.upgrade, u.revision || below.revision
	}
	return u
}
