//go:build e2e

package e2e

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// summarize formats a report's findings for comparison with a script's, one change a line:
//
//	changed Deployment.apps shop/web by kubectl-set: spec.replicas 2 -> 3
//
// A pending change that may be a bypassed one is "pending?".
func summarize(r model.Report) string {
	var lines []string
	for _, f := range r.Findings {
		lines = append(lines, summarizeFinding(f)...)
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

func summarizeFinding(f model.Finding) []string {
	unproven := slices.ContainsFunc(f.Changes, func(c model.Change) bool { return c.Unproven }) || f.Unproven
	verdict := string(f.Verdict)
	if unproven {
		verdict += "?"
	}
	what := fmt.Sprintf("%s %s %s", verdict, strings.TrimPrefix(f.Kind, "kubernetes/"), f.Key.ID)
	if f.Verdict == model.Unchecked {
		return []string{what + ": " + f.Reason + "\n"}
	}
	if len(f.Changes) == 0 {
		return []string{fmt.Sprintf("%s by %s\n", what, f.Actor.Name)}
	}
	var lines []string
	for _, c := range f.Changes {
		actor := f.Actor
		if c.Actor != nil {
			actor = *c.Actor
		}
		lines = append(lines, fmt.Sprintf("%s by %s: %s %s\n", what, actor.Name, c.Path, sides(f.Verdict, c)))
	}
	return lines
}

// sides formats declared -> live, with the record between them if the verdict depends on it,
// and an unread value in the place of the declared one.
func sides(v model.Verdict, c model.Change) string {
	text := side(cmp.Or(c.Declared, c.Recorded))
	if v == model.Conflict || v == model.Codified || v == model.Pending || v == model.Bypassed {
		text = side(c.Declared)
	}
	if v == model.Conflict || v == model.Codified {
		text += " -> recorded " + side(c.Recorded)
	}
	for _, claim := range c.Claims {
		text += fmt.Sprintf(" %s says %s", claim.Declaration, claim.Value)
	}
	return text + " -> " + side(c.Live)
}

func side(v *model.Value) string {
	if v == nil {
		return "(absent)"
	}
	return string(v.AppendJSON(nil))
}
