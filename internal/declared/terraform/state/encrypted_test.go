package state_test

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/declared/terraform/state"
)

const passphrase = "correct horse battery"

// TestReadOpenTofu reads a state that OpenTofu 1.12.6 encrypted.
func TestReadOpenTofu(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/encrypted.tfstate")
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Passphrases = []string{"the one that was before", passphrase}
	s, got, err := read(string(content), o)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`terraform_data.door (terraform.io/builtin/terraform): {"id":"d6962d46-4be1-bef9-ca74-861325c39986","input":"oak","output":"oak","triggers_replace":null}`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s.Lineage != "0265ca61-c190-b36c-5eb7-736153b251d2" || s.Serial != 1 || len(s.Hash) != 64 {
		t.Errorf("got %+v", s)
	}
}

// An encryption encrypts states like OpenTofu, with fewer iterations.
type encryption struct {
	version  string
	provider string
	meta     map[string]any
	key      string
	serial   int
}

func newEncryption() encryption {
	return encryption{version: "v0", provider: "key_provider.pbkdf2.main", key: passphrase, serial: 7,
		meta: map[string]any{"salt": []byte("a salt of the tests"), "iterations": 10, "hash_function": "sha256", "key_length": 32}}
}

func (e encryption) of(t testing.TB, plain string) string {
	t.Helper()
	key, err := pbkdf2.Key(sha256.New, e.key, []byte("a salt of the tests"), 10, 32)
	if err != nil {
		t.Fatal(err)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		t.Fatal(err)
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	nonce := []byte("twelve bytes")
	meta, err := json.Marshal(e.meta)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf(`{"serial":%d,"lineage":"l-1","meta":{%q:%q},"encrypted_data":%q,"encryption_version":%q}`, e.serial, e.provider,
		base64.StdEncoding.EncodeToString(meta), base64.StdEncoding.EncodeToString(gcm.Seal(nonce, nonce, []byte(plain), nil)), e.version)
}

func TestReadEncrypted(t *testing.T) {
	t.Parallel()
	plain := one(`{"attributes":{"password":"hush"},"sensitive_attributes":[[{"type":"get_attr","value":"password"}]]}`)
	o := options()
	o.Passphrases = []string{passphrase}
	s, got, err := read(newEncryption().of(t, plain), o)
	if err != nil || len(got) != 1 || strings.Contains(got[0], "hush") {
		t.Fatalf("got %v, %v", got, err)
	}
	want, _, err := read(plain, o)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, s); diff != "" {
		t.Errorf("decrypted state and its hash (-want +got):\n%s", diff)
	}
}

func TestReadEncryptedErrors(t *testing.T) {
	t.Parallel()
	change := func(to func(*encryption)) encryption {
		e := newEncryption()
		to(&e)
		return e
	}
	meta := func(name string, value any) encryption {
		return change(func(e *encryption) { e.meta[name] = value })
	}
	cases := map[string]struct {
		reason      string
		encryption  encryption
		plain       string
		passphrases []string
		want        string
	}{
		"NoKey":    {"no passphrase is given", newEncryption(), document(""), nil, "add the file of its passphrase"},
		"WrongKey": {"another passphrase", newEncryption(), document(""), []string{"a wrong passphrase", "another"}, "no passphrase decrypts the state"},
		"AWS": {"a key provider that needs the cloud", change(func(e *encryption) {
			e.provider, e.meta = "key_provider.aws_kms.main", map[string]any{"ciphertext_blob": "AAAA"}
		}), document(""), []string{passphrase}, "encrypted by aws_kms.main, and driftd can only decrypt with pbkdf2; use engine: plan"},
		"Null":       {"a key provider without metadata", change(func(e *encryption) { e.provider, e.meta = "key_provider.static.main", nil }), document(""), []string{passphrase}, "encrypted by static.main"},
		"Future":     {"another version", change(func(e *encryption) { e.version = "v1" }), document(""), []string{passphrase}, `encrypted in version "v1", and this version of driftd reads v0`},
		"Endless":    {"iterations that take a day", meta("iterations", 1_000_000_000), document(""), []string{passphrase}, "out of range"},
		"None":       {"no iterations", meta("iterations", 0), document(""), []string{passphrase}, "out of range"},
		"LongKey":    {"an invalid length of an AES key", meta("key_length", 4096), document(""), []string{passphrase}, "out of range"},
		"ShortKey":   {"an invalid length of an AES key", meta("key_length", 5), document(""), []string{passphrase}, "use the key of the encrypted state"},
		"Hash":       {"an unknown hash", meta("hash_function", "md5"), document(""), []string{passphrase}, "out of range"},
		"Serial":     {"an edited serial", change(func(e *encryption) { e.serial = 8 }), document(""), []string{passphrase}, "the file was edited"},
		"BrokenText": {"broken content", newEncryption(), document("")[:50], []string{passphrase}, "the state is truncated"},
		"OldContent": {"content of another format", newEncryption(), `{"version":3}`, []string{passphrase}, "the state has format 3"},
		"Twice":      {"an encrypted state in an encrypted one", newEncryption(), newEncryption().of(t, document("")), []string{passphrase}, "it has no version"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := options()
			o.Passphrases = tc.passphrases
			_, _, err := read(tc.encryption.of(t, tc.plain), o)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: got %v, want %q", tc.reason, err, tc.want)
			}
			if err != nil && (strings.Contains(err.Error(), passphrase) || strings.Contains(err.Error(), "a wrong")) {
				t.Errorf("the error shows a passphrase: %v", err)
			}
		})
	}
}

func TestReadEncryptedDamaged(t *testing.T) {
	t.Parallel()
	o := options()
	o.Passphrases = []string{passphrase}
	cases := map[string]struct{ text, want string }{
		"Changed":   {strings.Replace(newEncryption().of(t, document("")), `"encrypted_data":"`, `"encrypted_data":"AAAA`, 1), "no passphrase decrypts"},
		"Short":     {`{"meta":{"a":"eyJzYWx0IjoiQUFBQSIsIml0ZXJhdGlvbnMiOjEsImhhc2hfZnVuY3Rpb24iOiJzaGEyNTYiLCJrZXlfbGVuZ3RoIjozMn0="},"encrypted_data":"AAAA","encryption_version":"v0"}`, "no passphrase decrypts"},
		"NoBase64":  {`{"encrypted_data":"?","encryption_version":"v0"}`, "/encrypted_data: not base64"},
		"NoText":    {`{"encrypted_data":7}`, "got a number, want a string"},
		"NoMeta":    {`{"encrypted_data":"AAAA","encryption_version":"v0"}`, "an unnamed key provider"},
		"MetaList":  {`{"meta":[],"encrypted_data":"AAAA"}`, "got an array, want an object"},
		"MetaText":  {`{"meta":{"a":7}}`, "got a number, want a string"},
		"Providers": {`{"meta":{` + strings.TrimSuffix(strings.Repeat(`"key_provider.pbkdf2.%d":"eyJzYWx0IjoiQUFBQSIsIml0ZXJhdGlvbnMiOjF9",`, 9), ",") + `},"encrypted_data":"AAAA","encryption_version":"v0"}`, "9 key providers, more than 8"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := tc.text
			for i := range strings.Count(text, "%d") {
				text = strings.Replace(text, "%d", fmt.Sprint(i), 1)
			}
			if _, _, err := read(text, o); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
}

// slow matches metadata with many iterations, which are valid but slow.
var slow = regexp.MustCompile(`[0-9]{5}|[0-9][eE]`)

// FuzzReadEncrypted mutates the content of the envelope.
func FuzzReadEncrypted(f *testing.F) {
	f.Add(`{"salt":"AAAA","iterations":10,"hash_function":"sha256","key_length":32}`, []byte("some bytes"), document(""))
	f.Add(`{"salt":"AAAA","iterations":12345678,"hash_function":"sha512","key_length":16}`, []byte{}, one(`{}`))
	f.Add(`null`, []byte("x"), `{"version":4}`)
	f.Fuzz(func(t *testing.T, meta string, data []byte, plain string) {
		o := options()
		o.Passphrases = []string{passphrase}
		if slow.MatchString(meta) {
			return
		}
		for _, text := range []string{
			fmt.Sprintf(`{"meta":{"a":%q},"encrypted_data":%q,"encryption_version":"v0"}`, base64.StdEncoding.EncodeToString([]byte(meta)), base64.StdEncoding.EncodeToString(data)),
			newEncryption().of(t, plain),
		} {
			s, err := state.Read(t.Context(), strings.NewReader(text), o, func(state.Instance) error { return nil })
			if (s == nil) == (err == nil) {
				t.Errorf("got %v and %v", s, err)
			}
		}
	})
}
