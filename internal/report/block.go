package report

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A Block is one finding as people read it. All its text is visible.
type Block struct {
	ID       string
	Severity model.Severity
	Verdict  model.Verdict
	// VerdictText is the verdict as people read it.
	VerdictText string
	Meaning     string
	Kind        string
	Resource    string
	// Name is set where it is not already part of Resource.
	Name  string
	Where Phrase
	Who   Phrase
	// Standing is who answers for it, what somebody decided about it, and
	// whether it goes back and forth.
	Standing Phrase
	Reason   string
	Fields   []Field
	// More is the number of fields that are not among Fields.
	More int
	// Alike says which other findings the same request brought about, where they
	// are said by this one.
	Alike Phrase
}

// mostFields bounds the fields that a report shows of one finding.
const mostFields = 20

// newBlock makes a block with at most so many fields, the worst of them.
func newBlock(raw *model.Finding, c clock, most int) Block {
	ordered := raw.WorstFirst()
	raw = &ordered
	f := public(raw)
	most = min(most, len(f.Changes))
	return Block{
		ID:          visible(f.ID),
		Severity:    model.Severity(visible(string(f.Severity))),
		Verdict:     model.Verdict(visible(string(f.Verdict))),
		VerdictText: visible(f.VerdictText()),
		Meaning:     visible(meaning(f.VerdictText())),
		Kind:        visible(shortKind(f.Kind)),
		Resource:    visible(f.Key.ID),
		Name:        visible(ownName(&f)),
		Where:       where(&f),
		Who:         seen(&f, c),
		Standing:    standing(&f, c),
		Reason:      visible(f.Why()),
		Fields:      fieldsOf(raw, &f, most, c),
		More:        len(f.Changes) - most,
	}
}

// Rest says what the Block leaves out, and where it is to be had.
func (b Block) Rest() Phrase {
	if b.More == 0 {
		return nil
	}
	return Phrase{}.say(ellipsis + " and " + count(b.More, "more field") + ": driftd findings show ").quote(b.ID)
}

// ownName returns what people call the resource, unless its id says so.
func ownName(f *model.Finding) string {
	id := f.Key.ID
	if f.Name == id || strings.HasSuffix(id, "/"+f.Name) || strings.HasPrefix(id, f.Name+" (") {
		return ""
	}
	return f.Name
}

// called is the resource's id with what people call it: 104 (db-01).
func called(f *model.Finding) string {
	if name := ownName(f); name != "" {
		return f.Key.ID + " (" + name + ")"
	}
	return f.Key.ID
}

// where says in which source the resource is, and where it is declared, or
// should be.
func where(f *model.Finding) Phrase {
	p := Phrase{}.say("in ").quote(f.Source)
	disputants := disputants(f)
	switch {
	case f.Verdict == model.Unmanaged && f.Declaration != "":
		return p.say(", not in ").quote(f.Declaration)
	case f.Verdict == model.Unmanaged && f.Reason != "":
		return p.say(", not declared where it should be")
	case len(disputants) > 1:
		last := len(disputants) - 1
		return p.say(", declared by ").list(disputants[:last], mostNamed).say(" and ").quote(disputants[last])
	case f.Declaration == "" && f.Address == "":
		return p.say(", not declared")
	case f.Address == "":
		return p.say(", declared by ").quote(f.Declaration)
	case f.Declaration == "":
		return p.say(", declared at ").quote(f.Address)
	}
	return p.say(", declared by ").quote(f.Declaration).say(" at ").quote(f.Address)
}

// disputants are the declarations that a finding's fields have claims of: where
// each says so stands beside what it says.
func disputants(f *model.Finding) []string {
	var names []string
	for i := range f.Changes {
		for _, c := range f.Changes[i].Claims {
			if !slices.Contains(names, c.Declaration) {
				names = append(names, c.Declaration)
			}
		}
	}
	return names
}

// seen says who did it, and since when it has been so.
func seen(f *model.Finding, c clock) Phrase {
	since := Phrase{}
	if !f.FirstSeen.IsZero() {
		since = since.say("first seen ").at(c, f.FirstSeen)
	}
	if !f.Resolved.IsZero() {
		since = since.then(closed(f).say(" ").at(c, f.Resolved))
	}
	return c.who(f.Actor).then(since)
}

// closed says how a finding ended.
func closed(f *model.Finding) Phrase {
	if f.MergedInto != "" {
		return Phrase{}.say("merged into ").quote(f.MergedInto)
	}
	return Phrase{}.say("resolved")
}

// standing says who answers for a finding, and how it stands with it.
func standing(f *model.Finding, c clock) Phrase {
	p := Phrase{}
	if f.Owner != "" {
		p = p.say("owner ").quote(f.Owner)
	}
	if f.Flapping {
		p = p.then(Phrase{}.say("flapping: it goes back and forth"))
	}
	if f.Was != nil {
		p = p.then(Phrase{}.say("was ").quote(string(f.Was.Verdict)).say(", reclassified ").at(c, f.Was.At))
	}
	if f.Hidden != "" {
		p = p.then(Phrase{}.say("hidden: ").quote(f.Hidden))
	}
	if f.Decision != nil {
		p = p.then(c.decided(f.Decision))
	}
	return p
}

// decided says what somebody decided, who, until when and why.
func (c clock) decided(d *model.Decision) Phrase {
	p := Phrase{}.say(d.Kind.Participle() + " by ").quote(d.By)
	if d.Covers > 0 {
		p = p.say(", in a baseline of " + count(d.Covers, "finding") + ",")
	}
	p = p.say(" ").until(d)
	if d.Reason != "" {
		p = p.say(": ").quote(d.Reason)
	}
	return p
}
