package phrase

import (
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// Meaning returns a sentence that explains a verdict, in the form of Finding.VerdictText.
func Meaning(verdict string) string {
	meaning, known := meanings()[model.Verdict(verdict)]
	if !known {
		return fmt.Sprintf("Verdict %q", verdict)
	}
	return meaning
}

func meanings() map[model.Verdict]string {
	return map[model.Verdict]string{
		model.InSync:                            "Live, declared and recorded agree",
		model.Changed:                           "Live differs from what was declared and applied",
		model.Pending:                           "Declared but not applied yet",
		model.Bypassed:                          "Applied, but no commit declares it",
		model.Pending + " or " + model.Bypassed: "Declared but not applied yet, or applied but declared by no commit",
		model.Codified:                          "Live and declared agree, but the record is old",
		model.Conflict:                          "Declared, recorded and live all differ",
		model.Missing:                           "Declared but missing",
		model.PendingRestart:                    "Configured, but takes effect only after a restart",
		model.Unmanaged:                         "Exists, but no declaration manages it",
		model.Undeclared:                        "Set, but by no declaration and no known controller",
		model.Moved:                             "Same resource under another name or in another place",
		model.Disputed:                          "Declarations claim different values",
		model.Nondeterministic:                  "Equal inputs give different results, so the declaration proves nothing",
		model.Violated:                          "A check failed",
		model.Unchecked:                         "Could not be compared",
	}
}

// Verb returns the past tense verb for the action of f's actor, such as "removed", or "" if the evidence
// does not show the action.
func Verb(f *model.Finding) string {
	verdict := f.Verdict
	if verdict == model.Pending && f.IsUnproven() {
		verdict = model.Bypassed // its actor is who applied
	}
	switch verdict {
	case model.Missing:
		if f.Actor.Confidence != model.Exact {
			return "" // may be the author of the declaration
		}
		return "removed"
	case model.Unmanaged:
		return "created"
	case model.Disputed:
		return "last changed"
	case model.Moved:
		return "moved"
	case model.Pending:
		return "declared"
	case model.Bypassed:
		return "applied"
	case model.Unchecked, model.InSync, model.Violated, model.Nondeterministic:
		return ""
	}
	return "changed"
}

// Flapping is the explanation for a flapping finding.
const Flapping = "flapping: no notifications about single changes until it is stable"

// News returns a short description of the change of a finding since the last message, or "" if there is
// none.
func News(it *model.Item) string {
	if it.News == model.Reclassified {
		return "now " + it.Finding.VerdictText()
	}
	return Event(it.News)
}

// Event returns the word for a kind of news, or "" if there is none.
func Event(news model.News) string {
	switch news {
	case model.Standing:
		return ""
	case model.WasHidden:
		return "hidden"
	case model.Again:
		return "recurred"
	case model.Altered:
		return "changed again"
	case model.Steady:
		return "stable again"
	case model.Returned:
		return "reopened"
	}
	return string(news)
}
