package shoutrrr

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"
)

// nameOf returns the name of the service that an address is for: what stands
// before "://", or before a "+" in that.
func nameOf(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	name, _, _ := strings.Cut(scheme, "+")
	return strings.ToLower(name)
}

// check tells whether the library takes the address, as far as that can be told
// without asking anybody, and returns the service's name. No error shows any of
// the address.
func check(address string) (name string, err error) {
	name = nameOf(address)
	known := new(router.ServiceRouter).ListServices()
	slices.Sort(known)
	switch {
	case !slices.Contains(known, name):
		return "", fmt.Errorf("the address is for no service that shoutrrr has: it begins with one of %s and ://", strings.Join(known, ", "))
	case name == "logger":
		return "", errors.New("logger:// tells nobody: name another service")
	case name == "matrix":
		// It signs in at once.
		return name, nil
	}
	if _, err := locate(address); err != nil {
		// What the library says may quote any part of the address.
		return "", fmt.Errorf("shoutrrr does not take the address for %s: https://shoutrrr.nickfedor.com shows how it is written", name)
	}
	return name, nil
}

// locate returns the service that an address is for. A panic of the library is
// an error.
func locate(address string) (service types.Service, err error) {
	defer func() { err = orPanic(recover(), err) }()
	r := new(router.ServiceRouter)
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("it is no URL")
	}
	if strings.Contains(u.Scheme, "+") {
		return r.Locate(address)
	}
	// The router leaves out of its error what is wrong.
	if service, err = r.NewService(u.Scheme); err != nil {
		return nil, err
	}
	return service, service.Initialize(u, nil)
}

// orPanic returns err, unless there was a panic.
func orPanic(cause any, err error) error {
	if cause != nil {
		return errors.New("shoutrrr broke off")
	}
	return err
}

// What is quoted, what looks like a URL, and the words that an address is made of: cut at what
// stands between its parts, and finer.
var (
	quoted    = regexp.MustCompile(`"(\\.|[^"\\])*"?`)
	anyURL    = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*:/?/?[^\s"']*[/@][^\s"']*`)
	parts     = regexp.MustCompile(`[^/?&=@:\s]{3,}`)
	fineParts = regexp.MustCompile(`[^/?&=#@:,+.\s]{3,}`)
)

// redact takes out of a text all URLs, and all words that the address is made
// of, but for the service's name.
func redact(text, address string) string {
	// What is quoted may be any part of the address, spelt in another way.
	text = quoted.ReplaceAllString(text, "…")
	text = anyURL.ReplaceAllString(text, "…")
	forms := []string{address}
	if plainly, err := url.QueryUnescape(address); err == nil {
		forms = append(forms, plainly)
	}
	var words []string
	for _, form := range forms {
		words = append(append(words, parts.FindAllString(form, -1)...), fineParts.FindAllString(form, -1)...)
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, word := range words {
		if word != nameOf(address) {
			text = strings.ReplaceAll(text, word, "…")
		}
	}
	return text
}
