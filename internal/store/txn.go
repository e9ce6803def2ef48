package store

import (
	"fmt"

	"go.etcd.io/bbolt"

	"github.com/driftd/driftd/internal/audit"
)

// fullPages is the fill percentage of pages in buckets that grow at their end, as most do when the
// resources of a new source are added in key order.
const fullPages = 0.9

// A txn is the buckets in one transaction.
type txn struct {
	codec

	// all are the buckets below in the order of bucketNames; totals holds their totals by name.
	all    []*bucket
	totals *bucket

	notes                          *bucket
	resources, versions, contents  *bucket
	open, resolved, findings, seen *bucket
	runs, newest, decisions        *bucket
	threads, paces                 *bucket
	outbox, receipts               *bucket
	audit, actions                 *bucket

	// signer signs the audit log; nil if the store writes none. signed is the new head that the
	// transaction signed; nil if there is none.
	signer *audit.Key
	signed *audit.Head
	// pending are the entries that the transaction appends to the log when it ends, changed the
	// records that it changed and for which none of them accounts yet, and before all records that
	// it changed as they were.
	pending []audit.Entry
	// begunOver is Store.begunOver, and beginDoubt the doubt about the log that the transaction begins.
	begunOver  func(*txn) string
	beginDoubt string
	changed    map[string]change
	before     map[string]mark
	// strict makes the transaction fail if it cannot be recorded in the audit log.
	strict bool
}

// begin returns the buckets of a transaction. It returns an error if a bucket does not exist, and
// panics with a *RecordError if the total of a bucket is damaged.
func begin(tx *bbolt.Tx, c codec) (*txn, error) {
	t := &txn{codec: c}
	raw, err := rawBucket(tx, totalBucket)
	if err != nil {
		return nil, err
	}
	t.totals = newBucket(totalBucket, raw)
	if err := noSequence(tx, metaBucket, totalBucket); err != nil {
		return nil, err
	}
	found := map[string]*bucket{}
	for _, name := range bucketNames() {
		b, err := t.find(tx, name)
		if err != nil {
			return nil, err
		}
		found[name] = b
		t.all = append(t.all, b)
	}
	t.notes = found[noteBucket]
	t.resources, t.versions, t.contents = found[resourceBucket], found[versionBucket], found[contentBucket]
	t.open, t.resolved, t.findings, t.seen = found[openBucket], found[resolvedBucket], found[findingBucket], found[seenBucket]
	t.runs, t.newest, t.decisions = found[runBucket], found[newestBucket], found[decisionBucket]
	t.threads, t.paces = found[threadBucket], found[paceBucket]
	t.outbox, t.receipts = found[outboxBucket], found[receiptBucket]
	t.audit, t.actions = found[auditBucket], found[actionBucket]
	t.audit.authentic = true
	return t, nil
}

// noSequence returns an error if one of the buckets, which have no total, has a sequence: driftd
// never writes one.
func noSequence(tx *bbolt.Tx, names ...string) error {
	for _, name := range names {
		raw, err := rawBucket(tx, name)
		if err != nil {
			return err
		}
		if n := raw.Sequence(); n != 0 {
			return &RecordError{Bucket: name, What: fmt.Sprintf("its sequence is %d but was written as 0", n)}
		}
	}
	return nil
}

func rawBucket(tx *bbolt.Tx, name string) (*bbolt.Bucket, error) {
	raw := tx.Bucket([]byte(name))
	if raw == nil {
		return nil, &RecordError{Bucket: name, What: "the bucket is missing"}
	}
	raw.FillPercent = fullPages
	return raw, nil
}

func (t *txn) find(tx *bbolt.Tx, name string) (*bucket, error) {
	raw, err := rawBucket(tx, name)
	if err != nil {
		return nil, err
	}
	b := newBucket(name, raw)
	stored := t.totals.get([]byte(name))
	if stored == nil {
		return nil, &RecordError{Bucket: name, What: "its total is missing"}
	}
	if b.was, err = parseTotal(stored); err != nil {
		return nil, t.totals.damage([]byte(name), err.Error())
	}
	if n := raw.Sequence(); n != b.was.sequence {
		return nil, &RecordError{Bucket: name, What: fmt.Sprintf("its sequence is %d but was written as %d", n, b.was.sequence)}
	}
	b.now = b.was
	return b, nil
}

// finish writes the totals of the buckets that the transaction changed.
func (t *txn) finish() error {
	for _, b := range t.all {
		if b.now == b.was {
			continue
		}
		if err := t.totals.put([]byte(b.name), b.now.encode()); err != nil {
			return fmt.Errorf("write total of %s: %w", b.name, err)
		}
	}
	return nil
}
