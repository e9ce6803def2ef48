package cloudtrail

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

const (
	// maxUnpacked bounds a log file, in bytes.
	maxUnpacked = 128 << 20
	// maxEvent bounds one event in a log file, in bytes. CloudTrail's have at most 256 KiB. See
	// https://docs.aws.amazon.com/awscloudtrail/latest/userguide/cloudtrail-record-contents.html
	maxEvent = 1 << 20
)

// eachEvent calls do with each event of a log file, which is gzip or plain JSON. It holds one
// event at a time.
func eachEvent(content []byte, do func(model.Value) error) error {
	in, err := unpack(content)
	if err != nil {
		return err
	}
	limited := &bounded{r: in, left: maxUnpacked, event: maxEvent}
	dec := json.NewDecoder(limited)
	found := false
	if err := expect(dec, '{'); err != nil {
		return err
	}
	for dec.More() {
		name, err := dec.Token()
		switch {
		case err != nil:
			return err
		case name == "Records" && !found:
			found, err = true, events(dec, limited, do)
		default:
			err = dec.Decode(&json.RawMessage{})
		}
		if err != nil {
			return err
		}
	}
	if err := expect(dec, '}'); err != nil {
		return err
	}
	if !found {
		return errors.New("it has no Records")
	}
	// The checksum is at the end.
	limited.event = maxEvent
	_, err = io.Copy(io.Discard, limited)
	return err
}

// events calls do with each element of a list.
func events(dec *json.Decoder, limited *bounded, do func(model.Value) error) error {
	if err := expect(dec, '['); err != nil {
		return err
	}
	for dec.More() {
		var raw json.RawMessage
		limited.event = maxEvent
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		// An event that cannot be decoded hides none of the others.
		if event, err := decode.JSON(raw); err == nil {
			if err := do(event); err != nil {
				return err
			}
		}
	}
	limited.event = maxEvent
	return expect(dec, ']')
}

func expect(dec *json.Decoder, want json.Delim) error {
	got, err := dec.Token()
	if err == nil && got != want {
		err = errors.New("it is no log file of CloudTrail")
	}
	return err
}

func unpack(content []byte) (io.Reader, error) {
	if !bytes.HasPrefix(content, []byte{0x1f, 0x8b}) {
		return bytes.NewReader(content), nil
	}
	return gzip.NewReader(bytes.NewReader(content))
}

// bounded is a reader that returns an error beyond two limits: that of the whole file, and
// that of what is read since event was set.
type bounded struct {
	r           io.Reader
	left, event int64
}

// Read reads at most to a limit, and returns an error for a byte beyond.
func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	b.left, b.event = b.left-int64(n), b.event-int64(n)
	switch {
	case b.left < 0:
		return 0, fmt.Errorf("it has more than %d MiB unpacked", maxUnpacked>>20)
	case b.event < 0:
		return 0, fmt.Errorf("it has an event of more than %d MiB", maxEvent>>20)
	}
	return n, err
}
