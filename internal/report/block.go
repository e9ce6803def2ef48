package report

import (
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// A Block is a finding in the form for display. All its text is visible; see phrase.Visible.
type Block struct {
	ID       string
	Severity model.Severity
	Verdict  model.Verdict
	// VerdictText is the verdict in words.
	VerdictText string
	Meaning     string
	Kind        string
	Resource    string
	// Name is the name of the resource, or "" if Resource contains it.
	Name  string
	Where phrase.Phrase
	Who   phrase.Phrase
	// Standing contains the owner, the active decision, and whether the finding flaps.
	Standing phrase.Phrase
	Reason   string
	// Links are the web pages of the resource and its declaration.
	Links  []model.Link
	Fields []phrase.Field
	// More is the number of fields that were omitted from Fields.
	More int
	// Alike describes the other findings of the same request, which this one represents.
	Alike phrase.Phrase
}

// mostFields bounds the fields that a report shows of one finding.
const mostFields = 20

// newBlock returns a block with at most most fields, the worst of them.
func newBlock(raw *model.Finding, c phrase.Clock, most int) Block {
	ordered := raw.WorstFirst()
	raw = &ordered
	f := public(raw)
	most = min(most, len(f.Changes))
	return Block{
		ID:          phrase.Visible(f.ID),
		Severity:    model.Severity(phrase.Visible(string(f.Severity))),
		Verdict:     model.Verdict(phrase.Visible(string(f.Verdict))),
		VerdictText: phrase.Visible(f.VerdictText()),
		Meaning:     phrase.Visible(phrase.Meaning(f.VerdictText())),
		Kind:        phrase.Visible(phrase.Kind(f.Kind)),
		Resource:    phrase.Visible(f.Key.ID),
		Name:        phrase.Visible(phrase.Name(&f)),
		Where:       phrase.Where(&f).Sentence(),
		Who:         c.ActorOf(&f).Then(c.Seen(&f)).Sentence(),
		Standing:    standing(&f, c).Sentence(),
		Reason:      phrase.Visible(f.Why()),
		Links:       f.Links,
		Fields:      fieldsOf(raw, &f, most, c),
		More:        len(f.Changes) - most,
	}
}

// Rest returns the number of omitted fields, and the command that displays them. It returns nil if there
// are none.
func (b Block) Rest() phrase.Phrase {
	if b.More == 0 {
		return nil
	}
	return phrase.Words(phrase.Ellipsis + " and " + phrase.Count(b.More, "more field") + ": driftd findings show ").Data(b.ID)
}

// fieldsOf returns the first fields of a finding, given as it is and as it may be
// shown.
func fieldsOf(raw, shown *model.Finding, most int, c phrase.Clock) []phrase.Field {
	fields := make([]phrase.Field, min(most, len(shown.Changes)))
	for i := range fields {
		fields[i] = phrase.NewField(shown, &raw.Changes[i], &shown.Changes[i], c)
	}
	return fields
}

// standing returns the owner of a finding, whether it flaps, what it was before, and
// why it is muted.
func standing(f *model.Finding, c phrase.Clock) phrase.Phrase {
	p := phrase.Phrase{}
	if d := f.Decision; f.Owner != "" && (d == nil || f.Owner != d.Owner || f.Owner == d.By) {
		p = p.Words("owner ").Data(f.Owner)
	}
	if f.Flapping {
		p = p.Then(phrase.Words(phrase.Flapping))
	}
	if f.Was != nil {
		p = p.Then(phrase.Words("was ").Data(string(f.Was.Verdict)).Words(", reclassified ").Time(c, f.Was.At))
	}
	if f.Hidden != "" {
		p = p.Then(phrase.HiddenBy(f.Hidden))
	}
	if f.Decision != nil {
		p = p.Then(c.Decision(f.Decision))
	}
	return p
}
