package store

import "bytes"

// A stateIterator iterates over the stored states of the resources of a source, in the order of their keys.
type stateIterator struct {
	in     *bucket
	prefix []byte
	cursor cursor
	// key and value are the current state. Behind the last one of the source, key does not begin with prefix.
	key, value []byte
}

func newStateIterator(in *bucket, source string) *stateIterator {
	it := &stateIterator{in: in, prefix: prefixOf(source), cursor: in.cursor()}
	it.key, it.value = it.cursor.seek(it.prefix)
	return it
}

func (it *stateIterator) next() { it.key, it.value = it.cursor.next() }

// before reports whether there is a current state, and it comes before key if that is not nil.
func (it *stateIterator) before(key []byte) bool {
	return bytes.HasPrefix(it.key, it.prefix) && (key == nil || bytes.Compare(it.key, key) < 0)
}

// take returns the current state and goes to the next one, if key is its key; otherwise it returns nil.
func (it *stateIterator) take(key []byte) []byte {
	if !bytes.Equal(it.key, key) {
		return nil
	}
	value := it.value
	it.next()
	return value
}

// resumeAfter continues behind key, after states were written: a write ends the iteration of a cursor.
func (it *stateIterator) resumeAfter(key []byte) {
	it.cursor = it.in.cursor()
	it.key, it.value = it.cursor.seek(key)
	it.take(key)
}
