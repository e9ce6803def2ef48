package notify

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// group returns the key of a finding's group: the values of the properties in by.
// Findings with an equal key join one thread.
func group(f *model.Finding, by []string) string {
	parts := make([]string, 0, len(by))
	for _, name := range by {
		parts = append(parts, groupingValue(f, name))
	}
	return strings.Join(parts, "\x00")
}

// groupingValue returns the value of one of Groupings for f.
func groupingValue(f *model.Finding, name string) string {
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

// cause returns the value of the grouping "cause": the source if f is unchecked, the
// source and the actor if the actor is known, and the source and the declaration
// otherwise.
func cause(f *model.Finding) string {
	switch {
	case f.Verdict == model.Unchecked:
		return "unchecked " + f.Source
	case f.Actor.Confidence == model.Exact || f.Actor.Confidence == model.Likely:
		return "by " + f.Source + " " + f.Actor.Name
	}
	return "in " + f.Source + " " + f.Declaration
}

// title returns a one-line summary of items: their resource or their number, their
// verdicts, their common actor, and the number of requests that caused them.
func title(kind model.MessageKind, groups [][]item) string {
	items := flatten(groups)
	if len(items) == 0 {
		return "no open findings"
	}
	requested, requests := countRequests(groups)
	oneRequest := requested == len(items) && requests == 1
	what := subject(items, oneRequest)
	switch kind {
	case model.ResolvedMessage:
		return what + " resolved"
	case model.DecidedMessage:
		return what + " " + phrase.Event(items[0].news)
	case model.ChangedMessage:
		if !slices.ContainsFunc(items, func(it item) bool { return it.news != model.WasMerged }) {
			return what + " merged"
		}
	}
	what += " " + verdicts(items) + actor(items)
	switch {
	case oneRequest:
		return what + " in one request"
	case requests == 1:
		return what + ", " + phrase.Number(requested) + " of them in one request"
	case requests > 1:
		return what + ", " + phrase.Number(requested) + " of them in " + phrase.Number(requests) + " requests"
	}
	return what
}

// actor returns the words for the common actor of items, such as ", created by alice".
// It returns "" if the items have no common actor.
func actor(items []item) string {
	first := items[0].finding
	name, verb := first.Actor.Name, phrase.Verb(first)
	likely, sameVerdict := first.Actor.Confidence == model.Likely, true
	for _, it := range items {
		a := &it.finding.Actor
		if a.Name != name || a.Confidence != model.Exact && a.Confidence != model.Likely {
			return ""
		}
		likely = likely || a.Confidence == model.Likely
		sameVerdict = sameVerdict && it.finding.Verdict == first.Verdict
	}
	switch {
	case !sameVerdict, verb == string(first.Verdict):
		return " by " + name
	case first.Verdict == model.Missing && likely:
		return ", likely by " + name
	case verb == "":
		return " by " + name
	}
	return ", " + verb + " by " + name
}

// subject returns the source and the resource of a single item, or the source and the
// number of several. If oneRequest is set, it counts resources instead of findings.
func subject(items []item, oneRequest bool) string {
	first := items[0].finding
	counted := phrase.Number(len(items)) + " findings"
	if oneRequest {
		counted = phrase.Number(countResources(items)) + " resources"
	}
	prefix := first.Source
	if slices.ContainsFunc(items, func(it item) bool { return it.finding.Source != prefix }) {
		return counted
	}
	if prefix != "" {
		prefix += ": "
	}
	if len(items) > 1 {
		return prefix + counted
	}
	return prefix + resource(first)
}

// verdicts returns the common verdict of items, or the number of items with each verdict,
// worst first.
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
			parts = append(parts, phrase.Number(n)+" "+string(v))
		}
	}
	return "(" + strings.Join(parts, ", ") + ")"
}
