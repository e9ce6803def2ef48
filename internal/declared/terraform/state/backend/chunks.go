package backend

import (
	"errors"
	"io"
)

// chunks reads one stream after the other.
type chunks struct {
	// next opens the next stream; io.EOF tells that there is none.
	next func() (io.ReadCloser, error)
	open io.ReadCloser
}

// Read reads from the stream that is open, or from the next one.
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

// Close closes the stream that is open.
func (c *chunks) Close() error {
	if c.open == nil {
		return nil
	}
	open := c.open
	c.open = nil
	return open.Close()
}
