package notify

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// group returns what a finding has in common with those that share its thread.
func group(f *model.Finding, by []string) string {
	parts := make([]string, 0, len(by))
	for _, name := range by {
		parts = append(parts, grouping(f, name))
	}
	return strings.Join(parts, "\x00")
}

func grouping(f *model.Finding, name string) string {
	switch name {
	case "source":
		return f.Source
	case "declaration":
		return f.Declaration
	case "kind":
		return f.Kind
	case "namespace":
		return f.Place
	case "resource":
		return f.Key.String()
	case "verdict":
		return string(f.Verdict)
	case "severity":
		return string(f.Severity)
	case "owner":
		return f.Owner
	case "actor":
		return f.Actor.Name
	}
	return cause(f)
}

// cause says what findings come from that come up together: what could not be
// read, who did it, or else where it came up.
func cause(f *model.Finding) string {
	switch {
	case f.Verdict == model.Unchecked:
		return "unchecked " + f.Source
	case f.Actor.Confidence == model.Exact || f.Actor.Confidence == model.Likely:
		return "by " + f.Source + " " + f.Actor.Name
	}
	return "in " + f.Source + " " + f.Declaration
}

// title says in one line what findings are about, who did it where they have
// that in common, and which of them one request brought about.
func title(kind model.MessageKind, groups [][]item) string {
	items := flat(groups)
	if len(items) == 0 {
		return "nothing is open"
	}
	asked, requests := requested(groups)
	once := asked == len(items) && requests == 1
	what := subject(items, once)
	switch kind {
	case model.ResolvedMessage:
		return what + " resolved"
	case model.DecidedMessage:
		return what + " " + string(items[0].news)
	case model.ChangedMessage:
		if !slices.ContainsFunc(items, func(it item) bool { return it.news != model.WasMerged }) {
			return what + " merged"
		}
	}
	said := what + " " + verdicts(items) + doer(items)
	switch {
	case once:
		return said + " in one request"
	case requests == 1:
		return said + ", " + thousands(asked) + " of them in one request"
	case requests > 1:
		return said + ", " + thousands(asked) + " of them in " + thousands(requests) + " requests"
	}
	return said
}

// doer says who did it, where that is known and the same for all.
func doer(items []item) string {
	first := items[0].finding
	known := first.Actor.Confidence == model.Exact || first.Actor.Confidence == model.Likely
	if !known || slices.ContainsFunc(items, func(it item) bool { return it.finding.Actor.Name != first.Actor.Name }) {
		return ""
	}
	if slices.ContainsFunc(items, func(it item) bool { return it.finding.Verdict != first.Verdict }) {
		return " by " + first.Actor.Name
	}
	likely := func(it item) bool { return it.finding.Actor.Confidence == model.Likely }
	if first.Verdict == model.Missing && slices.ContainsFunc(items, likely) {
		// It may be who wants it to be there.
		return ", likely by " + first.Actor.Name
	}
	verdict := first.Verdict
	if verdict == model.Pending && first.IsUnproven() {
		verdict = model.Bypassed // Its actor is who applied.
	}
	return deed(verdict) + first.Actor.Name
}

// deed says, after a verdict, what it is that somebody did.
func deed(v model.Verdict) string {
	switch v {
	case model.Missing:
		return ", removed by "
	case model.Unmanaged:
		return ", made by "
	case model.Disputed:
		return ", last changed by "
	case model.Pending:
		return ", declared by "
	case model.Bypassed:
		return ", applied by "
	case model.Conflict, model.Undeclared, model.Codified, model.PendingRestart:
		return ", changed by "
	}
	return " by "
}

// subject names one finding's resource, or counts them, with their source; once
// tells that one request is behind all of them.
func subject(items []item, once bool) string {
	first := items[0].finding
	counted := thousands(len(items)) + " findings"
	if once {
		counted = thousands(resources(items)) + " resources"
	}
	where := first.Source
	if slices.ContainsFunc(items, func(it item) bool { return it.finding.Source != where }) {
		return counted
	}
	if where != "" {
		where += ": "
	}
	if len(items) > 1 {
		return where + counted
	}
	_, kind, _ := strings.Cut(first.Kind, "/")
	if name := called(first); !strings.HasPrefix(clip(first.Key.ID), name) && !strings.HasSuffix(clip(first.Key.ID), name) {
		return where + kind + " " + first.Key.ID + " (" + name + ")"
	}
	return where + kind + " " + first.Key.ID
}

// verdicts counts the verdicts of findings, the worst first; one alone is named.
func verdicts(items []item) string {
	count := map[model.Verdict]int{}
	for _, it := range items {
		count[it.finding.Verdict]++
	}
	var parts []string
	for _, v := range model.Verdicts() {
		if n := count[v]; n == len(items) {
			return string(v)
		} else if n > 0 {
			parts = append(parts, thousands(n)+" "+string(v))
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
