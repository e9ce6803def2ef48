package backend

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// A Source is a location that holds states. Several goroutines may use it.
type Source struct {
	site
	// literal names are read without being looked for; patterns are listed.
	literal  []string
	patterns []pattern
	timeout  time.Duration
	maxBytes int64
}

// A site is what a location's scheme makes of it.
type site struct {
	place
	// root stands before a state's name in its address; it holds no secret.
	root string
	// name returns the name of a workspace's state. The workspace may be a
	// pattern; nil tells that the place knows no workspaces, and then the root
	// is the state's whole address.
	name func(workspace string) string
	// access says what to check when access is denied, and forget drops the
	// credentials that were found before; nil where none are kept.
	access string
	forget func()
}

// A place holds states by their names.
type place interface {
	// list returns the names that fit a pattern, in any order.
	list(context.Context, pattern) ([]string, error)
	// open returns the content of a state, packed or not, which the caller
	// closes. It is errAbsent where there is none.
	open(ctx context.Context, name string) (io.ReadCloser, error)
}

var errAbsent = errors.New("there is no state")

// defaultWorkspace is the workspace of those who use none.
const defaultWorkspace = "default"

// openers returns what opens the locations of each scheme.
func openers() map[string]func(rest string, s Settings) (site, error) {
	return map[string]func(string, Settings) (site, error){
		"":           openFiles,
		"file":       openFiles,
		"s3":         openS3,
		"gs":         openGS,
		"azurerm":    openAzure,
		"http":       openWeb("http"),
		"https":      openWeb("https"),
		"pg":         openPostgres,
		"consul":     openConsul,
		"kubernetes": openKubernetes,
		"remote":     openRemote,
	}
}

// Open returns the source that a location names: a file, a folder or a pattern
// of files, or a URL:
//
//	s3://bucket/key   gs://bucket/prefix   azurerm://account/container/key
//	http://… https://…   pg://user@host/database   consul://host:port/path
//	kubernetes://namespace/suffix   remote://host/organization/workspace
//
// In all but http, * stands for anything within one part of a path and ? for
// one character; in object stores ** crosses parts, and a location that ends
// with / means all that ends with .tfstate below it. Open reaches for nothing
// yet.
func Open(location string, s Settings) (*Source, error) {
	scheme, rest, found := strings.Cut(location, "://")
	if !found {
		scheme, rest = "", location
	}
	open := openers()[scheme]
	if open == nil {
		known := slices.Sorted(maps.Keys(openers()))
		return nil, fmt.Errorf("open state: unknown scheme %q; want a file's path, or one of %s", scheme, strings.Join(known[1:], ", "))
	}
	if text := strings.Join(append([]string{location}, s.Workspaces...), ""); !utf8.ValidString(text) {
		return nil, fmt.Errorf("open state %s: the location or a workspace is no UTF-8 text", strings.ToValidUTF8(scheme, "?"))
	}
	at, err := open(rest, s)
	if err != nil {
		return nil, fmt.Errorf("open state %s://: %w", scheme, err)
	}
	source := &Source{site: at, timeout: s.Timeout, maxBytes: s.MaxBytes}
	if err := source.choose(s.Workspaces); err != nil {
		return nil, err
	}
	return source, nil
}

// choose finds the names of the workspaces' states.
func (s *Source) choose(workspaces []string) error {
	if s.name == nil && len(workspaces) > 0 {
		return fmt.Errorf("open state %s: it has no workspaces; leave workspaces out", s.root)
	}
	if s.name == nil {
		s.literal = []string{""}
		return nil
	}
	if len(workspaces) == 0 {
		workspaces = []string{defaultWorkspace}
	}
	for _, workspace := range workspaces {
		s.add(pattern(s.name(workspace)))
		if p := pattern(workspace); !p.literal() && p.match(defaultWorkspace) {
			s.patterns = append(s.patterns, pattern(s.name(defaultWorkspace)))
		}
	}
	return nil
}

func (s *Source) add(p pattern) {
	if p.literal() {
		s.literal = append(s.literal, string(p))
	} else {
		s.patterns = append(s.patterns, p)
	}
}

// List returns the addresses of the states that the location holds now,
// sorted. None at all is an error. What is named without a pattern is not
// looked for: Read tells whether it is there.
func (s *Source) List(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	names := slices.Clone(s.literal)
	for _, p := range s.patterns {
		found, err := s.list(ctx, p)
		if err != nil {
			return nil, s.explain(ctx, "list states "+s.root+string(p), err)
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("list states %s%s: there is none; check the location and the workspaces", s.root, s.patterns[0])
	}
	slices.Sort(names)
	addresses := slices.Compact(names)
	for i, name := range addresses {
		addresses[i] = s.root + name
	}
	return addresses, nil
}

// Read calls read with the content of the state at one of List's addresses.
// Its error names the address and a next step, and shows no secret.
func (s *Source) Read(ctx context.Context, address string, read func(io.Reader) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	defer func() {
		if err != nil {
			err = s.explain(ctx, "read state "+address, err)
		}
	}()
	name, ok := strings.CutPrefix(address, s.root)
	if !ok {
		return fmt.Errorf("it does not lie in %s", s.root)
	}
	body, err := s.open(ctx, name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	content, err := unpack(body)
	if err != nil {
		return err
	}
	return read(&bounded{r: content, left: s.maxBytes, limit: s.maxBytes})
}

// explain says what was done when err happened, and what to do about it.
func (s *Source) explain(ctx context.Context, doing string, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: no end after %s; raise backend.timeout, or see what keeps it", doing, s.timeout)
	}
	var status *statusError
	if errors.As(err, &status) && status.denied() && s.forget != nil {
		s.forget()
	}
	if hint := s.hint(err); hint != "" {
		return fmt.Errorf("%s: %w; %s", doing, oneLine{err}, hint)
	}
	return fmt.Errorf("%s: %w", doing, oneLine{err})
}

// oneLine is an error whose text has no line breaks.
type oneLine struct{ error }

// Error returns the text with blanks for line breaks.
func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }

// Unwrap returns the error itself.
func (e oneLine) Unwrap() error { return e.error }

// hint returns the next step after err, or "" where err says it.
func (s *Source) hint(err error) string {
	var status *statusError
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errAbsent):
		return "check the location, the workspace, and that the credentials may see it"
	case errors.As(err, &status) && status.denied():
		return s.access
	case errors.As(err, &certificate):
		return "name the authority that signed it in ca_file"
	case errors.As(err, &network):
		return "check the address, and that the server runs"
	}
	return ""
}
