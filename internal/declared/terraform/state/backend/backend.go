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

// A Source is a location of states. It is safe for concurrent use.
type Source struct {
	site
	// literal are names that are read without a listing; patterns are listed.
	literal  []string
	patterns []pattern
	timeout  time.Duration
	maxBytes int64
}

// A site is a parsed location.
type site struct {
	place
	// root is the prefix of state addresses. It has no secrets.
	root string
	// name returns the name of a workspace's state; workspace may be a pattern. name is nil if the
	// location has no workspaces; root is then the whole address of the state.
	name func(workspace string) string
	// access is the hint for an error that denies access. forget drops cached credentials; it is
	// nil if there are none.
	access string
	forget func()
}

// A place stores states by name.
type place interface {
	// list returns the names that match a pattern, in any order.
	list(context.Context, pattern) ([]string, error)
	// open returns the content of a state, compressed or not. The caller closes it. If there is no
	// state, the error is errAbsent.
	open(ctx context.Context, name string) (io.ReadCloser, error)
}

var errAbsent = errors.New("there is no state")

// defaultWorkspace is the workspace that is selected by default.
const defaultWorkspace = "default"

// openers returns the functions that parse the locations of each scheme.
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

// Open returns the source at a location. A location is a file, a folder, a pattern of files, or a URL:
//
//	s3://bucket/key   gs://bucket/prefix   azurerm://account/container/key
//	http://… https://…   pg://user@host/database   consul://host:port/path
//	kubernetes://namespace/suffix   remote://host/organization/workspace
//
// In all but http, * matches any text without a slash and ? one character. In object stores, ** also
// matches slashes, and a location that ends with / matches all names below it that end with .tfstate. Open
// does not connect to a server.
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
		return nil, fmt.Errorf("open state %s: the location or a workspace is not valid UTF-8", strings.ToValidUTF8(scheme, "?"))
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

// choose sets the names and patterns of the workspaces' states.
func (s *Source) choose(workspaces []string) error {
	if s.name == nil && len(workspaces) > 0 {
		return fmt.Errorf("open state %s: the location has no workspaces; remove backend.workspaces", s.root)
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

// List returns the current addresses of the states at the location, sorted. It returns an error if there
// are none. For a location without a pattern, it does not check whether the states exist.
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
		return nil, fmt.Errorf("list states %s%s: no state found; check the location and the workspaces", s.root, s.patterns[0])
	}
	slices.Sort(names)
	addresses := slices.Compact(names)
	for i, name := range addresses {
		addresses[i] = s.root + name
	}
	return addresses, nil
}

// Read calls read with the content of the state at an address that List returned. Its errors contain the
// address and the next step, and no secrets.
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
		return fmt.Errorf("the state is not in %s", s.root)
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
	return read(&limitedReader{r: content, left: s.maxBytes, limit: s.maxBytes})
}

// explain adds the operation and a hint to err.
func (s *Source) explain(ctx context.Context, doing string, err error) error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return fmt.Errorf("%s: timeout after %s; raise backend.timeout, or check why the server is slow", doing, s.timeout)
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

// Error returns the text with each line break replaced by a space.
func (e oneLine) Error() string { return strings.Join(strings.Fields(e.error.Error()), " ") }

// Unwrap returns the wrapped error.
func (e oneLine) Unwrap() error { return e.error }

// hint returns the next step after err, or "" if the text of err contains it.
func (s *Source) hint(err error) string {
	var status *statusError
	var network *net.OpError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, errAbsent):
		return "check the location, the workspace, and that the credentials may read the state"
	case errors.As(err, &status) && status.denied():
		return s.access
	case errors.As(err, &certificate):
		return "set ca_file to the authority that signed the certificate"
	case errors.As(err, &network):
		return "check the address, and that the server runs"
	}
	return ""
}
