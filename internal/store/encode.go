package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/driftd/driftd/internal/model"
)

// errCorrupt is the error of stored data that this package could not have written.
var errCorrupt = errors.New("corrupt")

// A moment is a time in nanoseconds since 1970, in UTC.
type moment int64

const (
	// never is the moment of the zero time.
	never moment = math.MinInt64
	// withSource marks a finding as last seen at the time stored for its source.
	withSource moment = math.MaxInt64
	// farthest bounds the seconds before and after 1970 of a moment (the year 2200), so that there
	// is always a later moment.
	farthest = 7_258_118_400
)

func momentOf(t time.Time) moment {
	if t.IsZero() {
		return never
	}
	seconds := min(max(t.Unix(), -farthest), farthest)
	return moment(seconds*int64(time.Second) + int64(t.Nanosecond()))
}

func (m moment) time() time.Time {
	if m == never {
		return time.Time{}
	}
	return time.Unix(0, int64(m)).UTC()
}

// after returns m, or the moment just after last if m is not later than last because a clock went
// back.
func (m moment) after(last moment) moment { return max(m, last+1) }

// append appends the moment to b in a form whose byte order is the order of time.
func (m moment) append(b []byte) []byte {
	return binary.BigEndian.AppendUint64(b, uint64(m)^(1<<63))
}

// momentAt decodes a moment from the first eight bytes of b.
func momentAt(b []byte) moment { return moment(binary.BigEndian.Uint64(b) ^ (1 << 63)) }

// A digest is the SHA-256 of a content. The zero digest marks a resource as gone.
type digest [sha256.Size]byte

// appendKey appends a key to b in a form whose byte order is the order of keys.
func appendKey(b []byte, k model.Key) []byte {
	b = append(append(b, k.Source...), 0)
	b = append(append(b, k.Kind...), 0)
	return append(b, k.ID...)
}

func parseKey(b []byte) (model.Key, error) {
	part := bytes.SplitN(b, []byte{0}, 3)
	if len(part) != 3 {
		return model.Key{}, fmt.Errorf("%w: resource key %q", errCorrupt, b)
	}
	return model.Key{Source: string(part[0]), Kind: string(part[1]), ID: string(part[2])}, nil
}

// prefixOf returns the prefix of the keys of records that belong to a source, a finding or a
// receiver.
func prefixOf(name string) []byte { return append([]byte(name), 0) }

// validKey returns an error if the key cannot be encoded unambiguously.
func validKey(k model.Key) error {
	if k.Source == "" || strings.Contains(k.Source, "\x00") || strings.Contains(k.Kind, "\x00") {
		return fmt.Errorf("key %q: want a source, and no NUL byte in source or kind", k.String())
	}
	return nil
}

// A state is the current state of a resource.
type state struct {
	// num is the resource's number, the prefix of the keys of its versions.
	num uint64
	// at is the time of its last version.
	at    moment
	sum   digest
	place string
}

const stateSize = 8 + 8 + sha256.Size

func (s *state) gone() bool { return s.sum == digest{} }

func (s *state) encode() []byte {
	b := make([]byte, 0, stateSize+len(s.place))
	b = binary.BigEndian.AppendUint64(b, s.num)
	b = s.at.append(b)
	b = append(b, s.sum[:]...)
	return append(b, s.place...)
}

func parseState(b []byte) (state, error) {
	if len(b) < stateSize {
		return state{}, fmt.Errorf("%w: state of %d bytes", errCorrupt, len(b))
	}
	return state{
		num:   binary.BigEndian.Uint64(b),
		at:    momentAt(b[8:]),
		sum:   digest(b[16:stateSize]),
		place: string(b[stateSize:]),
	}, nil
}

// versionKey returns the key of the version of a resource at a moment.
func versionKey(num uint64, at moment) []byte {
	return at.append(binary.BigEndian.AppendUint64(make([]byte, 0, 16), num))
}

// versionSum decodes the digest at the beginning of a stored version. The actor follows it.
func versionSum(v []byte) (digest, error) {
	if len(v) == 0 {
		return digest{}, nil
	}
	if len(v) < sha256.Size {
		return digest{}, fmt.Errorf("%w: version of %d bytes", errCorrupt, len(v))
	}
	return digest(v[:sha256.Size]), nil
}

// A head is the current state of a finding.
type head struct {
	// at is the time of its last version.
	at moment
	// seen is the time at which it was last seen, or withSource.
	seen   moment
	sum    digest
	source string
	// outline is the encoded outline of the finding.
	outline string
}

// headSize is the length in bytes of the parts before the source.
const headSize = 8 + 8 + sha256.Size

func (h *head) encode() []byte {
	b := make([]byte, 0, headSize+binary.MaxVarintLen16+len(h.source)+len(h.outline))
	return append(appendText(h.appendFixed(b), h.source), h.outline...)
}

// appendFixed appends the parts of a head before the source.
func (h *head) appendFixed(b []byte) []byte {
	return append(h.seen.append(h.at.append(b)), h.sum[:]...)
}

func parseHead(b []byte) (h head, err error) {
	source, outline, err := cutHead(b)
	if err != nil {
		return h, err
	}
	return head{at: momentAt(b), seen: momentAt(b[8:]), sum: digest(b[16:headSize]), source: string(source), outline: string(outline)}, nil
}

// cutHead returns the parts of an encoded head after those of fixed sizes.
func cutHead(b []byte) (source, outline []byte, err error) {
	if len(b) < headSize {
		return nil, nil, fmt.Errorf("%w: finding of %d bytes", errCorrupt, len(b))
	}
	d := decoder{rest: b[headSize:]}
	if source = d.text(); d.bad {
		return nil, nil, fmt.Errorf("%w: a finding without its source", errCorrupt)
	}
	return source, d.rest, nil
}

// A codec compresses and decompresses contents. It is safe for use by many goroutines.
type codec struct {
	enc *zstd.Encoder
	dec *zstd.Decoder
}

const (
	// maxContent bounds the size of one record in bytes before compression.
	maxContent = 256 << 20
	// maxBlock is the largest number of bytes that the smallest compressed block, of minBlock
	// bytes, can expand to.
	maxBlock, minBlock = 128 << 10, 4
	// maxWithoutSize bounds the size of contents whose length the encoder leaves out.
	maxWithoutSize = 255
	// frame is the most that the format adds to a small content, in bytes.
	frame = 32
	// withID is the dictionary ID in records that were compressed with another content as the
	// dictionary.
	withID = 1
)

func newCodec() (codec, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return codec{}, fmt.Errorf("make encoder: %w", err)
	}
	dec, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return codec{}, fmt.Errorf("make decoder: %w", err)
	}
	return codec{enc: enc, dec: dec}, nil
}

// pack compresses a content, and returns it without spare capacity: saving a scan holds all new contents.
func (c codec) pack(b []byte) ([]byte, error) {
	if len(b) > maxContent {
		return nil, fmt.Errorf("it has %d bytes; the store's limit for one record is %d", len(b), maxContent)
	}
	return bytes.Clone(c.enc.EncodeAll(b, make([]byte, 0, len(b)+frame))), nil
}

func (c codec) unpack(b []byte) ([]byte, error) { return unpackBy(c.dec, b) }

// packWith compresses a content with a similar one as the dictionary.
func (c codec) packWith(other, b []byte) ([]byte, error) {
	enc, err := zstd.NewWriter(nil, zstd.WithEncoderDictRaw(withID, other), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, fmt.Errorf("make encoder: %w", err)
	}
	return enc.EncodeAll(b, nil), nil
}

// unpackWith decompresses a content that packWith compressed with the same dictionary.
func (c codec) unpackWith(other, b []byte) ([]byte, error) {
	dec, err := zstd.NewReader(nil, zstd.WithDecoderDictRaw(withID, other), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxMemory(maxContent), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", errCorrupt, err)
	}
	defer dec.Close()
	return unpackBy(dec, b)
}

// unpackBy decompresses a content. It limits the allocation to the largest size that len(b) bytes
// can decompress to, and does not rely on the size in the header.
func unpackBy(dec *zstd.Decoder, b []byte) ([]byte, error) {
	var head zstd.Header
	if err := head.Decode(b); err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", errCorrupt, err)
	}
	size := head.FrameContentSize
	if !head.HasFCS {
		size = maxWithoutSize
	}
	if most := uint64(len(b)/minBlock+1) * maxBlock; size > min(most, maxContent) {
		return nil, fmt.Errorf("%w: decompress: %d bytes cannot expand to %d", errCorrupt, len(b), size)
	}
	raw, err := dec.DecodeAll(b, make([]byte, 0, size))
	if err != nil {
		return nil, fmt.Errorf("%w: decompress: %w", errCorrupt, err)
	}
	return raw, nil
}

func (c codec) packJSON(v any) ([]byte, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode: %w", err)
	}
	return c.pack(raw)
}

func (c codec) unpackJSON(b []byte, into any) error {
	raw, err := c.unpack(b)
	if err != nil {
		return err
	}
	return parseJSON(raw, into)
}

func parseJSON(b []byte, into any) error {
	if err := json.Unmarshal(b, into); err != nil {
		return fmt.Errorf("%w: decode: %w", errCorrupt, err)
	}
	return nil
}
