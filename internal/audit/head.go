package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// A Key is a private key, which signs the heads of a log. Its name is the origin of the log.
type Key struct {
	signer note.Signer
	public PublicKey
}

// ParseKey parses a private key in the format of GenerateKey.
func ParseKey(text string) (Key, error) {
	text = strings.TrimSpace(text)
	signer, err := note.NewSigner(text)
	if err != nil {
		return Key{}, errors.New("it is no private key of a log: make one with `driftd audit key --new FILE`")
	}
	public, err := publicOf(signer.Name(), text)
	return Key{signer, public}, err
}

// publicOf returns the public key of a private key, whose text NewSigner accepted:
// PRIVATE+KEY+NAME+ID+ and, in base64, the algorithm and the seed.
func publicOf(name, private string) (PublicKey, error) {
	part := strings.SplitN(private, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(part[4])
	if err != nil {
		return PublicKey{}, fmt.Errorf("decode key: %w", err)
	}
	public, ok := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	if !ok {
		return PublicKey{}, errors.New("the key has no public part")
	}
	text, err := note.NewEd25519VerifierKey(name, public)
	if err != nil {
		return PublicKey{}, fmt.Errorf("encode public key: %w", err)
	}
	return ParsePublicKey(text)
}

// GenerateKey returns the text of a new private key for the log with the given origin. The origin is a name
// without spaces and plus signs that no other log has.
func GenerateKey(origin string) (string, error) {
	private, _, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return "", fmt.Errorf("generate key: %w", err)
	}
	if _, err := note.NewSigner(private); err != nil {
		return "", fmt.Errorf("generate key: the origin %q is empty, or has spaces or plus signs", origin)
	}
	return private, nil
}

// Public returns the public key.
func (k Key) Public() PublicKey { return k.public }

// A PublicKey verifies the heads of a log. The zero PublicKey accepts none.
type PublicKey struct {
	verifier note.Verifier
	text     string
}

// ParsePublicKey parses the text of a public key, which has the format NAME+ID+KEY of a signed note's
// verifier key.
func ParsePublicKey(text string) (PublicKey, error) {
	text = strings.TrimSpace(text)
	v, err := note.NewVerifier(text)
	if err != nil {
		return PublicKey{}, errors.New("it is no public key of a log: `driftd audit key` prints one")
	}
	return PublicKey{v, text}, nil
}

// String returns the text of the key, as ParsePublicKey accepts it.
func (k PublicKey) String() string { return k.text }

// Origin returns the origin of the log, which is the name of the key.
func (k PublicKey) Origin() string { return k.verifier.Name() }

// A Head identifies the content of a log at a size.
type Head struct {
	Origin string
	// Size is the number of entries, and Root is the Merkle tree hash (RFC 6962) of them.
	Size int64
	Root tlog.Hash
	// Note is the signed note from which the head was parsed.
	Note []byte
	// Unsigned reports whether the signatures were not verified. A log must be an extension of a witnessed
	// head regardless of its signer, because a new log has another key.
	Unsigned bool
}

// maxHead bounds a signed note, in bytes.
const maxHead = 64 << 10

// text returns the body of a checkpoint (c2sp.org/tlog-checkpoint).
func (h *Head) text() string {
	return h.Origin + "\n" + strconv.FormatInt(h.Size, 10) + "\n" + h.Root.String() + "\n"
}

func (h *Head) sign(keys ...Key) error {
	signers := make([]note.Signer, len(keys))
	for i, k := range keys {
		signers[i] = k.signer
	}
	signed, err := note.Sign(&note.Note{Text: h.text()}, signers...)
	if err != nil {
		return fmt.Errorf("sign head: %w", err)
	}
	h.Note = signed
	return nil
}

// ParseHead parses a checkpoint that key has signed. It ignores signatures of other keys. It returns an
// error if there is no valid signature of key.
func ParseHead(signed []byte, key PublicKey) (Head, error) { return ParseHeadBy(signed, key) }

func parseBody(text string) (Head, error) {
	bad := errors.New("the head has no origin, size and root")
	line := strings.SplitN(text, "\n", 4)
	if len(line) != 4 || line[0] == "" {
		return Head{}, bad
	}
	size, err := strconv.ParseInt(line[1], 10, 64)
	if err != nil || size < 0 || line[1] != strconv.FormatInt(size, 10) {
		return Head{}, bad
	}
	root, err := tlog.ParseHash(line[2])
	if err != nil {
		return Head{}, bad
	}
	return Head{Origin: line[0], Size: size, Root: root}, nil
}
