package store

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"github.com/driftd/driftd/internal/audit"
	"github.com/driftd/driftd/internal/model"
)

// A Seal contains the functions that seal values which were stored under other rules.
type Seal struct {
	// Rules identifies the current rules.
	Rules string
	// Value returns a value of a resource of the kind, sealed by the current rules.
	Value func(kind string, v model.Value) model.Value
	// Finding seals a finding in place and updates its Basis.
	Finding func(*model.Finding)
}

// Sealed reports whether all values in the file are sealed by the rules. It returns true for an
// empty file.
func (s *Store) Sealed(rules string) (bool, error) {
	same := false
	err := s.view("read the sealing rules", func(t *txn) error {
		same = string(t.notes.get([]byte(sealNote))) == rules || empty(t)
		return nil
	})
	return same, err
}

func empty(t *txn) bool {
	k, _ := t.resources.cursor().first()
	l, _ := t.findings.cursor().first()
	return k == nil && l == nil
}

// Reseal seals the values and findings in the file by the current rules, unless they already are.
// It removes a version of a resource that differs from the preceding one only in values that are
// now secret. Decisions still apply to their findings. The old bytes remain in the file until bbolt
// overwrites their pages.
func (s *Store) Reseal(seal Seal) error {
	same, err := s.Sealed(seal.Rules)
	if err != nil {
		return err
	}
	return s.update("seal stored values", func(t *txn) error {
		r := resealer{txn: t, seal: seal, sums: map[kindSum]digest{}, bases: map[string]string{}}
		if !same {
			if err := r.all(); err != nil {
				return err
			}
		}
		if string(t.notes.get([]byte(sealNote))) == seal.Rules {
			return nil
		}
		if err := t.notes.put([]byte(sealNote), []byte(seal.Rules)); err != nil || same {
			return err
		}
		return t.record(audit.Entry{Kind: audit.KindReseal, Time: s.o.Now(), Data: resealData{t.changes(findingLetter)}})
	})
}

type kindSum struct {
	kind string
	sum  digest
}

type resealer struct {
	*txn

	seal Seal
	// sums maps the digest of a content, per kind, to the digest of the sealed content.
	sums map[kindSum]digest
	// bases maps the former bases of findings to the new ones.
	bases map[string]string
}

func (r *resealer) all() error {
	if err := r.sealResources(); err != nil {
		return fmt.Errorf("resources: %w", err)
	}
	if err := (&pruner{txn: r.txn}).pruneContents(); err != nil {
		return fmt.Errorf("contents: %w", err)
	}
	if err := r.sealFindings(); err != nil {
		return fmt.Errorf("findings: %w", err)
	}
	if err := r.rebase(); err != nil {
		return fmt.Errorf("decisions: %w", err)
	}
	return nil
}

func (r *resealer) sealResources() error {
	var states []entry
	err := each(r.resources, nil, func(k, v []byte) error {
		key, err := parseKey(k)
		if err != nil {
			return err
		}
		st, err := parseState(v)
		if err != nil {
			return err
		}
		now, err := r.versionsOf(key.Kind, st)
		if err != nil {
			return fmt.Errorf("resource %s: %w", key, err)
		}
		if now != st {
			states = append(states, entry{bytes.Clone(k), now.encode()})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return putAll(r.resources, states)
}

// versionsOf seals the versions of a resource and returns its new state.
func (r *resealer) versionsOf(kind string, st state) (state, error) {
	var changed []entry
	var gone [][]byte
	var before, last digest
	at := st.at
	err := each(r.versions, runKey(st.num), func(k, v []byte) error {
		sum, err := versionSum(v)
		if err != nil {
			return err
		}
		now, err := r.sum(kind, sum)
		if err != nil {
			return err
		}
		if now == before && sum != now && now != (digest{}) {
			gone = append(gone, bytes.Clone(k))
			return nil
		}
		if now != sum {
			changed = append(changed, entry{bytes.Clone(k), append(now[:], v[len(sum):]...)})
		}
		before, last, at = now, now, momentAt(k[8:])
		return nil
	})
	if err != nil {
		return st, err
	}
	st.sum, st.at = last, at
	if err := putAll(r.versions, changed); err != nil {
		return st, err
	}
	return st, removeAll(r.versions, gone)
}

// sum seals a content, stores it, and returns its digest.
func (r *resealer) sum(kind string, sum digest) (digest, error) {
	if (sum == digest{}) {
		return sum, nil
	}
	if now, known := r.sums[kindSum{kind, sum}]; known {
		return now, nil
	}
	value, err := r.value(sum)
	if err != nil {
		return sum, err
	}
	now := sum
	if sealed := r.seal.Value(kind, *value); !sealed.Equal(*value) {
		raw := sealed.AppendJSON(nil)
		now = sha256.Sum256(raw)
		packed, err := r.pack(raw)
		if err != nil {
			return sum, err
		}
		if err := r.contents.put(now[:], packed); err != nil {
			return sum, fmt.Errorf("write content: %w", err)
		}
	}
	r.sums[kindSum{kind, sum}] = now
	return now, nil
}

func (r *resealer) sealFindings() error {
	var changed []entry
	sealed := map[string]head{}
	err := each(r.findings, nil, func(k, v []byte) error {
		f, err := r.parseFinding(v)
		if err != nil {
			return err
		}
		was, err := encodeFinding(f)
		if err != nil {
			return err
		}
		basis := f.Basis
		r.seal.Finding(&f)
		body, err := encodeFinding(f)
		if err != nil || bytes.Equal(body, was) {
			return err
		}
		if f.Basis != basis {
			r.bases[basis] = f.Basis
		}
		packed, err := r.pack(body)
		if err != nil {
			return err
		}
		changed = append(changed, entry{bytes.Clone(k), append(bytes.Clone(v[:8]), packed...)})
		sealed[string(k)] = head{sum: sha256.Sum256(body), outline: encodeOutline(&f)}
		return nil
	})
	if err != nil {
		return err
	}
	if err := putAll(r.findings, changed); err != nil {
		return err
	}
	for _, b := range []*bucket{r.open, r.resolved} {
		if err := sealHeads(b, sealed); err != nil {
			return err
		}
	}
	return nil
}

// sealHeads updates the digests and the outlines in the heads of findings. sealed contains the new
// ones by the key of the version.
func sealHeads(b *bucket, sealed map[string]head) error {
	var changed []entry
	err := each(b, nil, func(id, v []byte) error {
		h, err := parseHead(v)
		if err != nil {
			return err
		}
		if now, ok := sealed[string(findingKey(string(id), h.at))]; ok {
			h.sum, h.outline = now.sum, now.outline
			changed = append(changed, entry{bytes.Clone(id), h.encode()})
		}
		return nil
	})
	if err != nil {
		return err
	}
	return putAll(b, changed)
}

// rebase updates the bases in decisions so that they still apply to their findings.
func (r *resealer) rebase() error {
	if len(r.bases) == 0 {
		return nil
	}
	list, err := r.allDecisions()
	if err != nil {
		return err
	}
	for i := range list {
		d := &list[i]
		now, changed := r.bases[d.Basis]
		if changed {
			d.Basis = now
		}
		for k := range d.Covered {
			if now, ok := r.bases[d.Covered[k].Basis]; ok {
				d.Covered[k].Basis, changed = now, true
			}
		}
		if changed {
			if err := r.putDecision(d); err != nil {
				return err
			}
		}
	}
	return nil
}
