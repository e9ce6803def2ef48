package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/model"
)

// verify reads every record of a file and checks it against the others: the
// order of keys, each content against its digest, each reference.
func verify(path string, c codec) error {
	h, err := openHandle(path, true, lockTimeout)
	if err != nil {
		return err
	}
	err = guard(func() error {
		return h.db.View(func(tx *bbolt.Tx) error {
			t, err := begin(tx, c)
			if err != nil {
				return err
			}
			return t.verify()
		})
	})
	if suspicious(err) {
		return errors.Join(err, h.abandon())
	}
	return errors.Join(err, h.close())
}

func (t *txn) verify() error {
	for _, part := range []struct {
		what  string
		in    *bbolt.Bucket
		check func(k, v []byte) error
	}{
		{"first look", t.meta, verifyMeta},
		{"content", t.contents, func(k, _ []byte) error { _, err := t.content(digest(k)); return err }},
		{"version", t.versions, func(_, v []byte) error { return t.verifyVersion(v) }},
		{"resource", t.resources, t.verifyState},
		{"open finding", t.open, t.verifyHead},
		{"resolved finding", t.resolved, t.verifyHead},
		{"version of a finding", t.findings, func(_, v []byte) error { _, err := t.parseFinding(v); return err }},
		{"run", t.runs, func(_, v []byte) error { _, err := t.parseRun(v); return err }},
		{"decision", t.decisions, func(k, v []byte) error { _, err := t.parseDecision(k, v); return err }},
		{"thread", t.threads, func(k, v []byte) error { _, err := t.parseThread(k, v); return err }},
		{"pace", t.paces, func(_, v []byte) error { return t.unpackJSON(v, new(model.Pace)) }},
		{"message", t.outbox, func(k, v []byte) error { _, _, err := t.parseMessage(k, v); return err }},
		{"receipt", t.receipts, func(_, v []byte) error { return t.unpackJSON(v, new(string)) }},
	} {
		if err := inOrder(part.what, part.in, part.check); err != nil {
			return err
		}
	}
	return nil
}

// verifyMeta checks an entry of the file's own data.
func verifyMeta(k, v []byte) error {
	if !bytes.HasPrefix(k, []byte(firstKey)) {
		return nil
	}
	_, err := parseFirstLook(k, v)
	return err
}

// inOrder checks the entries of a bucket up to the first that is wrong.
func inOrder(what string, b *bbolt.Bucket, check func(k, v []byte) error) error {
	var last []byte
	return each(b, nil, func(k, v []byte) error {
		if last != nil && bytes.Compare(last, k) >= 0 {
			return fmt.Errorf("%w: %s %q is out of order", errCorrupt, what, k)
		}
		last = k
		if err := check(k, v); err != nil {
			return fmt.Errorf("%s %q: %w", what, k, err)
		}
		return nil
	})
}

func (t *txn) verifyVersion(v []byte) error {
	sum, err := versionSum(v)
	if err != nil || sum == (digest{}) {
		return err
	}
	if t.contents.Get(sum[:]) == nil {
		return fmt.Errorf("%w: content %x is missing", errCorrupt, sum)
	}
	_, err = versionActor(v)
	return err
}

func (t *txn) verifyState(k, v []byte) error {
	if _, err := parseKey(k); err != nil {
		return err
	}
	st, err := parseState(v)
	if err != nil {
		return err
	}
	version := t.versions.Get(versionKey(st.num, st.at))
	if version == nil {
		return fmt.Errorf("%w: its last version is missing", errCorrupt)
	}
	if sum, err := versionSum(version); err != nil || sum != st.sum {
		return fmt.Errorf("%w: its last version is another one", errCorrupt)
	}
	return nil
}

func (t *txn) verifyHead(id, v []byte) error {
	h, err := parseHead(v)
	if err != nil {
		return err
	}
	version := t.findings.Get(findingKey(string(id), h.at))
	if len(version) < 8 {
		return fmt.Errorf("%w: its content is missing", errCorrupt)
	}
	body, err := t.unpack(version[8:])
	if err == nil && sha256.Sum256(body) != h.sum {
		err = fmt.Errorf("%w: its content is not what was stored", errCorrupt)
	}
	return err
}
