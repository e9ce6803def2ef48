package gitrepo

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/printable"
)

// A Touch describes the last commit that changed a file.
type Touch struct {
	// Commit is the full commit hash. It is "" if none of the commits that were read changed the file.
	Commit string
	// Path is the path of the file in the repository.
	Path string
	// Author is the name of the author or, if that is empty, the e-mail address. It is bounded and contains
	// only printable characters. It is "" if the commit has neither.
	Author string
	// At is the time of the commit according to its committer. It is zero if the commit has no valid time.
	At time.Time
	// Message is the first line of the commit message. It is bounded and contains only printable
	// characters.
	Message string
	// steps is the number of commits between this one and the one that was read.
	steps int
}

// Limits of the texts of a commit in messages, in characters.
const (
	maxAuthor  = 100
	maxMessage = 200
	maxPath    = 300
)

// touchOf returns the Touch of the commit c, without the fields of a file.
func touchOf(c *object.Commit) *Touch {
	message, _, _ := strings.Cut(strings.TrimSpace(c.Message), "\n")
	return &Touch{
		Commit: c.Hash.String(), At: timeOf(c), Message: printable.Line(message, maxMessage),
		Author: cmp.Or(printable.Line(c.Author.Name, maxAuthor), printable.Line(c.Author.Email, maxAuthor)),
	}
}

// timeOf returns the time of the commit c by its committer's clock. It returns zero for a time
// outside of the years 1970 to 9999, which cannot be stored.
func timeOf(c *object.Commit) time.Time {
	at := c.Committer.When.UTC()
	if at.Unix() <= 0 || at.Year() > 9999 {
		return time.Time{}
	}
	return at
}

// After reports whether t is later than u. It compares times, and then the distances from the commit that
// was read.
func (t Touch) After(u Touch) bool {
	if !t.At.Equal(u.At) {
		return t.At.After(u.At)
	}
	return cmp.Or(cmp.Compare(u.steps, t.steps), cmp.Compare(t.Commit, u.Commit), cmp.Compare(t.Path, u.Path)) > 0
}

// A TouchesFunc returns the last commit that changed each of the named files, by name. A file is absent if
// its last change cannot be determined.
type TouchesFunc func(ctx context.Context, names []string) map[string]Touch

// Authors returns who last changed each of the named files. If the history does not contain the change, the
// actor is unknown and has the reason.
func (f TouchesFunc) Authors(ctx context.Context, names []string) map[string]model.Actor {
	found := f(ctx, names)
	authors := make(map[string]model.Actor, len(names))
	for _, name := range names {
		authors[name] = authorOf(found, name)
	}
	return authors
}

func authorOf(found map[string]Touch, name string) model.Actor {
	last, known := found[name]
	switch events := AuditEvents(found, name); {
	case len(events) > 0:
		return events[0].Actor
	case !known:
		return model.UnknownActor("git does not show who changed the file last: it is not committed as it is, or no history was read (history)")
	case last.Commit == "":
		return model.UnknownActor("no commit that was read changed the file: raise history to read more of them")
	}
	return model.UnknownActor(fmt.Sprintf("commit %.12s, which changed the file last, has no author", last.Commit))
}

// AuditEvents returns the latest touch of the files as a single audit event. It returns nil if the touch of
// a file is unknown, if the commits read changed none of the files, or if the commit has no author.
func AuditEvents(touches map[string]Touch, files ...string) []model.AuditEvent {
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
		Evidence: fmt.Sprintf("commit %.12s %s", last.Commit, printable.Line(last.Path, maxPath)),
	}}}
}
