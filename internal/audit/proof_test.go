package audit

import (
	"slices"
	"strings"
	"testing"
)

// A proof has one form: another text for the same numbers and bytes is refused.
func TestProofForm(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	_, l := filled(t, key, 10)
	proof, err := l.Prove(2)
	if err != nil {
		t.Fatal(err)
	}
	top, note, _ := strings.Cut(string(proof), "\n\n")
	line := strings.Split(top, "\n")
	// with returns the proof with another line.
	with := func(n int, text string) string {
		changed := slices.Clone(line)
		changed[n] = text
		return strings.Join(changed, "\n") + "\n\n" + note
	}
	last := len(line) - 1
	for name, text := range map[string]string{
		"a zero before the index": with(2, "index 02"),
		"a sign before the index": with(2, "index +2"),
		"base64 in two lines":     with(1, line[1][:20]+"\r"+line[1][20:]),
		// The last character of a hash has two bits that do not count.
		"bits after a hash":     with(last, line[last][:len(line[last])-2]+spare(line[last][len(line[last])-2])+"="),
		"a carriage return":     with(last, line[last]+"\r"),
		"a space after a hash":  with(last, line[last]+" "),
		"another first line":    with(0, "c2sp.org/tlog-proof@v1 "),
		"a line break in front": "\n" + string(proof),
	} {
		if _, _, err := Check([]byte(text), key.Public()); err == nil || !strings.Contains(err.Error(), "it is no proof") {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if len(proof) > MaxProof {
		t.Errorf("a proof has %d bytes, and the limit is %d", len(proof), MaxProof)
	}
}

// spare returns another base64 character that differs in its last bit.
func spare(c byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	return string(alphabet[strings.IndexByte(alphabet, c)^1])
}
