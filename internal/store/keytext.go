package store

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"
)

// keyText returns a key in readable form: a resource in the form of Key.String, and a moment as a
// time. It escapes bytes that are not printable.
func keyText(bucket string, k []byte) string {
	switch bucket {
	case resourceBucket:
		if key, err := parseKey(k); err == nil {
			return printable(key.String())
		}
	case versionBucket:
		if len(k) == 16 {
			return fmt.Sprintf("number %d at %s", binary.BigEndian.Uint64(k), timeText(k[8:]))
		}
	case findingBucket:
		if id, at, ok := bytes.Cut(k, []byte{0}); ok && len(at) == 8 {
			return printable(string(id)) + " at " + timeText(at)
		}
	case contentBucket:
		return hex.EncodeToString(k)
	case runBucket, newestBucket:
		if len(k) == 8 {
			return fmt.Sprintf("number %d", binary.BigEndian.Uint64(k))
		}
	case outboxBucket:
		if receiver, num, ok := bytes.Cut(k, []byte{0}); ok && len(num) == 8 {
			return fmt.Sprintf("%s, number %d", printable(string(receiver)), binary.BigEndian.Uint64(num))
		}
	}
	return printable(string(bytes.TrimSuffix(k, []byte{0})))
}

func timeText(b []byte) string { return momentAt(b).time().Format(time.RFC3339Nano) }

// printable escapes characters that are not printable. NUL bytes, which separate the parts of keys,
// become slashes.
func printable(s string) string {
	quoted := fmt.Sprintf("%q", strings.ReplaceAll(s, "\x00", "/"))
	return quoted[1 : len(quoted)-1]
}
