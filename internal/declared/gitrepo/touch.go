package gitrepo

import (
	"cmp"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/driftd/driftd/internal/model"
)

// A Touch is the last commit that made a file what it is.
type Touch struct {
	// Commit is the full hash; "" where the file has been what it is for longer
	// than was looked back.
	Commit string
	// Path is the file, from the top of the repository.
	Path string
	// Author is the author's name, or else e-mail, printable and bounded; ""
	// where the commit names neither.
	Author string
	// At is when the commit was made, after its committer's clock; zero where
	// that says nothing that is a time.
	At time.Time
	// Message is the first line of what the author wrote, printable and bounded.
	Message string
	// steps is how many commits lie between it and the one that was read.
	steps int
}

// The most of a commit's texts that is shown, in characters.
const (
	maxAuthor  = 100
	maxMessage = 200
	maxPath    = 300
)

// touchOf returns what a commit says of itself.
func touchOf(c *object.Commit) *Touch {
	message, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return &Touch{
		Commit: c.Hash.String(), At: timeOf(c), Message: line(message, maxMessage),
		Author: cmp.Or(line(c.Author.Name, maxAuthor), line(c.Author.Email, maxAuthor)),
	}
}

// timeOf returns when a commit came to be, after its committer's clock. A time
// that no calendar of ours has is zero: it could not be written down.
func timeOf(c *object.Commit) time.Time {
	at := c.Committer.When.UTC()
	if at.Unix() <= 0 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// line makes a foreign text fit for one line of at most limit characters.
func line(s string, limit int) string {
	// No character has more than four bytes.
	cut := len(s) > 4*limit
	if cut {
		s = s[:4*limit]
	}
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if cut || len(runes) > limit {
		return string(runes[:min(len(runes), limit-1)]) + "…"
	}
	return string(runes)
}

// After tells whether the touch came after another one, as far as their times
// and their places in the history tell.
func (t Touch) After(u Touch) bool {
	if !t.At.Equal(u.At) {
		return t.At.After(u.At)
	}
	return cmp.Or(cmp.Compare(u.steps, t.steps), cmp.Compare(t.Commit, u.Commit), cmp.Compare(t.Path, u.Path)) > 0
}

// Traces are what the last of the commits that touched some files tells of who
// wrote what they say together: one trace, or none where that is not known of
// one of the files, is too long ago, or the commit names nobody.
func Traces(touches map[string]Touch, files ...string) []model.AuditEvent {
	var last Touch
	for _, file := range files {
		t, known := touches[file]
		if !known {
			return nil
		}
		if t.Commit != "" && (last.Commit == "" || t.After(last)) {
			last = t
		}
	}
	if last.Author == "" {
		return nil
	}
	return []model.AuditEvent{{Action: model.Edited, Actor: model.Actor{
		Name: last.Author, At: last.At, Via: "git", Confidence: model.Likely, Message: last.Message,
		Evidence: fmt.Sprintf("commit %.12s %s", last.Commit, line(last.Path, maxPath)),
	}}}
}
