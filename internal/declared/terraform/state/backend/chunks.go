package backend

import (
	"errors"
	"io"
)

// chunks is a reader of the concatenation of several streams.
type chunks struct {
	// next opens the next stream; it returns io.EOF after the last one.
	next func() (io.ReadCloser, error)
	open io.ReadCloser
}

// Read reads from the current stream, or else from the next one.
func (c *chunks) Read(p []byte) (int, error) {
	for {
		if c.open == nil {
			var err error
			if c.open, err = c.next(); err != nil {
				return 0, err
			}
		}
		n, err := c.open.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if err := c.Close(); err != nil || n > 0 {
			return n, err
		}
	}
}

// Close closes the current stream.
func (c *chunks) Close() error {
	if c.open == nil {
		return nil
	}
	open := c.open
	c.open = nil
	return open.Close()
}
