package access

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/bcrypt"
)

// Bounds of a new password: hashCost makes one login take about a quarter of a
// second.
const (
	minPassword = 8
	hashCost    = 12
)

// UserLine returns the line of a users' file for a name and a password, without
// its end. No error shows the password.
func UserLine(name, password string) (string, error) {
	switch {
	case !clean(name) || strings.ContainsRune(name, ':') || strings.HasPrefix(name, "#"):
		return "", fmt.Errorf("user name %q: want at most %d bytes of printable text, without a colon and no # in front", name, maxName)
	case utf8.RuneCountInString(password) < minPassword:
		return "", fmt.Errorf("the password has fewer than %d characters: choose a longer one", minPassword)
	case len(password) > MaxPassword:
		return "", fmt.Errorf("the password is longer than %d bytes, and bcrypt takes no more: choose a shorter one", MaxPassword)
	case strings.ContainsAny(password, "\r\n\x00"):
		return "", errors.New("the password has more than one line: nobody could type it, choose another")
	}
	hash, err := bcrypt.GenerateFromPassword([]byte(password), hashCost)
	if err != nil {
		return "", fmt.Errorf("hash the password of %q: %w", name, err)
	}
	return name + ":" + string(hash), nil
}
