//go:build e2e

package secrets

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
)

// excerpt is the number of characters of a secret that are a leak: truncation must not leave
// half of a secret.
const excerpt = 12

// keyLength is the number of bytes of a needle in the index.
const keyLength = 8

// A vault creates secrets and finds them.
type vault struct {
	mu sync.Mutex
	// planted are the descriptions of secrets by value.
	planted map[string]string
	// index has the needles by their first bytes.
	index map[uint64][]needle
}

// A needle is one form of a secret.
type needle struct{ text, secret, form string }

func newVault() *vault {
	return &vault{planted: map[string]string{}, index: map[uint64][]needle{}}
}

// secret returns a new random secret: letters and digits.
func (v *vault) secret(what string) string { return v.keep(what, "K7"+rand.Text()) }

// keep registers a secret in a form of its own.
func (v *vault) keep(what, secret string) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.planted[secret] = what
	for _, n := range needles(secret) {
		key := binary.LittleEndian.Uint64([]byte(n.text))
		if !slices.Contains(v.index[key], n) {
			v.index[key] = append(v.index[key], n)
		}
	}
	return secret
}

// needles returns the forms in which a secret may occur.
func needles(secret string) []needle {
	var list []needle
	add := func(form, text string) {
		if len(text) >= keyLength {
			list = append(list, needle{text, secret, form})
		}
	}
	add("raw", secret)
	if len(secret) > 2*excerpt {
		add("its beginning", secret[:excerpt])
		add("its end", secret[len(secret)-excerpt:])
	}
	for form, text := range escaped(secret) {
		add(form, text)
	}
	for once := range slices.Values(base64Forms(secret)) {
		add("base64", once)
		for _, twice := range base64Forms(once) {
			add("base64 of base64", twice)
		}
	}
	add("hex", hex.EncodeToString([]byte(secret)))
	add("HEX", strings.ToUpper(hex.EncodeToString([]byte(secret))))
	return list
}

// escaped returns the secret in the escaped forms of the formats.
func escaped(secret string) map[string]string {
	quoted, err := json.Marshal(secret)
	if err != nil {
		panic(fmt.Sprintf("encode a secret: %v", err))
	}
	inJSON := strings.Trim(string(quoted), `"`)
	twice, err := json.Marshal(inJSON)
	if err != nil {
		panic(fmt.Sprintf("encode a secret: %v", err))
	}
	return map[string]string{
		"query":        url.QueryEscape(secret),
		"path":         url.PathEscape(secret),
		"user info":    url.UserPassword("", secret).String()[1:],
		"JSON":         inJSON,
		"JSON in JSON": strings.Trim(string(twice), `"`),
		"HTML":         html.EscapeString(secret),
		"Go":           strings.Trim(fmt.Sprintf("%q", secret), `"`),
	}
}

// base64Forms returns the part of the secret's base64 that does not depend on the surrounding
// bytes, at each of the three alignments, in both alphabets.
func base64Forms(secret string) []string {
	var list []string
	for before := range 3 {
		for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
			text := encoding.EncodeToString([]byte(strings.Repeat("\x00", before) + secret))
			// Characters that include bits of the bytes before or after are left out.
			from := (before*8 + 5) / 6
			to := (before + len(secret)) * 8 / 6
			list = append(list, text[from:to])
		}
	}
	return list
}

// A leak is a secret that was found where it must not be.
type leak struct{ what, form, around string }

// find returns the secrets in a text, each once.
func (v *vault) find(text []byte) []leak {
	v.mu.Lock()
	defer v.mu.Unlock()
	var found []leak
	seen := map[string]bool{}
	for i := 0; i+keyLength <= len(text); i++ {
		for _, n := range v.index[binary.LittleEndian.Uint64(text[i:])] {
			if seen[n.secret] || len(text)-i < len(n.text) || string(text[i:i+len(n.text)]) != n.text {
				continue
			}
			seen[n.secret] = true
			around := strings.ReplaceAll(string(text[max(0, i-60):min(len(text), i+90)]), "\n", " ")
			found = append(found, leak{v.planted[n.secret], n.form, around})
		}
	}
	return found
}

// TestVault finds a secret in each of its forms, and half of one.
func TestVault(t *testing.T) {
	t.Parallel()
	for _, secret := range []string{"K7ABCDEFGHIJKLMNOPQRSTUVWXYZ", `p/w@%d:"x"&<y>+z=\w ü`} {
		v := newVault()
		v.keep("it", secret)
		inner := base64.StdEncoding.EncodeToString([]byte("user:" + secret))
		for reason, text := range map[string]string{
			"raw":           "x" + secret,
			"URL":           (&url.URL{Scheme: "http", User: url.UserPassword("u", secret), Host: "h"}).String(),
			"query":         "?a=" + url.QueryEscape(secret),
			"hex":           hex.EncodeToString([]byte("ab" + secret)),
			"base64 of all": base64.StdEncoding.EncodeToString([]byte("a" + secret + "bc")),
			"base64 in it":  base64.StdEncoding.EncodeToString([]byte(`{"auth":"` + inner + `"}`)),
			"JSON":          string(must(json.Marshal(map[string]string{"a": secret}))),
		} {
			if got := v.find([]byte(text)); len(got) != 1 || got[0].what != "it" {
				t.Errorf("%s: found %v in %q", reason, got, text)
			}
		}
		if got := v.find([]byte("K7 is a mountain; p/w is none")); len(got) > 0 {
			t.Errorf("found %v where nothing is", got)
		}
	}
	v := newVault()
	half := v.secret("it")[:excerpt+2]
	if got := v.find([]byte(half + "…")); len(got) != 1 {
		t.Errorf("found %v in the half of a secret", got)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
