//go:build e2e

package secrets

import (
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"
)

// A form returns a secret, and its text in a place.
type form func(v *vault, what string) (text string)

// plain returns a random secret of letters and digits.
func plain(v *vault, what string) string { return v.secret(what) }

// odd returns one with characters that formats escape.
func odd() string { return rand.Text()[:14] + `/w@%d:"x"&<y>+` + rand.Text()[:14] + `=\z` }

// inJSON returns an odd one escaped in a JSON string.
func inJSON(v *vault, what string) string {
	text, err := json.Marshal(v.keep(what, odd()))
	if err != nil {
		panic(fmt.Sprintf("encode a secret: %v", err))
	}
	return strings.Trim(string(text), `"`)
}

// inURL returns an odd one escaped in the user information of a URL.
func inURL(v *vault, what string) string {
	return url.UserPassword("", v.keep(what, odd())).String()[1:]
}

// inQuery returns an odd one escaped in the query of a URL.
func inQuery(v *vault, what string) string { return url.QueryEscape(v.keep(what, odd())) }

// asIs returns an odd one, unescaped.
func asIs(v *vault, what string) string { return v.keep(what, odd()) }

// inBase64 returns an encoded one.
func inBase64(v *vault, what string) string {
	return encode64(v.secret(what))
}

func encode64(text string) string { return base64.StdEncoding.EncodeToString([]byte(text)) }

// basic returns the content of an HTTP header with a user and a password.
func basic(v *vault, what string) string {
	return encode64("admin:" + v.secret(what))
}

// shaped returns random text with the prefix of a system's tokens.
func shaped(prefix, alphabet string, length int) form {
	return func(v *vault, what string) string { return v.keep(what, prefix+random(alphabet, length)) }
}

const (
	upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	mixed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
)

func random(alphabet string, length int) string {
	text := make([]byte, length)
	_, _ = rand.Read(text) // it never fails
	for i, b := range text {
		text[i] = alphabet[int(b)%len(alphabet)]
	}
	return string(text)
}

// slackToken returns a token of a bot.
func slackToken(v *vault, what string) string {
	return v.keep(what, "xoxb-"+random("0123456789", 12)+"-"+random("0123456789", 12)+"-"+random(mixed, 24))
}

// jwt returns a signed token; its signature is the secret.
func jwt(v *vault, what string) string {
	part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
	return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"1234567890","name":"shop","iat":1516239022}`) + "." + v.keep(what, random(mixed, 43))
}

// privateKey returns a PEM block.
func privateKey(v *vault, what string) string {
	content := make([]byte, 300)
	_, _ = rand.Read(content) // it never fails
	block := string(pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: content}))
	v.keep(what, strings.Split(block, "\n")[2])
	return block
}
