package backend

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// unpack returns the content of r, decompressed if it is gzip.
func unpack(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	magic, err := buffered.Peek(2)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if !bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		return buffered, nil
	}
	unzipped, err := gzip.NewReader(buffered)
	if err != nil {
		return nil, fmt.Errorf("unzip: %w", err)
	}
	return unzipped, nil
}

// limitedReader is a reader that returns an error beyond a limit.
type limitedReader struct {
	r           io.Reader
	left, limit int64
}

// Read reads from the underlying reader. It returns an error as soon as the data exceeds the limit.
func (l *limitedReader) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= int64(n); l.left < 0 {
		return 0, fmt.Errorf("more than %d MiB; raise backend.max_bytes", l.limit>>20)
	}
	return n, err
}

// readAll reads a response that is not a state.
func readAll(r io.ReadCloser) (content []byte, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(&limitedReader{r: r, left: maxAnswer, limit: maxAnswer})
}

// maxAnswer bounds a response that is not a state, in bytes.
const maxAnswer = 64 << 20
