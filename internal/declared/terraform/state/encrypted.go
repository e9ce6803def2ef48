package state

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"maps"
	"slices"
	"strings"
)

// An envelope is the encrypted state that OpenTofu writes.
type envelope struct {
	version string
	// meta is the metadata of each key provider, by its address.
	meta map[string][]byte
	data []byte
}

func (e *envelope) present() bool { return e.version != "" || e.data != nil }

// open returns the decrypted state.
func (e *envelope) open(passphrases []string) ([]byte, error) {
	if e.version != "v0" {
		return nil, fmt.Errorf("the state is encrypted in version %q, and this version of driftd reads v0; update driftd, or use engine: plan", e.version)
	}
	derivations, others := e.derivations()
	switch {
	case len(derivations) > maxDerivations:
		return nil, fmt.Errorf("the encrypted state names %d key providers, more than %d", len(derivations), maxDerivations)
	case len(derivations) == 0:
		return nil, fmt.Errorf("the state is encrypted by %s, and driftd can only decrypt with pbkdf2; use engine: plan", strings.Join(others, ", "))
	case len(passphrases) == 0:
		return nil, errors.New("the state is encrypted; add the file of its passphrase to passphrase_files")
	}
	for _, passphrase := range passphrases {
		for _, d := range derivations {
			plain, err := d.open(passphrase, e.data)
			if !errors.Is(err, errWrongKey) {
				return plain, err
			}
		}
	}
	return nil, errors.New("no passphrase decrypts the state; check passphrase_files, and that the method is aes_gcm without aad")
}

// derivations returns the metadata of the pbkdf2 key providers, and the names of all other key
// providers.
func (e *envelope) derivations() (found []derivation, others []string) {
	for _, name := range slices.Sorted(maps.Keys(e.meta)) {
		d, err := readDerivation(e.meta[name])
		if err == nil && len(d.salt) > 0 {
			found = append(found, d)
			continue
		}
		others = append(others, strings.TrimPrefix(name, "key_provider."))
	}
	if len(e.meta) == 0 {
		others = []string{"an unnamed key provider"}
	}
	return found, others
}

var errWrongKey = errors.New("the key does not decrypt the state")

// A derivation is the metadata of a pbkdf2 key provider.
type derivation struct {
	salt       []byte
	iterations int64
	function   string
	length     int64
}

func readDerivation(meta []byte) (derivation, error) {
	var p derivation
	d := newDecoder(bytes.NewReader(meta))
	err := d.record(map[string]func() error{
		"salt":          set(&p.salt, d.base64),
		"iterations":    set(&p.iterations, d.whole),
		"hash_function": set(&p.function, d.string),
		"key_length":    set(&p.length, d.whole),
	})
	return p, err
}

// maxIterations and maxDerivations bound the work that a hostile state can cause. OpenTofu's
// default is 600,000 iterations.
const (
	maxIterations  = 5_000_000
	maxDerivations = 8
)

func (d derivation) open(passphrase string, data []byte) ([]byte, error) {
	functions := map[string]func() hash.Hash{"sha256": sha256.New, "sha512": sha512.New}
	function := functions[d.function]
	if function == nil || d.iterations < 1 || d.iterations > maxIterations || d.length > 32 {
		return nil, fmt.Errorf("the metadata of the encrypted state is out of range: %s, %d iterations, %d bytes", d.function, d.iterations, d.length)
	}
	key, err := pbkdf2.Key(function, passphrase, d.salt, int(d.iterations), int(d.length))
	if err != nil {
		return nil, fmt.Errorf("derive the key of the encrypted state: %w", err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("use the key of the encrypted state: %w", err)
	}
	gcm, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		return nil, fmt.Errorf("use the key of the encrypted state: %w", err)
	}
	plain, err := gcm.Open(nil, nil, data, nil)
	if err != nil {
		return nil, errWrongKey
	}
	return plain, nil
}

// base64 reads a base64 string and returns its bytes.
func (d *decoder) base64() ([]byte, error) {
	text, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	if text.Kind() != '"' {
		return nil, fmt.Errorf("got %s, want a string", describe(text.Kind()))
	}
	content := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(content, text[1:len(text)-1])
	if err != nil {
		return nil, errors.New("not base64")
	}
	return content[:n], nil
}

// texts64 reads an object of base64 strings.
func (d *decoder) texts64() (map[string][]byte, error) {
	texts := map[string][]byte{}
	if err := d.open('{', "an object"); err != nil {
		return nil, err
	}
	for d.PeekKind() != '}' {
		name, err := d.string()
		if err != nil {
			return nil, err
		}
		if texts[name], err = d.base64(); err != nil {
			return nil, err
		}
	}
	_, err := d.ReadToken()
	return texts, err
}
