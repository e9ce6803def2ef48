package report

import (
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A group is one finding, or the findings of one cause, worst first. A report shows
// the first one.
type group []*model.Finding

// groupsOf groups findings of one cause that have the same status.
func groupsOf(findings []*model.Finding) []group {
	byCause := model.ByCause(findings, func(f *model.Finding) (model.Cause, string) { return f.Cause(), status(f) })
	all := make([]group, len(byCause))
	for i, findings := range byCause {
		all[i] = findings
	}
	return all
}

// status is equal for findings that are hidden, flapping, resolved and decided about
// in the same way.
func status(f *model.Finding) string {
	parts := []string{f.Hidden, strconv.FormatBool(f.Flapping)}
	if !f.Resolved.IsZero() {
		parts = append(parts, phrase.Stamp(f.Resolved))
	}
	if d := f.Decision; d != nil {
		parts = append(parts, string(d.Kind), d.By, phrase.Phrase{}.Until(d.Until).String(), d.Reason)
	}
	return strings.Join(parts, "\x00")
}

// alike names the other findings of the same request; nil for none.
func (g group) alike() phrase.Phrase {
	if len(g) == 1 {
		return nil
	}
	return append(phrase.Words("and "), phrase.SameRequest(g[1:])...).Words(" (driftd findings list)")
}

// byRequest counts the findings that come from a request with several findings, and
// the requests; "" for none.
func (o *outline) byRequest() string {
	type request struct {
		source string
		model.Request
	}
	n, requests := 0, map[request]bool{}
	for _, g := range o.groups {
		if len(g) > 1 && g[0].Shown() {
			cause := g[0].Cause()
			n, requests[request{cause.Source, cause.Request}] = n+len(g), true
		}
	}
	number := phrase.Number(n)
	switch n {
	case 0:
		return ""
	case o.counted():
		number = "all"
	}
	if len(requests) == 1 {
		return ", " + number + " of them by one request"
	}
	return ", " + number + " of them by " + phrase.Number(len(requests)) + " requests"
}
