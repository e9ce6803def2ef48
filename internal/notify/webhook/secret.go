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

// A signer holds the keys that sign; without keys it does not.
type signer [][]byte

// minKey is the least length of a key, in bytes, that the scheme recommends.
const minKey = 24

// readSigner reads keys, one a line: "whsec_" and base64, or as they are.
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
				return nil, errors.New("secret_file: what follows whsec_ is not base64")
			}
		}
		if len(key) < minKey {
			return nil, fmt.Errorf("secret_file: a key has %d bytes: it needs %d, as `openssl rand -base64 32` makes them", len(key), minKey)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// sign puts the message's id, the time and the signatures of all keys into the
// header, as Standard Webhooks 1.0 has it.
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

// readHeaders reads "Name: value" lines. An error shows no value.
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
			return nil, fmt.Errorf("headers_file: line %d is no header: write Name: value", number)
		case ours(name):
			return nil, fmt.Errorf("headers_file: line %d sets a header that driftd sets itself", number)
		}
		header.Add(name, value)
	}
	return header, nil
}

// ours tells the headers that say what the body is and who wrote it.
func ours(name string) bool {
	name = textproto.CanonicalMIMEHeaderKey(name)
	switch name {
	case "Content-Type", "Content-Length", "Transfer-Encoding", "Connection", "Host", "User-Agent":
		return true
	}
	return strings.HasPrefix(name, "Webhook-")
}
