package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// The columns that names, and what somebody wrote beside a change, may take where
// people read who did it.
const (
	nameLimit    = 120
	messageLimit = 160
)

// A Phrase is a sentence of our words and foreign data. Each format marks the
// data in its own way.
type Phrase []Span

// A Span is a piece of a Phrase. Its text is visible; Data tells foreign data
// from our words. At is the moment that the text says, where it says one.
type Span struct {
	Text string
	Data bool
	At   time.Time
}

func (p Phrase) say(words string) Phrase { return append(p, Span{Text: words}) }

func (p Phrase) quote(data string) Phrase { return append(p, Span{Text: visible(data), Data: true}) }

// brief quotes data of which no more than so many columns matter.
func (p Phrase) brief(data string, limit int) Phrase {
	return append(p, Span{Text: clip(visible(data), limit), Data: true})
}

// message quotes what somebody wrote, between quotation marks that nothing in
// it can end.
func (p Phrase) message(text string) Phrase {
	text = strings.ReplaceAll(visible(text), `"`, `\"`)
	return append(p, Span{Text: `"` + clip(text, messageLimit) + `"`, Data: true})
}

// then appends another phrase, after a comma when both have something to say.
func (p Phrase) then(q Phrase) Phrase {
	if len(p) > 0 && len(q) > 0 {
		p = p.say(", ")
	}
	return append(p, q...)
}

// String returns the Phrase without any marks.
func (p Phrase) String() string { return p.mark(func(data string) string { return data }) }

// mark returns the phrase with its data as format writes them.
func (p Phrase) mark(format func(string) string) string {
	var b strings.Builder
	for _, s := range p {
		if s.Data {
			b.WriteString(format(s.Text))
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// list says names, with commas; of many it says the first ones and how many
// more there are.
func (p Phrase) list(names []string, most int) Phrase {
	shown := names
	if len(names) > most {
		shown = names[:most-1]
	}
	for i, name := range shown {
		if i > 0 {
			p = p.say(", ")
		}
		p = p.quote(name)
	}
	if more := len(names) - len(shown); more > 0 {
		p = p.say(" and " + thousands(more) + " more")
	}
	return p
}

// A clock writes times.
type clock struct {
	now      time.Time
	relative bool
}

func newClock(o Options) clock { return clock{o.Now, o.RelativeTime && !o.Now.IsZero()} }

// when says a moment: "2 hours ago", or an RFC 3339 time.
func (c clock) when(t time.Time) string {
	if age := c.now.Sub(t); c.relative && age > -time.Minute {
		return ago(age)
	}
	return stamp(t)
}

// at says a moment so that it can stand in a sentence.
func (p Phrase) at(c clock, t time.Time) Phrase {
	said := c.when(t)
	if strings.HasSuffix(said, "Z") {
		p = p.say("at ")
	}
	return append(p, Span{Text: said, At: utc(t)})
}

// until says when a decision ends.
func (p Phrase) until(d *model.Decision) Phrase {
	if d.Until.IsZero() {
		return p.say("forever")
	}
	return append(p.say("until "), Span{Text: stamp(d.Until), At: utc(d.Until)})
}

// both says a moment as a time, and how long ago it was where that is wanted.
func (c clock) both(t time.Time) string {
	if said := c.when(t); said != stamp(t) {
		return stamp(t) + " (" + said + ")"
	}
	return stamp(t)
}

func stamp(t time.Time) string { return utc(t).Truncate(time.Second).Format(time.RFC3339) }

func ago(age time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case age < time.Second:
		return "just now"
	case age < time.Minute:
		return count(int(age/time.Second), "second") + " ago"
	case age < time.Hour:
		return count(int(age/time.Minute), "minute") + " ago"
	case age < day:
		return count(int(age/time.Hour), "hour") + " ago"
	}
	return count(int(age/day), "day") + " ago"
}

// who says who did it, when, through what, on which evidence, how sure that is
// and what they wrote beside it; nothing when nobody was asked for.
func (c clock) who(a model.Actor) Phrase {
	if a.Name == "" {
		return nil
	}
	p := Phrase{}.say("by ").brief(a.Name, nameLimit)
	if !utc(a.At).IsZero() {
		p = p.say(" ").at(c, a.At)
	}
	before := " via "
	for _, trace := range []string{a.Via, a.Evidence} {
		if trace != "" {
			p, before = p.say(before).brief(trace, nameLimit), ", "
		}
	}
	switch {
	case a.Reason != "" && a.Confidence == model.Likely:
		p = p.say(" (likely: ").brief(a.Reason, pipeLimit).say(")")
	case a.Reason != "":
		p = p.say(" (").brief(a.Reason, pipeLimit).say(")")
	case a.Confidence == model.Likely:
		p = p.say(" (likely)")
	}
	if a.Message != "" {
		p = p.say(": ").message(a.Message)
	}
	return p
}

// writer is who of the last writer of one side of a disputed field; nothing for nil.
func (c clock) writer(a *model.Actor) Phrase {
	if a == nil {
		return nil
	}
	return c.who(*a)
}

// meaning explains a verdict, as people read it, in a few words.
func meaning(verdict string) string {
	switch v := model.Verdict(verdict); v {
	case model.InSync:
		return "live, declared and recorded agree"
	case model.Changed:
		return "live differs from what was declared and applied"
	case model.Pending:
		return "declared, not applied yet"
	case model.Bypassed:
		return "applied, and declared by no commit"
	case model.Pending + " or " + model.Bypassed:
		return "declared and not applied yet, or applied and declared by no commit"
	case model.Codified:
		return "live and declared agree, the record is old"
	case model.Conflict:
		return "declared, recorded and live all differ"
	case model.Missing:
		return "declared, but does not exist"
	case model.PendingRestart:
		return "accepted, and live only after a restart"
	case model.Unmanaged:
		return "live in a governed scope, and not declared where it should be"
	case model.Undeclared:
		return "a field that no declaration sets and no known controller owns"
	case model.Moved:
		return "the same thing under another name or in another place"
	case model.Disputed:
		return "two declarations claim different values"
	case model.Unchecked:
		return "could not be compared"
	}
	return fmt.Sprintf("verdict %q", verdict)
}
