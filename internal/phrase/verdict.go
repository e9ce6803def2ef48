package phrase

import (
	"fmt"

	"github.com/driftd/driftd/internal/model"
)

// Meaning returns the sentence that explains a verdict, which is given as
// Finding.VerdictText returns it.
func Meaning(verdict string) string {
	switch v := model.Verdict(verdict); v {
	case model.InSync:
		return "Live, declared and recorded agree"
	case model.Changed:
		return "Live differs from what was declared and applied"
	case model.Pending:
		return "Declared but not applied yet"
	case model.Bypassed:
		return "Applied, but no commit declares it"
	case model.Pending + " or " + model.Bypassed:
		return "Declared but not applied yet, or applied but declared by no commit"
	case model.Codified:
		return "Live and declared agree, but the record is old"
	case model.Conflict:
		return "Declared, recorded and live all differ"
	case model.Missing:
		return "Declared but missing"
	case model.PendingRestart:
		return "Configured, but takes effect only after a restart"
	case model.Unmanaged:
		return "Exists, but no declaration manages it"
	case model.Undeclared:
		return "Set, but by no declaration and no known controller"
	case model.Moved:
		return "Same resource under another name or in another place"
	case model.Disputed:
		return "Declarations claim different values"
	case model.Unchecked:
		return "Could not be compared"
	}
	return fmt.Sprintf("Verdict %q", verdict)
}

// Verb returns a past-tense verb, such as "removed", for what the actor of f did. It
// returns "" if the evidence does not show it.
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
	case model.Unchecked, model.InSync:
		return ""
	}
	return "changed"
}

// Flapping explains a finding that flaps.
const Flapping = "flapping: no notifications about single changes until it is stable"

// News returns what happened to a finding since the last message, in a few words;
// "" for nothing.
func News(it *model.Item) string {
	if it.News == model.Reclassified {
		return "now " + it.Finding.VerdictText()
	}
	return Event(it.News)
}

// Event returns the word for news; "" for none.
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
