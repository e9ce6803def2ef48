package report

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// The objects of GitLab's Code Quality report, a subset of the Code Climate format.
type (
	qualityIssue struct {
		Description string          `json:"description"`
		Check       string          `json:"check_name"`
		Fingerprint string          `json:"fingerprint"`
		Severity    string          `json:"severity"`
		Location    qualityLocation `json:"location"`
	}
	qualityLocation struct {
		Path  string       `json:"path"`
		Lines qualityLines `json:"lines"`
	}
	qualityLines struct {
		Begin int `json:"begin"`
	}
)

// writeGitLab writes the findings as a Code Quality report of GitLab.
func writeGitLab(w *bufio.Writer, r *model.Report, o Options) error {
	out := newOutline(r, newClock(o))
	e := emitter{w: w}
	e.open("", "[")
	for _, f := range out.actionable() {
		b := newBlock(f, out.clock, annotationFields)
		e.value("", qualityIssue{
			Description: summary(&b),
			Check:       "driftd/" + string(b.Verdict),
			Fingerprint: qualityFingerprint(f.ID),
			Severity:    qualitySeverity(f.Severity),
			Location:    qualityPlace(f, o.locate(f)),
		})
	}
	e.close("]")
	return e.err
}

// qualityFingerprint returns the fingerprint of a finding, which is the same in all scans.
func qualityFingerprint(id string) string {
	sum := sha256.Sum256([]byte("driftd/" + id))
	return hex.EncodeToString(sum[:16])
}

func qualitySeverity(s model.Severity) string {
	switch s {
	case model.Critical:
		return "blocker"
	case model.High:
		return "critical"
	case model.Medium:
		return "major"
	case model.Low:
		return "minor"
	}
	return "info"
}

// qualityPlace returns the location of a finding. GitLab requires one: without a file it is the
// source and the resource, at line 1.
func qualityPlace(f *model.Finding, at *Location) qualityLocation {
	if at != nil {
		return qualityLocation{at.Path, qualityLines{max(1, at.Line)}}
	}
	name := phrase.Visible(f.Source) + "/" + phrase.Visible(phrase.Kind(f.Kind)) + "/" + phrase.Visible(f.Key.ID)
	return qualityLocation{strings.TrimLeft(name, "/."), qualityLines{1}}
}
