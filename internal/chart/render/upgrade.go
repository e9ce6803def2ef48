package render

import (
	"bytes"
	"path"

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

// usedBy returns what the templates of a chart and of its subcharts use. Another text with these names counts, too: to render
// once more than necessary does no harm.
func usedBy(c *chartv2.Chart) (u releaseUse) {
	for _, t := range c.Templates {
		if path.Base(t.Name) == "NOTES.txt" {
			continue
		}
		u.revision = u.revision || bytes.Contains(t.Data, []byte(".Revision"))
		u.upgrade = u.upgrade || u.revision || bytes.Contains(t.Data, []byte("IsInstall")) || bytes.Contains(t.Data, []byte("IsUpgrade"))
	}
	for _, sub := range c.Dependencies() {
		below := usedBy(sub)
		u.upgrade, u.revision = u.upgrade || below.upgrade, u.revision || below.revision
	}
	return u
}
