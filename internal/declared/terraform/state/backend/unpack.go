package backend

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// unpack returns what r holds, unzipped where it is zipped.
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

// bounded fails where a stream goes on for longer than it may.
type bounded struct {
	r           io.Reader
	left, limit int64
}

// Read returns an error as soon as there is more than the bound.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("more than %d MiB; raise backend.max_bytes", b.limit>>20)
	}
	return n, err
}

// readAll reads an answer that is no state.
func readAll(r io.ReadCloser) (content []byte, err error) {
	defer func() { err = errors.Join(err, r.Close()) }()
	return io.ReadAll(&bounded{r: r, left: maxAnswer, limit: maxAnswer})
}

// maxAnswer bounds an answer that is no state.
const maxAnswer = 64 << 20
