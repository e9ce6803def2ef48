package record

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	mathrand "math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// A scrubber replaces texts. It is safe for concurrent use.
type scrubber struct {
	v                                                                *Vocabulary
	words, lists, open, documents, closed, removed, messages, public set
	// first is the key by which a document is recognized.
	first string
	key   []byte
	// shift is added to times.
	shift time.Duration

	mu sync.Mutex
	// pseudonyms are those of true texts, and issued the pseudonyms.
	pseudonyms map[string]pseudonym
	issued     set
	// kept are the texts that were kept because of their key, and structure the keys.
	kept, structure set
	counts          map[string]int
}

// A pseudonym replaces a text of a kind.
type pseudonym struct{ text, kind string }

const day = 24 * time.Hour

// newScrubber returns a scrubber with a random key.
func newScrubber(v *Vocabulary) *scrubber {
	key := make([]byte, sha256.Size+8)
	_, _ = rand.Read(key) // it never fails
	back := 30*day + time.Duration(binary.BigEndian.Uint64(key[sha256.Size:])%uint64(365*day/time.Second))*time.Second
	closed := strings.Fields(v.Closed)
	return &scrubber{
		v: v, words: setOf(v.Words), lists: setOf(v.Lists), open: setOf(v.Open), documents: setOf(v.Documents), closed: setOf(v.Closed),
		removed: setOf(v.Removed), messages: setOf(v.Messages), public: setOf(v.Public), first: append(closed, "")[0], key: key[:sha256.Size], shift: -back,
		pseudonyms: map[string]pseudonym{}, issued: set{}, kept: set{}, structure: set{}, counts: map[string]int{},
	}
}

// The kinds of texts, as messages and the manifest have them.
const (
	kindAccount    = "account numbers"
	kindID         = "IDs"
	kindName       = "names"
	kindText       = "free texts"
	kindNumber     = "numbers"
	kindAddress    = "addresses"
	kindTime       = "times"
	kindCredential = "credentials"
	kindRemoved    = "removed"
)

// text returns the pseudonym of a text, part by part, so that a part of a text and the same text
// alone have the same pseudonym.
func (s *scrubber) text(text string) string {
	if strings.TrimSpace(text) == "" || text == "true" || text == "false" || s.keeps(text) {
		return text
	}
	if address, ok := s.address(text); ok {
		return address
	}
	if at, ok := s.time(text); ok {
		return at
	}
	if len(text) > maxCompound || !isCompound(text) {
		return s.opaque(text)
	}
	if compound, ok := s.v.Compound(text, s.parts); ok {
		return compound
	}
	return s.parts(text)
}

// keeps reports whether a text is kept wherever it stands.
func (s *scrubber) keeps(text string) bool {
	if !s.v.Keep.MatchString(text) {
		return false
	}
	s.exempt(text)
	return true
}

// maxCompound bounds texts that are replaced part by part.
const maxCompound = 512

// isCompound reports whether a text consists of names and punctuation. Other texts may be prose
// or documents.
func isCompound(text string) bool {
	for _, r := range text {
		if r <= ' ' || r >= 0x7f || strings.ContainsRune("{}<>\"'`", r) {
			return false
		}
	}
	return true
}

// opaque returns one pseudonym for a whole text.
func (s *scrubber) opaque(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, word := range wordsIn(text) {
		if _, known := s.pseudonyms[word]; !known {
			s.pseudonyms[word] = pseudonym{kind: kindText}
		}
	}
	return s.issue(text, kindText, "", consonants, nameLength)
}

// wordsIn returns the words of a text that are long enough to be searched for.
func wordsIn(text string) []string {
	return slices.DeleteFunc(strings.FieldsFunc(text, func(r rune) bool { return !isPartRune(r) }), func(word string) bool { return len(word) < minSearched })
}

// parts replaces the parts of a text between punctuation.
func (s *scrubber) parts(text string) string {
	var b strings.Builder
	for text != "" {
		// A name of DNS has "*" in this form.
		if rest, ok := strings.CutPrefix(text, `\052`); ok {
			b.WriteString(`\052`)
			text = rest
			continue
		}
		end := strings.IndexFunc(text, func(r rune) bool { return !isPartRune(r) })
		switch {
		case end < 0:
			end = len(text)
		case end == 0:
			b.WriteByte(text[0])
			text = text[1:]
			continue
		}
		b.WriteString(s.part(text[:end]))
		text = text[end:]
	}
	return b.String()
}

func isPartRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_'
}

const (
	digits     = "0123456789"
	hexDigits  = digits + "abcdef"
	consonants = "bcdfghjklmnpqrstvwxz"
	capitals   = "BCDFGHJKLMNPQRSTVWXZ"
	// nameLength is the length of the pseudonym of a name of any length.
	nameLength = 10
)

// part returns the pseudonym of a text without punctuation.
func (s *scrubber) part(text string) string {
	if s.keeps(text) {
		return text
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if match := s.v.IDs.FindStringSubmatch(text); match != nil {
		prefix := strings.Join(match[1:], "")
		rest := strings.TrimPrefix(text, prefix)
		alphabet := digits + capitals
		if consistsOf(rest, hexDigits) {
			alphabet = hexDigits
		}
		return s.issue(text, kindID, prefix, alphabet, len(rest))
	}
	switch upper := strings.ToUpper(text); {
	case consistsOf(text, digits) && len(text) == 12:
		return s.issue(text, kindAccount, "", digits, len(text))
	case consistsOf(text, digits):
		return s.issue(text, kindNumber, "", digits, len(text))
	case uuid().MatchString(text):
		id := s.issue(text, kindID, "", hexDigits, 32)
		return id[:8] + "-" + id[8:12] + "-" + id[12:16] + "-" + id[16:20] + "-" + id[20:]
	case consistsOf(text, hexDigits) && len(text) >= 16:
		return s.issue(text, kindID, "", hexDigits, len(text))
	case text == upper:
		return s.issue(text, kindName, "", capitals, nameLength)
	}
	return s.issue(text, kindName, "", consonants, nameLength)
}

func consistsOf(text, alphabet string) bool { return strings.Trim(text, alphabet) == "" }

// issue returns the pseudonym of a text: a prefix and letters of an alphabet. No two texts have
// the same one: if all of a length are taken, it becomes longer. The caller holds the mutex.
func (s *scrubber) issue(text, kind, prefix, alphabet string, length int) string {
	if known := s.pseudonyms[text]; known.text != "" {
		return known.text
	}
	const tries = 64
	for n := 0; ; n++ {
		stream := s.stream(text, n)
		letters := make([]byte, length+n/tries)
		for i := range letters {
			letters[i] = alphabet[stream.IntN(len(alphabet))]
		}
		issued := prefix + string(letters)
		if issued == text || s.issued[issued] {
			continue
		}
		s.pseudonyms[text], s.issued[issued] = pseudonym{issued, kind}, true
		s.counts[kind]++
		return issued
	}
}

// stream returns random numbers that depend on a text and the key.
func (s *scrubber) stream(text string, n int) *mathrand.Rand {
	mac := hmac.New(sha256.New, s.key)
	_ = binary.Write(mac, binary.BigEndian, uint64(n)) // a hash accepts everything
	mac.Write([]byte(text))
	return mathrand.New(mathrand.NewChaCha8([sha256.Size]byte(mac.Sum(nil)))) //nolint:gosec // ChaCha8 with a secret seed
}

// address replaces an IP address or a network by one of a reserved range. Networks that include
// everything, those with a very short prefix and addresses that are not public are kept, because
// ratings depend on them.
func (s *scrubber) address(text string) (string, bool) {
	network, err := netip.ParsePrefix(text)
	single := false
	if err != nil {
		at, err := netip.ParseAddr(text)
		// A zone is a name.
		if err != nil || at.Zone() != "" {
			return "", false
		}
		network, single = netip.PrefixFrom(at, at.BitLen()), true
	}
	if network.Bits() < 8 {
		// An address may stand where a network is meant.
		return network.Masked().String(), true
	}
	reserved, ok := reservedFor(network)
	if !ok {
		return text, true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.pseudonyms[text]; known.text != "" {
		return known.text, true
	}
	for n := 0; ; n++ {
		if n == maxTries/2 && network.Addr().Is4() {
			// There are only 512 networks of 24 bits in the other one.
			reserved = netip.MustParsePrefix("240.0.0.0/4")
		}
		issued := s.addressIn(reserved, network, text, n)
		shown := issued.String()
		if single {
			shown = issued.Addr().String()
		}
		if (s.issued[shown] || shown == text) && n < maxTries {
			continue
		}
		s.pseudonyms[text], s.issued[shown] = pseudonym{shown, kindAddress}, true
		s.counts[kindAddress]++
		return shown, true
	}
}

// reservedFor returns the range for the replacement of a network; false for one that is kept.
func reservedFor(network netip.Prefix) (reserved netip.Prefix, ok bool) {
	switch at, bits := network.Addr(), network.Bits(); {
	case at.Is6() && at.IsPrivate() && bits >= 32:
		// Everyone chooses a prefix of his own at random.
		return netip.MustParsePrefix("fd00::/8"), true
	case at.Is6() && at.IsLinkLocalUnicast() && bits > 64:
		// The rest may be that of a network card.
		return netip.MustParsePrefix("fe80::/64"), true
	case at.IsPrivate(), at.IsLoopback(), at.IsLinkLocalUnicast(), at.IsUnspecified(), at.IsMulticast():
		return netip.Prefix{}, false
	case at.Is6() && bits < 33:
		// Providers and large companies have networks of this size, and documentation has none.
		return netip.MustParsePrefix("4000::/3"), true
	case at.Is6():
		return netip.MustParsePrefix("2001:db8::/32"), true
	case bits < 24:
		return netip.MustParsePrefix("240.0.0.0/4"), true
	}
	return netip.MustParsePrefix("198.18.0.0/15"), true
}

// maxTries bounds the search for a network that is not taken: a short prefix has few, and some
// of more than these become one.
const maxTries = 64

// addressIn returns a network in a reserved one.
func (s *scrubber) addressIn(reserved, network netip.Prefix, text string, n int) netip.Prefix {
	stream := s.stream(text, n)
	bytes := reserved.Addr().AsSlice()
	for i := range bytes {
		// The first bits are those of the reserved network.
		fixed := min(8, max(0, reserved.Bits()-8*i))
		bytes[i] |= byte(stream.IntN(256)) & (0xff >> fixed)
	}
	at, _ := netip.AddrFromSlice(bytes) // it has the length of an address
	return netip.PrefixFrom(at, network.Bits()).Masked()
}

// replaced returns how many texts of each kind were replaced.
func (s *scrubber) replaced() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

var uuid = lazyregexp.New(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
