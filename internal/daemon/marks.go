package daemon

import (
	"fmt"
	"slices"
	"time"

	"github.com/driftd/driftd/internal/model"
)

const (
	// acceptAfter is how long an older position must last, and advance, until it is
	// accepted: a source that was restored from a backup does not return to its earlier
	// position.
	acceptAfter = time.Hour
	// clockSkew is the maximum difference of the clocks of a source's servers, in seconds.
	clockSkew = 60
)

// track compares the positions of a snapshot with the greatest earlier ones. It calls Doubt for
// each scope whose position decreased, and returns the marks for the next snapshot. See
// docs/decisions/0032.
func track(marks []model.Mark, s *model.Snapshot, now time.Time) []model.Mark {
	marks = slices.Clone(marks)
	for _, p := range s.Positions {
		i := slices.IndexFunc(marks, func(m model.Mark) bool { return m.Scope == p.Scope && m.Name == p.Name })
		if i < 0 {
			marks = append(marks, model.Mark{Position: p, Seen: now})
			continue
		}
		marks[i] = advance(mendMark(marks[i], now), p, s, now)
		if m := &marks[i]; m.Older != nil {
			s.Doubt(p.Scope, wentBack(m, p))
		}
	}
	return marks
}

// mendMark returns the mark with times that are in the future, after a clock was set back,
// replaced.
func mendMark(m model.Mark, now time.Time) model.Mark {
	if m.Seen.After(now) {
		m.Seen = time.Time{}
	}
	if m.Older != nil && m.Older.Since.After(now) {
		m.Older = &model.Older{First: m.Older.First, Last: m.Older.Last, Since: now}
	}
	return m
}

// advance returns the mark that follows m after the position p was read.
func advance(m model.Mark, p model.Position, s *model.Snapshot, now time.Time) model.Mark {
	seen := model.Mark{Position: p, Seen: now}
	switch {
	case p.Value >= m.Value, p.Lineage != "" && m.Lineage != "" && p.Lineage != m.Lineage:
		return seen
	case !m.Seen.Before(p.Asked):
		return m // Two reads ran at the same time: the older one was read first.
	case m.Object != "" && !wasRead(s, model.Ref{Kind: m.Kind, ID: m.Object}, m.Place):
		return m
	case m.Object != "" && !s.Has(model.Ref{Kind: m.Kind, ID: m.Object}):
		return seen // Deleting the object that changed last lowers the position.
	case m.Object != "" && m.Value-p.Value <= clockSkew:
		m.Older = nil
		return m
	case m.Older == nil || p.Value < m.Older.Last:
		m.Older = &model.Older{First: p.Value, Last: p.Value, Since: now}
		return m
	case p.Value > m.Older.First && now.Sub(m.Older.Since) >= acceptAfter:
		return seen
	}
	m.Older = &model.Older{First: m.Older.First, Last: p.Value, Since: m.Older.Since}
	return m
}

// wasRead reports whether a snapshot covers an object, and read it in full.
func wasRead(s *model.Snapshot, ref model.Ref, place string) bool {
	covered, _ := s.Covers(ref.Kind, place)
	return covered && !slices.ContainsFunc(s.Unread, func(u model.Unread) bool { return u.Includes(ref) })
}

// wentBack returns the reason of a position that went back, with the next step.
func wentBack(m *model.Mark, p model.Position) string {
	return fmt.Sprintf("%s went back from %s to %s, so that the source answers from an old copy (a replica or a cache that lags): "+
		"let driftd read the primary; after a restore from a backup the older state is accepted once it has changed and %s have passed since %s",
		p.Name, m.Position, p, acceptAfter, m.Older.Since.UTC().Format(time.RFC3339))
}
