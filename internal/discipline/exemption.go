package discipline

import (
	"bytes"
	"strings"

	"github.com/driftd/driftd/internal/lazyregexp"
	"github.com/driftd/driftd/internal/printable"
)

// ignoreComment matches a comment that exempts a line: the marker, the ID of the check, and the reason.
var ignoreComment = lazyregexp.New(`(?:^|\s)(?:#|//)\s*driftd:ignore\b[ \t]*([^\s]*)[ \t]*(.*)$`)

// comments are the exemptions of a file by line, and the lines that are nothing but comments.
type comments struct {
	exempt map[int]exemption
	only   map[int]bool
}

type exemption struct{ check, reason string }

// noteComments reads the exemptions of a file. One without a reason, or for an unknown check, is a finding.
func (c *checker) noteComments(file string, text []byte) {
	if c.comments[file] != nil || !bytes.Contains(text, []byte("driftd:ignore")) {
		return
	}
	found := &comments{map[int]exemption{}, map[int]bool{}}
	c.comments[file] = found
	line := 0
	for content := range bytes.Lines(text) {
		line++
		content = bytes.TrimSpace(content)
		found.only[line] = bytes.HasPrefix(content, []byte("#")) || bytes.HasPrefix(content, []byte("//"))
		m := ignoreComment().FindSubmatch(content)
		if m == nil {
			continue
		}
		e := exemption{string(m[1]), printable.Text(string(m[2]))}
		switch {
		case c.checks[e.check] == nil:
			c.report(exemptionInvalid, file, line, 0, "the comment", "names no check: "+printable.Line(e.check, 60))
		case strings.TrimSpace(e.reason) == "":
			c.report(exemptionInvalid, file, line, 0, "the comment", "exempts "+e.check+" without a reason, and has no effect")
		default:
			found.exempt[line] = e
		}
	}
}

// exempted returns the reason for which a finding is exempted, by a comment on its line or on the comment lines above.
func (c *checker) exempted(f *Finding) (string, bool) {
	in := c.comments[f.File]
	if in == nil {
		return "", false
	}
	for _, line := range []int{f.Line, f.block} {
		for at := line; at > 0 && (at == line || in.only[at]); at-- {
			if e, ok := in.exempt[at]; ok && e.check == f.Check {
				return e.reason, true
			}
		}
	}
	return "", false
}
