package state

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
)

// A source is a bounded reader that hashes the bytes which it returns.
type source struct {
	r    io.Reader
	max  int64
	size int64
	hash hash.Hash
	// err is the error of the reader, except io.EOF.
	err error
}

func newSource(r io.Reader, limit int64) *source {
	return &source{r: r, max: cmp.Or(limit, DefaultMaxBytes), hash: sha256.New()}
}

// Read returns an error if the reader has more bytes than the bound.
func (s *source) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	s.size += int64(n)
	s.hash.Write(p[:n])
	switch {
	case s.size > s.max:
		s.err = fmt.Errorf("the state is larger than %d MiB; raise backend.max_bytes", s.max>>20)
	case err != nil && !errors.Is(err, io.EOF):
		s.err = err
	}
	if s.err != nil {
		return 0, s.err
	}
	return n, err
}

func (s *source) sum() string { return hex.EncodeToString(s.hash.Sum(nil)) }
