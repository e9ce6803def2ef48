package access

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
)

// minPassword is the minimum length of a new password, in characters. With hashCost, a login
// takes about a quarter of a second.
const (
	minPassword = 8
	hashCost    = 12
)

// UserLine returns the line of a users file for a name and a password, without the newline. Its errors do
// not contain the password.
func UserLine(name, password string) (string, error) {
	switch {
	case !clean(name) || strings.ContainsRune(name, ':') || strings.HasPrefix(name, "#"):
		return "", fmt.Errorf("user name %q: want at most %d bytes of printable text, without a colon and not starting with #", name, maxName)
	case utf8.RuneCountInString(password) < minPassword:
		return "", fmt.Errorf("the password has fewer than %d characters: choose a longer one", minPassword)
	case len(password) > MaxPassword:
		return "", fmt.Errorf("the password is longer than %d bytes, the limit of bcrypt: choose a shorter one", MaxPassword)
	case strings.ContainsAny(password, "\r\n\x00"):
		return "", errors.New("the password has more than one line: choose one without line breaks")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), hashCost)
	if err != nil {
		return "", fmt.Errorf("hash the password of %q: %w", name, err)
	}
	return name + ":" + string(hash), nil
}
