package shoutrrr

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/driftd/driftd/internal/lazyregexp"
)

// serviceName returns the name of the service of an address: the scheme up to a "+".
func serviceName(address string) string {
	scheme, _, _ := strings.Cut(address, ":")
	name, _, _ := strings.Cut(scheme, "+")
	return strings.ToLower(name)
}

// check validates address as far as possible without network requests. It returns the name of the
// service. No error contains any part of the address.
func check(address string) (name string, err error) {
	name = serviceName(address)
	known := new(router.ServiceRouter).ListServices()
	slices.Sort(known)
	switch {
	case !slices.Contains(known, name):
		return "", fmt.Errorf("unknown service: the address must begin with one of %s and ://", strings.Join(known, ", "))
	case name == "logger":
		return "", errors.New("logger:// sends no notifications: use another service")
	case name == "matrix":
		// Initializing this service logs in.
		return name, nil
	}
	if _, err := locate(address); err != nil {
		// The library's error may contain any part of the address.
		return "", fmt.Errorf("invalid address for %s: see https://shoutrrr.nickfedor.com for its format", name)
	}
	return name, nil
}

// locate returns the service of address. It returns a panic of the library as an error.
func locate(address string) (service types.Service, err error) {
	defer func() { err = panicError(recover(), err) }()
	r := new(router.ServiceRouter)
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("not a valid URL")
	}
	if strings.Contains(u.Scheme, "+") {
		return r.Locate(address)
	}
	// The router's error lacks the cause.
	if service, err = r.NewService(u.Scheme); err != nil {
		return nil, err
	}
	return service, service.Initialize(u, nil)
}

// panicError returns an error if cause is a recovered panic, and err otherwise.
func panicError(cause any, err error) error {
	if cause != nil {
		return errors.New("shoutrrr panicked")
	}
	return err
}

// Patterns for quoted text, URLs and the parts of an address, split at two sets of separators.
var (
	quoted    = lazyregexp.New(`"(\\.|[^"\\])*"?`)
	anyURL    = lazyregexp.New(`[A-Za-z][A-Za-z0-9+.-]*:/?/?[^\s"']*[/@][^\s"']*`)
	parts     = lazyregexp.New(`[^/?&=@:\s]{3,}`)
	fineParts = lazyregexp.New(`[^/?&=#@:,+.\s]{3,}`)
)

// redact removes all URLs and all parts of address from text, except the name of the service.
func redact(text, address string) string {
	// Quoted text may be any part of the address, with another encoding.
	text = quoted().ReplaceAllString(text, "…")
	text = anyURL().ReplaceAllString(text, "…")
	forms := []string{address}
	if unescaped, err := url.QueryUnescape(address); err == nil {
		forms = append(forms, unescaped)
	}
	var words []string
	for _, form := range forms {
		words = append(append(words, parts().FindAllString(form, -1)...), fineParts().FindAllString(form, -1)...)
	}
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	for _, word := range words {
		if word != serviceName(address) {
			text = strings.ReplaceAll(text, word, "…")
		}
	}
	return text
}
