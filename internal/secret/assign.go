package secret

import (
	"slices"
	"strings"
)

// An assignment is a name in a text and its value: NAME=value, name: value, "name": "value",
// --name value.
type assignment struct {
	name string
	// from is the start of the name, value the start of the value and end its end.
	from, value, end int
	// quoted reports whether the name itself is in quotes.
	quoted bool
}

// assignments finds the values of secret names in files, connection strings and command lines
// of any language.
func (s *scan) assignments() {
	var before *assignment
	for i := 0; i < len(s.text); i++ {
		if c := s.text[i]; c != '=' && c != ':' {
			continue
		}
		a, ok := s.assignmentAt(i)
		if !ok {
			continue
		}
		sure := s.names.rate(a.name, strings.HasPrefix(a.name, "--"))
		if sure <= described && !isNameKey(a.name) && !isValueKey(a.name) {
			continue
		}
		s.extent(&a, s.text[i] == ':')
		s.pair(before, &a)
		if sure > described && a.value < a.end && !(s.text[i] == ':' && s.isExplanation(&a, sure)) {
			s.value(&a, sure)
			i = max(i, a.end-1)
		}
		before = &a
	}
}

// isExplanation reports whether a value is the rest of a sentence, as in "getting credentials: exec: executable
// kubelogin not found", and not a secret.
func (s *scan) isExplanation(a *assignment, sure certainty) bool {
	if sure != place || a.quoted || s.text[a.value-1] != ' ' || !isInSentence(s.text, a.from) {
		return false
	}
	text := s.text[a.value:a.end]
	parts := strings.FieldsFunc(text, func(r rune) bool { return r > 'z' || !isAlnum(byte(r)) })
	return len(strings.Fields(text)) > 2 && !slices.ContainsFunc(parts, isGenerated)
}

// isGenerated reports whether a part of a word has letters and digits, and the length of a short password.
func isGenerated(part string) bool {
	const digits = "0123456789"
	return len(part) > 6 && strings.ContainsAny(part, digits) && strings.Trim(part, digits) != ""
}

// value adds the value of an assignment, without the name of an HTTP authentication scheme.
func (s *scan) value(a *assignment, sure certainty) {
	content := s.text[a.value:a.end]
	if !isContent(content, sure) || markAt(content, 0) && len(content) == markSize {
		return
	}
	for _, scheme := range authSchemes {
		if hasFold(content, scheme) && len(content) > len(scheme) {
			a.value += len(scheme)
		}
	}
	s.add(a.value, a.end)
}

// pair adds the value of two assignments, one of which contains the name: name: PASSWORD and
// value: x, in either order.
func (s *scan) pair(before, now *assignment) {
	if before == nil || now.from-before.end > maxBetween {
		return
	}
	if isNameKey(now.name) && isValueKey(before.name) {
		before, now = now, before
	}
	if !isNameKey(before.name) || !isValueKey(now.name) || before.value > before.end || now.value > now.end {
		return
	}
	if sure := s.names.rate(s.text[before.value:before.end], true); sure > described {
		s.value(now, sure)
	}
}

// maxBetween is the maximum distance between a name and its value, in bytes.
const maxBetween = 200

func isNameKey(name string) bool {
	switch name {
	case "name", "Name", "key", "Key", "NAME", "KEY":
		return true
	}
	return false
}

func isValueKey(name string) bool {
	switch name {
	case "value", "Value", "VALUE":
		return true
	}
	return false
}

func isIdentifier(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' || c == '/' }

// assignmentAt returns the assignment whose "=" or ":" is at i, without its end.
func (s *scan) assignmentAt(i int) (assignment, bool) {
	t := s.text
	from, end, quoted := nameBefore(t, i)
	a := assignment{name: t[from:end], from: from, quoted: quoted, value: i + 1}
	if from == end {
		return a, false
	}
	if a.value < len(t) && (t[a.value] == '=' || t[a.value] == '>') {
		a.value++
	}
	space := tail(t, a.value, isBlank)
	tight := space == a.value && space < len(t) && strings.IndexByte("\n\r\"'`", t[space]) < 0
	if t[i] == ':' && !quoted && tight { // As in image:tag, host:port.
		return a, false
	}
	a.value = space
	return a, true
}

// nameBefore returns the start and end of the name before i, and whether it is in quotes.
func nameBefore(t string, i int) (from, end int, quoted bool) {
	end = head(t, i, 40, isBlank)
	if end > 0 && (t[end-1] == '"' || t[end-1] == '\'') {
		quoted = true
		end--
		if end > 0 && t[end-1] == '\\' {
			end--
		}
	}
	return head(t, end, 128, isIdentifier), end, quoted
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

// extent sets the end of the value: its closing quote, the end of the indented block, or the
// separator of the language.
func (s *scan) extent(a *assignment, colon bool) {
	t := s.text
	switch {
	case a.value >= len(t):
		a.end = a.value
	case t[a.value] == '\\' && a.value+1 < len(t) && isQuote(t[a.value+1]):
		// A quote that is escaped itself: JSON in a text.
		a.value += 2
		a.end = closing(t, a.value, t[a.value-1], true)
	case isQuote(t[a.value]):
		a.value++
		a.end = closing(t, a.value, t[a.value-1], false)
	case colon && (t[a.value] == '|' || t[a.value] == '>'):
		s.block(a)
	case colon && (t[a.value] == '\n' || t[a.value] == '{' || t[a.value] == '['):
		a.end = a.value
	default:
		a.end = s.bare(a, colon)
	}
}

// closing returns the end of a quoted text.
func closing(t string, i int, quote byte, escaped bool) int {
	for ; i < len(t); i++ {
		switch {
		case escaped && t[i] == '\\' && i+1 < len(t) && t[i+1] == quote:
			return i
		case t[i] == '\\' && quote != '\'':
			i++
		case !escaped && t[i] == quote:
			return i
		}
	}
	return len(t)
}

// bare returns the end of a value without quotes.
func (s *scan) bare(a *assignment, colon bool) int {
	t := s.text
	rest := strings.TrimRight(t[a.value:s.endOfLine(a.value)], " \t\r")
	end := a.value + len(rest)
	begin := a.from
	if begin > 0 && isQuote(t[begin-1]) {
		if i := strings.IndexByte(rest, t[begin-1]); i >= 0 && !a.quoted { // In quotes with its name.
			return a.value + i
		}
		begin--
	}
	if colon && isInSentence(t, begin) { // In errors, "; " precedes the next step.
		if i := strings.Index(rest, "; "); i >= 0 {
			return a.value + i
		}
	}
	separators := separatorsOf(t, begin, rest, colon)
	if separators == "" || strings.HasPrefix(rest, "$(") { // A reference, not a command.
		return end
	}
	if i := strings.IndexAny(rest, separators); i >= 0 {
		return a.value + i
	}
	return end
}

// isInSentence reports whether another word precedes a name.
func isInSentence(t string, begin int) bool {
	before := head(t, begin, 64, isBlank)
	return before > 0 && before < begin && isAlnum(t[before-1])
}

// separatorsOf returns the bytes that end a value without quotes, or "" if it extends to the
// end of the line. The byte before the name, or else the next assignment in the line,
// determines them.
func separatorsOf(t string, begin int, rest string, colon bool) string {
	before := byte('\n')
	if line := head(t, begin, 64, isBlank); line > 0 && t[line-1] != '\n' && t[line-1] != 0 {
		before = t[begin-1]
	}
	switch {
	case colon && (before == '{' || before == ','):
		return ",}]"
	case colon:
		return ""
	case before == '?' || before == '&':
		return "&#\"'<> "
	case before == ';' || before == ',' || before == '|':
		return string(before) + "\"' "
	case isBlank(before):
		return " \t\"'"
	}
	return nextSeparator(rest)
}

// endOfLine returns the end of the line that contains a position. It searches each line once.
func (s *scan) endOfLine(at int) int {
	if at < s.line.from || at > s.line.to {
		s.line = span{at, len(s.text)}
		if end := strings.IndexAny(s.text[at:], "\n\x00"); end >= 0 {
			s.line.to = at + end
		}
	}
	return s.line.to
}

// nextSeparator returns the byte before the next name in a line of assignments, or "" if there
// is only one.
func nextSeparator(rest string) string {
	rest = rest[:min(len(rest), 1024)]
	for i := range len(rest) {
		if rest[i] != '=' {
			continue
		}
		from := head(rest, i, 64, func(c byte) bool { return isAlnum(c) || c == '_' || c == '-' || c == '.' })
		if from > 0 && from < i && strings.IndexByte(" ;,&", rest[from-1]) >= 0 {
			return rest[from-1 : from]
		}
	}
	return ""
}

// block sets the end of a YAML block, which consists of the lines with more indentation.
func (s *scan) block(a *assignment) {
	t := s.text
	start := strings.LastIndexByte(t[:a.from], '\n') + 1
	indent := tail(t, start, func(c byte) bool { return c == ' ' || c == '-' }) - start
	line := strings.IndexByte(t[a.value:], '\n')
	if line < 0 || len(strings.TrimSpace(t[a.value:a.value+line])) > 3 {
		a.end = s.bare(a, true)
		return
	}
	at := a.value + line + 1
	a.value = tail(t, at, func(c byte) bool { return c == ' ' })
	for at < len(t) {
		text := tail(t, at, func(c byte) bool { return c == ' ' })
		if text < len(t) && t[text] != '\n' && text-at <= indent {
			break
		}
		next := strings.IndexByte(t[text:], '\n')
		if next < 0 {
			at = len(t)
			break
		}
		at = text + next + 1
	}
	a.end = max(a.value, len(strings.TrimRight(t[:at], "\n ")))
}
