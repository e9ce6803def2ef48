package store

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/model"
)

// A Filter selects findings. A finding must match all fields. The zero Filter selects all open
// findings.
type Filter struct {
	// Since selects findings that were opened, changed or resolved at that time or later.
	Since time.Time
	// Verdicts selects findings with one of these verdicts; empty selects all.
	Verdicts []model.Verdict
	// Source selects the findings of one source; "" selects all.
	Source string
	// Resolved selects resolved findings, too.
	Resolved bool
	// Fits selects the findings for whose outlines it returns true; nil selects all. Several
	// goroutines may call it concurrently.
	Fits func(*model.Outline) bool
}

// fits reports whether the filter selects the finding of an outline, apart from Since and Resolved.
func (f *Filter) fits(o *model.Outline) bool {
	return (f.Source == "" || o.Source == f.Source) && (len(f.Verdicts) == 0 || slices.Contains(f.Verdicts, o.Verdict)) && (f.Fits == nil || f.Fits(o))
}

// all reports whether fits is true of every outline.
func (f *Filter) all() bool { return f.Source == "" && len(f.Verdicts) == 0 && f.Fits == nil }

// A FindingVersion is one version of a finding, from At until the next version. LastSeen of Finding
// is the time at which the finding last had this version.
type FindingVersion struct {
	At      time.Time
	Finding model.Finding
}

// OpenFindings returns the findings that are not resolved, sorted by ID.
func (s *Store) OpenFindings() ([]model.Finding, error) {
	var found []model.Finding
	err := s.view("read open findings", func(t *txn) (err error) {
		found, err = t.collect(t.open, Filter{})
		return err
	})
	return found, err
}

// Findings returns the findings that the filter selects, sorted by severity, worst first, then by
// key, then by verdict.
func (s *Store) Findings(f Filter) ([]model.Finding, error) {
	var found []model.Finding
	err := s.view("read findings", func(t *txn) (err error) {
		if found, err = t.collect(t.open, f); err != nil || !f.Resolved {
			return err
		}
		resolved, err := t.collect(t.resolved, f)
		found = append(found, resolved...)
		return err
	})
	model.SortWorst(found)
	return found, err
}

// Recent returns the findings that were resolved at the time since or later, sorted by ID.
func (s *Store) Recent(since time.Time) ([]model.Finding, error) {
	var found []model.Finding
	err := s.view("read resolved findings", func(t *txn) (err error) {
		found, err = t.collect(t.resolved, Filter{Since: since})
		return err
	})
	return slices.DeleteFunc(found, func(f model.Finding) bool { return f.Resolved.Before(since) }), err
}

// collect returns the findings of a bucket that the filter selects.
func (t *txn) collect(b *bucket, f Filter) ([]model.Finding, error) {
	var all []packed
	since := momentOf(f.Since)
	err := each(b, nil, func(id, v []byte) error {
		h, err := parseHead(v)
		if err != nil || h.at < since {
			return err
		}
		if !f.all() {
			var o model.Outline
			if err := h.decode(string(id), t.lastSeen(&h), &o); err != nil || !f.fits(&o) {
				return err
			}
		}
		p, err := t.packed(string(id), &h)
		all = append(all, p)
		return err
	})
	if err != nil {
		return nil, err
	}
	return t.unpackAll(all)
}

// packed is a compressed finding, and the time at which it was last seen.
type packed struct {
	seen moment
	// content is a copy, which remains valid after the transaction.
	content []byte
}

// packed returns the current version of a finding, compressed.
func (t *txn) packed(id string, h *head) (packed, error) {
	v := t.findings.get(findingKey(id, h.at))
	if v == nil {
		return packed{}, fmt.Errorf("%w: finding %s has no content", errCorrupt, id)
	}
	return packed{t.lastSeen(h), bytes.Clone(v)}, nil
}

func (c codec) unpackFinding(p packed) (model.Finding, error) {
	f, err := c.parseFinding(p.content)
	f.LastSeen = p.seen.time()
	return f, err
}

// unpackAll decompresses findings on all processors and keeps their order.
func (c codec) unpackAll(all []packed) ([]model.Finding, error) {
	if len(all) == 0 {
		return nil, nil
	}
	found := make([]model.Finding, len(all))
	workers := runtime.GOMAXPROCS(0)
	errs := make([]error, workers)
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(all) && errs[w] == nil; i += workers {
				found[i], errs[w] = c.unpackFinding(all[i])
			}
		})
	}
	group.Wait()
	return found, errors.Join(errs...)
}

// finding returns the current version of a finding.
func (t *txn) finding(id string, h *head) (model.Finding, error) {
	p, err := t.packed(id, h)
	if err != nil {
		return model.Finding{}, err
	}
	return t.unpackFinding(p)
}

func (t *txn) lastSeen(h *head) moment {
	if h.seen == withSource {
		return t.sourceSeen(h.source)
	}
	return h.seen
}

func (c codec) parseFinding(v []byte) (model.Finding, error) {
	if len(v) < 8 {
		return model.Finding{}, fmt.Errorf("%w: finding of %d bytes", errCorrupt, len(v))
	}
	var f model.Finding
	err := c.unpackJSON(v[8:], &f)
	f.LastSeen = momentAt(v).time()
	return f, err
}

// Finding returns the finding whose ID begins with idPrefix, and all its versions, oldest first. It
// returns ErrNotFound if there is none, and ErrAmbiguous with the candidates if there are several.
func (s *Store) Finding(idPrefix string) (model.Finding, []FindingVersion, error) {
	var now model.Finding
	var versions []FindingVersion
	err := s.view(fmt.Sprintf("find finding %q", idPrefix), func(t *txn) error {
		id, err := complete(idPrefix, "`driftd findings list` lists the findings", t.open, t.resolved)
		if err != nil {
			return err
		}
		h, _, err := t.head(id)
		if err != nil {
			return err
		}
		if now, err = t.finding(id, &h); err != nil {
			return err
		}
		versions, err = t.findingVersions(id)
		if err == nil && len(versions) > 0 {
			versions[len(versions)-1].Finding = now
		}
		return err
	})
	return now, versions, err
}

// maxCandidates bounds the number of candidates that an error lists.
const maxCandidates = 10

// complete returns the only key of the buckets that begins with begin. It returns ErrNotFound with
// the hint if there is none, and ErrAmbiguous if there are several.
func complete(begin, hint string, buckets ...*bucket) (string, error) {
	var ids []string
	for _, b := range buckets {
		err := each(b, []byte(begin), func(id, _ []byte) error {
			ids = append(ids, string(id))
			return nil
		})
		if err != nil {
			return "", err
		}
	}
	slices.Sort(ids)
	switch {
	case begin == "" || len(ids) == 0:
		return "", fmt.Errorf("%w: %s", ErrNotFound, hint)
	case len(ids) == 1 || ids[0] == begin:
		return ids[0], nil
	}
	if more := len(ids) - maxCandidates; more > 0 {
		ids = append(ids[:maxCandidates], fmt.Sprintf("and %d more", more))
	}
	return "", fmt.Errorf("%w: candidates are %s", ErrAmbiguous, strings.Join(ids, ", "))
}

func (t *txn) findingVersions(id string) ([]FindingVersion, error) {
	var versions []FindingVersion
	prefix := prefixOf(id)
	err := each(t.findings, prefix, func(k, v []byte) error {
		at := bytes.TrimPrefix(k, prefix)
		if len(at) != 8 {
			return fmt.Errorf("%w: version key of finding %s", errCorrupt, id)
		}
		f, err := t.parseFinding(v)
		if err != nil {
			return err
		}
		versions = append(versions, FindingVersion{At: momentAt(at).time(), Finding: f})
		return nil
	})
	return versions, err
}
