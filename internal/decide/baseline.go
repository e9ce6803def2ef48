package decide

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Baseline is a request to accept all open findings in one decision.
type Baseline struct {
	// Token is the Token of the Preview that the person confirmed.
	Token string
	// Incomplete reports whether the person confirmed that not everything was checked.
	Incomplete bool
}

// A Preview contains the numbers of findings that a baseline would accept, and that it would leave open.
type Preview struct {
	// Accepts are the numbers of findings that it would accept, by severity. Total is their sum.
	Accepts map[model.Severity]int `json:"accepts"`
	Total   int                    `json:"total"`
	// Critical, Unchecked, Unread and Decided are the numbers of findings that it would leave open: the
	// critical ones, those that could not be checked, those that the last scan could not read again, and
	// those with a decision.
	Critical  int `json:"critical"`
	Unchecked int `json:"unchecked"`
	Unread    int `json:"unread"`
	Decided   int `json:"decided"`
	// NotChecked is a description of the parts that the last scan could not check, or "" if it checked
	// everything.
	NotChecked string `json:"not_checked"`
	// Token identifies the findings that the baseline would accept, with their present content.
	Token string `json:"token"`

	findings []model.Finding
}

// PreviewBaseline returns the preview of a baseline of the open findings after the last run. It ignores
// findings that are hidden or do not belong to the sources and declarations of the run.
func PreviewBaseline(open []model.Finding, run *model.Run) Preview {
	p := Preview{Accepts: map[model.Severity]int{}, NotChecked: run.NotChecked.String()}
	if !run.Complete && p.NotChecked == "" {
		p.NotChecked = "not everything"
	}
	for i := range open {
		f := &open[i]
		switch {
		case f.Hidden != "" || !run.Includes(f):
		case f.Decision != nil:
			p.Decided++
		case f.Verdict == model.Unchecked:
			p.Unchecked++
		case !seenBy(run, f):
			p.Unread++
		case f.Severity == model.Critical:
			p.Critical++
		default:
			p.Accepts[f.Severity]++
			p.findings = append(p.findings, *f)
		}
	}
	slices.SortFunc(p.findings, func(a, b model.Finding) int { return strings.Compare(a.ID, b.ID) })
	p.Total, p.Token = len(p.findings), tokenOf(p.findings)
	return p
}

// seenBy reports whether the run looked at a finding: its source, the scope that it lies
// in and its declaration were read, and not from an old copy.
func seenBy(run *model.Run, f *model.Finding) bool {
	unread := func(d model.DeclarationRun) bool { return d.Name == f.Declaration && d.Err != "" }
	i := slices.IndexFunc(run.Sources, func(s model.SourceRun) bool { return s.Name == f.Source })
	return i >= 0 && run.Sources[i].Err == "" && !f.LastSeen.Before(run.Sources[i].Taken) &&
		!slices.ContainsFunc(run.Declarations, unread) && !slices.ContainsFunc(run.Coverage, func(c model.Coverage) bool { return c.Failed() && isAbout(c, f) })
}

// isAbout reports whether a finding lies in the scope of a coverage.
func isAbout(c model.Coverage, f *model.Finding) bool {
	c.Complete = true
	covered, _ := (&model.Snapshot{Coverage: []model.Coverage{c}}).Covers(f.Kind, f.Place)
	return covered && c.Source == f.Source
}

func tokenOf(findings []model.Finding) string {
	h := sha256.New()
	for i := range findings {
		f := &findings[i]
		fmt.Fprintf(h, "%s\x00%s\x00%s\n", f.ID, f.Basis, f.Severity)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// Make makes the decision of a baseline. It reads the ID from random. It returns a *Refusal if the request
// is not possible, or the error of random.
func (p *Preview) Make(r Request, now time.Time, random io.Reader) (model.Decision, error) {
	r.Kind, r.Reason, r.Owner, r.Until = model.Accept, strings.TrimSpace(r.Reason), strings.TrimSpace(r.Owner), strings.TrimSpace(r.Until)
	if r.Owner == "" {
		r.Owner = r.By
	}
	if err := r.check(); err != nil {
		return model.Decision{}, err
	}
	until, err := r.end(now)
	if err != nil {
		return model.Decision{}, err
	}
	if err := p.refuse(r.Baseline, until); err != nil {
		return model.Decision{}, err
	}
	d := model.Decision{Kind: r.Kind, Reason: r.Reason, Owner: r.Owner, By: r.By, At: now, Via: r.Via, Until: until, Covers: p.Total}
	for i := range p.findings {
		f := &p.findings[i]
		if err := open(f); err != nil {
			return model.Decision{}, err
		}
		d.Covered = append(d.Covered, model.Covered{Finding: f.ID, Basis: f.Basis, Severity: f.Severity})
	}
	d.ID, err = newID(random)
	return d, err
}

// refuse returns why the baseline cannot be made; nil where it can.
func (p *Preview) refuse(b *Baseline, until time.Time) error {
	switch {
	case until.IsZero():
		return &Refusal{"a baseline cannot hold forever", "say when it ends: nobody looked at each of its findings"}
	case p.NotChecked != "" && !b.Incomplete:
		return &Refusal{"the last scan did not check everything: " + p.NotChecked,
			"mend that and scan again, or add --incomplete: what was not checked is not accepted"}
	case p.Total == 0:
		return &Refusal{"there is nothing to accept", "`driftd findings list` shows what is open"}
	case p.Token != b.Token:
		return &Refusal{"what is open changed since it was counted", "look at the counts again"}
	}
	return nil
}
