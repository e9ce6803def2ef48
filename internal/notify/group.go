package notify

import (
	"fmt"
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

// title says in one line what findings are about, and who did it where they
// have that in common.
func title(kind model.MessageKind, items []item) string {
	if len(items) == 0 {
		return "nothing is open"
	}
	what := subject(items)
	switch kind {
	case model.ResolvedMessage:
		return what + " resolved"
	case model.DecidedMessage:
		return what + " " + string(items[0].news)
	}
	said := what + " " + verdicts(items)
	first := items[0].finding.Actor
	shared := !slices.ContainsFunc(items, func(it item) bool { return it.finding.Actor.Name != first.Name })
	if shared && (first.Confidence == model.Exact || first.Confidence == model.Likely) {
		said += " by " + first.Name
	}
	return said
}

// subject names one finding's resource, or counts them, with their source.
func subject(items []item) string {
	first := items[0].finding
	where := first.Source
	if slices.ContainsFunc(items, func(it item) bool { return it.finding.Source != where }) {
		return fmt.Sprintf("%d findings", len(items))
	}
	if where != "" {
		where += ": "
	}
	if len(items) > 1 {
		return fmt.Sprintf("%s%d findings", where, len(items))
	}
	_, kind, _ := strings.Cut(first.Kind, "/")
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
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
