// Package plain says in plain text what a finding is about: what, where, who,
// since when, which fields, and what to do next. It is pure.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// Words is how findings are said to one receiver.
type Words struct {
	// Quote makes foreign data harmless for the receiver; nil leaves it. What it
	// gets is one line of characters that can be seen.
	Quote func(string) string
	// URL is where driftd's pages begin, or "".
	URL string
}

// Bounds of foreign data, in characters.
const (
	maxName    = 200
	maxTrace   = 120
	maxValue   = 100
	maxReason  = 300
	maxMessage = 160
)

// PartKind is the kind of a finding on a part of a declaration that cannot be
// read: package classify makes it.
const PartKind = "declaration/part"

// Flapping says what a receiver of messages hears of a finding that flaps.
const Flapping = "It goes back and forth: single changes are not told until it stays as it is."

// Subject says what the finding is about: "changed: Deployment.apps shop/web".
func (w Words) Subject(f *model.Finding) string {
	if f.Kind == PartKind && f.Address == f.Declaration {
		return "declaration " + w.data(f.Declaration, maxName) + " could not be read"
	}
	if f.Kind == PartKind {
		return "a part of " + w.data(f.Declaration, maxName) + " could not be read: " + w.data(f.Address, maxName)
	}
	kind := f.Kind[strings.IndexByte(f.Kind, '/')+1:]
	subject := w.data(f.VerdictText(), maxName) + ": " + w.data(kind, maxName) + " " + w.data(f.Key.ID, maxName)
	if f.Name != "" && f.Name != f.Key.ID[strings.LastIndexByte(f.Key.ID, '/')+1:] {
		subject += " (" + w.data(f.Name, maxName) + ")"
	}
	return subject
}

// Where says where it is, and where it is declared, or should be; "" of a part of
// a declaration, whose subject says that.
func (w Words) Where(f *model.Finding) string {
	if f.Kind == PartKind {
		return ""
	}
	where := ""
	if f.Source != "" {
		where = "in " + w.data(f.Source, maxName) + ", "
	}
	switch {
	case f.Verdict == model.Unmanaged && f.Declaration != "":
		return where + "not in " + w.data(f.Declaration, maxName)
	case f.Verdict == model.Unmanaged && f.Reason != "":
		return where + "not declared where it should be"
	case f.Declaration == "" && f.Address == "":
		return where + "not declared"
	}
	where += "declared"
	if f.Declaration != "" {
		where += " by " + w.data(f.Declaration, maxName)
	}
	if f.Address != "" {
		where += " at " + w.data(f.Address, maxName)
	}
	return where
}

// Nobody tells that there is no use in saying who did it: nobody was asked for,
// or nothing was seen that somebody did.
func Nobody(f *model.Finding) bool {
	return f.Actor.Name == "" || f.Verdict == model.Unchecked && f.Actor.Confidence == model.Unknown
}

// when says when somebody did it.
func when(a model.Actor) string {
	if a.At.IsZero() {
		return ""
	}
	return " at " + Time(a.At)
}

// Who says who did it, on which evidence, how sure that is and what they wrote
// beside it, or why nobody knows; "" for Nobody.
func (w Words) Who(f *model.Finding) string {
	a := f.Actor
	switch {
	case Nobody(f):
		return ""
	case a.Confidence == model.Unknown:
		return w.unknown(a)
	}
	who := "by " + w.data(a.Name, maxName) + when(a)
	before := " via "
	for _, trace := range []string{a.Via, a.Evidence} {
		if trace != "" {
			who, before = who+before+w.data(trace, maxTrace), ", "
		}
	}
	if a.Confidence == model.Likely {
		who += " (likely)"
	}
	if a.Message != "" {
		who += `: "` + w.data(strings.ReplaceAll(a.Message, `"`, "'"), maxMessage) + `"`
	}
	return who
}

// unknown says why nobody knows who did it, and what is known of the time: it is
// that of an edit only where Via says so.
func (w Words) unknown(a model.Actor) string {
	who := "by unknown" + when(a)
	if a.Via != "" {
		who += " via " + w.data(a.Via, maxTrace)
	}
	if a.Reason != "" {
		who += " (" + w.data(a.Reason, maxReason) + ")"
	}
	return who
}

// Decided says who wants no more heard of it, until when and why; "" where
// nobody does.
func (w Words) Decided(f *model.Finding) string {
	d := f.Decision
	switch {
	case f.Hidden != "":
		return "ignored by a rule: " + w.data(f.Hidden, maxReason)
	case d == nil:
		return ""
	}
	said := d.Kind.Participle() + " by " + w.data(d.By, maxName)
	if d.Owner != "" && d.Owner != d.By {
		said += ", owner " + w.data(d.Owner, maxName)
	}
	switch {
	case !d.Until.IsZero():
		said += ", until " + Time(d.Until)
	case d.Kind == model.Accept:
		said += ", forever"
	}
	if d.Reason != "" {
		said += ": " + w.data(d.Reason, maxReason)
	}
	return said
}

// Since says since when it is so, and until when it was.
func (w Words) Since(f *model.Finding) string {
	switch {
	case f.FirstSeen.IsZero():
		return ""
	case f.Resolved.IsZero():
		return "since " + Time(f.FirstSeen)
	}
	return "from " + Time(f.FirstSeen) + " to " + Time(f.Resolved)
}

// Next says where there is more to learn.
func (w Words) Next(f *model.Finding) string {
	if page := Page(w.URL, f); page != "" {
		return page
	}
	return "driftd findings show " + w.data(f.ID, maxName)
}

// Reason says why it could not be checked, or is as bad as it is; or "".
func (w Words) Reason(f *model.Finding) string { return w.data(f.Why(), maxReason) }

// Line makes foreign data one line of at most so many characters, and quotes it.
func (w Words) Line(s string, limit int) string { return w.data(s, limit) }

func (w Words) data(s string, limit int) string {
	s = Visible(s, limit)
	if w.Quote == nil {
		return s
	}
	return w.Quote(s)
}

// Page is the address of a finding's page; "" without one.
func Page(url string, f *model.Finding) string {
	if url == "" {
		return ""
	}
	return strings.TrimSuffix(url, "/") + "/findings/" + f.ID
}

// Time says a moment to the minute, in UTC.
func Time(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") }

// Fields returns the first fields, one a line and no more than most, and how many
// more there are of total. The worst come first in a message.
func (w Words) Fields(f *model.Finding, total, most int) []string {
	shown := f.Changes[:min(most, len(f.Changes))]
	lines := make([]string, 0, len(shown)+1)
	for i := range shown {
		line := w.field(&shown[i])
		if a := shown[i].Actor; a != nil {
			line += ", by " + w.data(a.Name, maxName)
		}
		lines = append(lines, line)
	}
	if more := total - len(shown); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more %s", more, plural("field", more)))
	}
	return lines
}

func (w Words) field(c *model.Change) string {
	path := w.data(c.Path, maxName)
	switch {
	case len(c.Claims) > 0:
		return path + ": " + w.claims(c)
	case c.Secret:
		return path + ": (secret) changed"
	}
	var sides []string
	say := func(side string, v *model.Value) { sides = append(sides, side+" "+w.value(v)) }
	switch {
	case c.Declared == nil && c.Recorded == nil:
		sides = append(sides, "not declared")
	case c.Declared != nil:
		say("declared", c.Declared)
	}
	if c.Recorded != nil && (c.Declared == nil || !c.Recorded.Equal(*c.Declared)) {
		say("recorded", c.Recorded)
	}
	say("live", c.Live)
	if c.Running != nil {
		say("running", c.Running)
	}
	return path + ": " + strings.Join(sides, ", ")
}

// claims says what each declaration says of a field, in which word of its own,
// and what is live.
func (w Words) claims(c *model.Change) string {
	value := func(v *model.Value) string {
		if c.Secret && v != nil {
			return model.SecretText
		}
		return w.value(v)
	}
	said := make([]string, 0, len(c.Claims)+1)
	for i := range c.Claims {
		claim := &c.Claims[i]
		one := w.data(claim.Declaration, maxName) + " says " + value(&claim.Value)
		if claim.Path != "" && claim.Path != c.Path {
			one += " (" + w.data(claim.Path, maxName) + ")"
		}
		said = append(said, one+w.by(claim.Actor))
	}
	return strings.Join(append(said, "live "+value(c.Live)+w.by(c.LiveActor)), ", ")
}

// by returns who last wrote one side of a disputed field, in parentheses; "" for nil.
func (w Words) by(a *model.Actor) string {
	if a == nil {
		return ""
	}
	return " (by " + w.data(a.Name, maxName) + ")"
}

func (w Words) value(v *model.Value) string {
	switch {
	case v == nil:
		return "(absent)"
	case v.Kind() == model.String && v.Text() == "":
		return `""`
	}
	return w.data(v.Public().String(), maxValue)
}

// Thousands writes a count as people read it: "1,200".
func Thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func plural(word string, n int) string {
	if n == 1 {
		return word
	}
	return word + "s"
}
