package store

import (
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/driftd/driftd/internal/model"
)

// The outline of a finding is a part of its head, so that a list reads only the heads. Each text is
// preceded by its length as a uvarint. A time consists of the seconds since 1970 as a varint and
// the nanoseconds as a uvarint. If its bit is set, a check precedes the other actors. The ID is the
// key of the record. The source and the time at which the finding was last seen are other parts of
// the head.

// The bits of the first byte of an outline.
const (
	unprovenBit = 1 << iota
	flappingBit
	checkBit
)

// outlineTexts returns the texts of an outline in the order of their encoding.
func outlineTexts(o *model.Outline) [16]*string {
	return [...]*string{(*string)(&o.Verdict), (*string)(&o.Severity), (*string)(&o.Exposure), &o.Kind, &o.Key.ID, &o.Place, &o.Name,
		&o.Declaration, &o.Address, &o.Actor.Name, &o.Actor.Via, (*string)(&o.Actor.Confidence), &o.MergedInto, &o.Owner, &o.Hidden,
		(*string)(&o.Decision)}
}

// outlineTimes returns the times of an outline in the order of their encoding.
func outlineTimes(o *model.Outline) [4]*time.Time {
	return [...]*time.Time{&o.Actor.At, &o.FirstSeen, &o.Resolved, &o.Until}
}

// encodeOutline returns the encoded outline of a finding.
func encodeOutline(f *model.Finding) string {
	o := f.Outline()
	var bits byte
	if o.Unproven {
		bits |= unprovenBit
	}
	if o.Flapping {
		bits |= flappingBit
	}
	if o.Check != "" {
		bits |= checkBit
	}
	b := []byte{bits}
	for _, text := range outlineTexts(&o) {
		b = appendText(b, *text)
	}
	for _, at := range outlineTimes(&o) {
		b = binary.AppendUvarint(binary.AppendVarint(b, at.Unix()), uint64(at.Nanosecond()))
	}
	if o.Check != "" {
		b = appendText(b, o.Check)
	}
	for _, name := range o.Actors {
		b = appendText(b, name)
	}
	return string(b)
}

// appendText appends a text with its length. It replaces bytes that are not UTF-8 as JSON does, which
// the stored finding passes.
func appendText(b []byte, text string) []byte {
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

// decode decodes the outline of a finding into o.
func (h *head) decode(id string, seen moment, o *model.Outline) error {
	o.ID, o.Source, o.LastSeen = id, h.source, seen.time()
	return decodeOutline([]byte(h.outline), o, new(model.Outline), new(texts))
}

// decodeOutline decodes the outline of a finding with an ID into o. It uses the texts of like where
// they are equal, and otherwise new texts of t.
func decodeOutline(outline []byte, o, like *model.Outline, t *texts) error {
	if len(outline) == 0 {
		return fmt.Errorf("%w: finding %s has no outline", errCorrupt, o.ID)
	}
	bits := outline[0]
	d := decoder{rest: outline[1:]}
	o.Unproven, o.Flapping = bits&unprovenBit != 0, bits&flappingBit != 0
	same := outlineTexts(like)
	for i, text := range outlineTexts(o) {
		*text = t.text(d.text(), *same[i])
	}
	for _, at := range outlineTimes(o) {
		*at = d.time()
	}
	if bits&checkBit != 0 {
		o.Check = t.text(d.text(), like.Check)
	}
	for len(d.rest) > 0 {
		o.Actors = append(o.Actors, t.text(d.text(), ""))
	}
	if d.bad || bits&^(unprovenBit|flappingBit|checkBit) != 0 {
		return fmt.Errorf("%w: outline of finding %s", errCorrupt, o.ID)
	}
	return nil
}

// texts holds the texts of many outlines. Most have some in common with the one before: they take no memory then, and
// compare quickly because they are at one address.
type texts struct{ strings.Builder }

// text returns a copy of a text, or like if that is equal.
func (t *texts) text(text []byte, like string) string {
	if string(text) == like {
		return like
	}
	start := t.Len()
	t.Write(text)
	return t.String()[start:]
}

// A decoder decodes texts and numbers. After an error, bad is set and rest is empty.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) fail() {
	d.rest, d.bad = nil, true
}

func (d *decoder) text() []byte {
	n := d.number()
	if n > uint64(len(d.rest)) {
		d.fail()
		return nil
	}
	text := d.rest[:n]
	d.rest = d.rest[n:]
	return text
}

// number decodes a uvarint.
func (d *decoder) number() (n uint64) {
	for i := range min(len(d.rest), binary.MaxVarintLen64) {
		b := d.rest[i]
		n |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			d.rest = d.rest[i+1:]
			return n
		}
	}
	d.fail()
	return 0
}

func (d *decoder) time() time.Time {
	zigzag, nanoseconds := d.number(), d.number()
	if nanoseconds >= uint64(time.Second) {
		d.fail()
	}
	return time.Unix(int64(zigzag>>1)^-int64(zigzag&1), int64(nanoseconds)).UTC()
}
