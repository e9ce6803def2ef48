package store

import (
	"bytes"
	"fmt"

	"go.etcd.io/bbolt"
)

// fullPages is how full bbolt leaves the pages of buckets that grow at their
// end, as those do into which a new source goes key by key.
const fullPages = 0.9

// A txn is one transaction's view of the buckets.
type txn struct {
	codec
	meta                           *bbolt.Bucket
	resources, versions, contents  *bbolt.Bucket
	open, resolved, findings, seen *bbolt.Bucket
	runs, decisions                *bbolt.Bucket
	threads, paces                 *bbolt.Bucket
	outbox, receipts               *bbolt.Bucket
}

// begin finds the buckets; one that is missing means damage.
func begin(tx *bbolt.Tx, c codec) (*txn, error) {
	found := map[string]*bbolt.Bucket{}
	for _, name := range bucketNames() {
		b := tx.Bucket([]byte(name))
		if b == nil {
			return nil, fmt.Errorf("%w: bucket %s is missing", errCorrupt, name)
		}
		b.FillPercent = fullPages
		found[name] = b
	}
	return &txn{
		codec: c, meta: found[metaBucket], resources: found[resourceBucket], versions: found[versionBucket], contents: found[contentBucket],
		open: found[openBucket], resolved: found[resolvedBucket], findings: found[findingBucket],
		seen: found[seenBucket], runs: found[runBucket],
		decisions: found[decisionBucket], threads: found[threadBucket], paces: found[paceBucket],
		outbox: found[outboxBucket], receipts: found[receiptBucket],
	}, nil
}

// each calls fn for the entries of b whose keys begin with prefix, in order.
// fn must not change b.
func each(b *bbolt.Bucket, prefix []byte, fn func(k, v []byte) error) error {
	c := b.Cursor()
	for k, v := c.Seek(prefix); k != nil && bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if err := fn(k, v); err != nil {
			return err
		}
	}
	return nil
}

// An entry is what is to be written once a bucket is no longer being read.
type entry struct{ key, value []byte }

func putAll(b *bbolt.Bucket, entries []entry) error {
	for _, e := range entries {
		if err := b.Put(e.key, e.value); err != nil {
			return fmt.Errorf("write %q: %w", e.key, err)
		}
	}
	return nil
}
