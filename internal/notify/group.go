package notify

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// group returns the properties that a finding shares with the others of its thread.
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

// cause returns what findings have in common that appear together: the source that
// could not be read, the actor, or else source and declaration.
func cause(f *model.Finding) string {
	switch {
	case f.Verdict == model.Unchecked:
		return "unchecked " + f.Source
	case f.Actor.Confidence == model.Exact || f.Actor.Confidence == model.Likely:
		return "by " + f.Source + " " + f.Actor.Name
	}
	return "in " + f.Source + " " + f.Declaration
}

// title returns in one line what findings are about, the actor that they have in
// common, and how many come from one request.
func title(kind model.MessageKind, groups [][]item) string {
	items := flat(groups)
	if len(items) == 0 {
		return "no open findings"
	}
	asked, requests := requested(groups)
	once := asked == len(items) && requests == 1
	what := subject(items, once)
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
	case once:
		return what + " in one request"
	case requests == 1:
		return what + ", " + phrase.Number(asked) + " of them in one request"
	case requests > 1:
		return what + ", " + phrase.Number(asked) + " of them in " + phrase.Number(requests) + " requests"
	}
	return what
}

// actor returns what the actor of all items did, after their verdict: ", created by
// alice"; "" where there is none.
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

// subject returns the source and the resource of one finding, or of several their
// number. once is set where all come from one request.
func subject(items []item, once bool) string {
	first := items[0].finding
	counted := phrase.Number(len(items)) + " findings"
	if once {
		counted = phrase.Number(resources(items)) + " resources"
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
	return where + resource(first)
}

// verdicts returns the verdict of all items, or the number of each, worst first.
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
