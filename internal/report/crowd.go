package report

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A crowd is findings that are said as one: one alone, or those of one cause, the
// worst first.
type crowd []*model.Finding

// crowds puts together what has one cause and stands alike: nobody decided
// otherwise about some of it.
func crowds(findings []*model.Finding) []crowd {
	groups := model.ByCause(findings, func(f *model.Finding) (model.Cause, string) { return f.Cause(), standsApart(f) })
	all := make([]crowd, len(groups))
	for i, group := range groups {
		all[i] = group
	}
	return all
}

// standsApart is the same for findings of which a reader has to know the same.
func standsApart(f *model.Finding) string {
	apart := []string{f.Hidden, strconv.FormatBool(f.Flapping)}
	if !f.Resolved.IsZero() {
		apart = append(apart, stamp(f.Resolved))
	}
	if d := f.Decision; d != nil {
		apart = append(apart, string(d.Kind), d.By, until(d), d.Reason)
	}
	return strings.Join(apart, "\x00")
}

// mostNamed bounds the names of what is said by something else.
const mostNamed = 6

// alike says which others the same request brought about.
func (c crowd) alike() Phrase {
	if len(c) == 1 {
		return nil
	}
	rest, kind := c[1:], ""
	p := Phrase{}.say("and " + thousands(len(rest)) + " more by the same request: ")
	for i, f := range rest[:min(len(rest), mostNamed)] {
		if i > 0 {
			p = p.say(", ")
		}
		if f.Kind != kind {
			kind, p = f.Kind, p.brief(shortKind(f.Kind), nameLimit).say(" ")
		}
		p = p.brief(cmp.Or(ownName(f), f.Key.ID), nameLimit)
	}
	if len(rest) > mostNamed {
		p = p.say(", " + ellipsis)
	}
	return p.say(" (driftd findings list)")
}

// byRequest says how many of the findings that a summary counts came of a
// request that brought about several; "" for none.
func (o *outline) byRequest() string {
	type request struct {
		source string
		model.Request
	}
	n, requests := 0, map[request]bool{}
	for _, c := range o.crowds {
		if len(c) > 1 && c[0].Shown() {
			cause := c[0].Cause()
			n, requests[request{cause.Source, cause.Request}] = n+len(c), true
		}
	}
	said := thousands(n)
	switch n {
	case 0:
		return ""
	case o.counted():
		said = "all"
	}
	if len(requests) == 1 {
		return ", " + said + " of them by one request"
	}
	return ", " + said + " of them by " + thousands(len(requests)) + " requests"
}
