package webhook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/textproto"
	"strconv"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/driftd/driftd/internal/credential"
)

// A signer holds the keys that sign messages. Without keys it adds no signatures.
type signer [][]byte

// minKey is the minimum length of a key, in bytes, that Standard Webhooks recommends.
const minKey = 24

// readSigner reads the keys of a file, one per line: "whsec_" and base64, or the raw key.
func readSigner(file string) (signer, error) {
	if file == "" {
		return nil, nil
	}
	text, err := credential.Read(file)
	if err != nil {
		return nil, fmt.Errorf("secret_file: %w", err)
	}
	var keys signer
	for line := range strings.Lines(text) {
		key := []byte(strings.TrimRight(line, "\r\n"))
		if encoded, ok := strings.CutPrefix(string(key), "whsec_"); ok {
			if key, err = base64.StdEncoding.DecodeString(encoded); err != nil {
				return nil, errors.New("secret_file: the text after whsec_ is not base64")
			}
		}
		if len(key) < minKey {
			return nil, fmt.Errorf("secret_file: a key has %d bytes, want at least %d: create one with `openssl rand -base64 32`", len(key), minKey)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// sign sets the headers of Standard Webhooks 1.0: the message's id, the time and the signatures
// of all keys.
func (s signer) sign(header http.Header, id string, now time.Time, body []byte) {
	seconds := strconv.FormatInt(now.Unix(), 10)
	header.Set("Webhook-Id", id)
	header.Set("Webhook-Timestamp", seconds)
	signatures := make([]string, len(s))
	for i, key := range s {
		mac := hmac.New(sha256.New, key)
		mac.Write([]byte(id + "." + seconds + "."))
		mac.Write(body)
		signatures[i] = "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	}
	if len(signatures) > 0 {
		header.Set("Webhook-Signature", strings.Join(signatures, " "))
	}
}

// readHeaders reads "Name: value" lines from a file. Its errors contain no values.
func readHeaders(file string) (http.Header, error) {
	header := http.Header{}
	if file == "" {
		return header, nil
	}
	text, err := credential.Read(file)
	if err != nil {
		return nil, fmt.Errorf("headers_file: %w", err)
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, ok := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case !ok || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(value):
			return nil, fmt.Errorf("headers_file: line %d is not a header, want Name: value", number)
		case ours(name):
			return nil, fmt.Errorf("headers_file: line %d sets a header that driftd sets itself", number)
		}
		header.Add(name, value)
	}
	return header, nil
}

// ours reports whether driftd sets the header itself.
func ours(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch name {
	case "Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Host", "User-Agent":
		return true
	}
	return strings.HasPrefix(name, "Webhook-")
}
