package policy

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// A source is the normalized source of a module.
type source struct {
	// place is "registry:HOST/NAMESPACE/NAME/SYSTEM", or "git::https://HOST/PATH" with the getter
	// that Terraform uses, without user, query and folder in the package. The host of the default
	// registry is empty.
	place string
	// folder is the part after "//".
	folder string
	query  url.Values
}

var errSource = errors.New("the form of the source is not supported: write it in full, as in git::https://HOST/PATH?ref=COMMIT")

// isLocal reports whether a source is a path in the same package.
func isLocal(text string) bool {
	return text == "." || text == ".." || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") ||
		strings.HasPrefix(text, `.\`) || strings.HasPrefix(text, `..\`)
}

// registryPart matches one part of the address of a module in a registry. A pattern may contain
// "*".
const registryPart = `[0-9A-Za-z*](?:[0-9A-Za-z_*-]*[0-9A-Za-z*])?`

// registryForm returns the regular expression for the address of a module in a registry.
func registryForm() *regexp.Regexp {
	return regexp.MustCompile(`^(?:([0-9A-Za-z*-]+(?:\.[0-9A-Za-z*-]+)+(?::\d+)?)/)?(` + registryPart + `)/(?:(` + registryPart + `)/([0-9a-z*]+)|\*)$`)
}

// parseSource parses the source of a module that is not local, or a pattern of sources.
func parseSource(text string) (source, error) {
	if strings.ContainsAny(text, " \t\r\n\\") || text == "" {
		return source{}, errSource
	}
	address, folder, query, err := split(text)
	if err != nil {
		return source{}, err
	}
	s := source{folder: folder, query: query}
	host, path, _ := strings.Cut(address, "/")
	isHub := host == "github.com" || host == "bitbucket.org"
	isHost := strings.Contains(host, ".") && !strings.ContainsAny(host, "@")
	if !isHub && (registryForm().MatchString(address) || isHost && !strings.Contains(host, "::") && path == "*") {
		s.place = "registry:" + strings.ToLower(address)
		if !isHost {
			s.place = "registry:/" + strings.ToLower(address)
		}
		return s, nil
	}
	s.place, err = fetched(address, isHub)
	return s, err
}

// split returns the address of a package, the folder in it, and the query.
func split(text string) (address, folder string, query url.Values, err error) {
	address, raw, _ := strings.Cut(text, "?")
	if query, err = url.ParseQuery(raw); err != nil {
		return "", "", nil, errSource
	}
	from := 0
	if i := strings.Index(address, "://"); i >= 0 {
		from = i + len("://")
	}
	if i := strings.Index(address[from:], "//"); i >= 0 {
		address, folder = address[:from+i], address[from+i+2:]
	}
	if dots(folder) {
		return "", "", nil, errSource
	}
	return address, folder, query, nil
}

// dots reports whether a path has the step ".." or ".".
func dots(path string) bool {
	return slices.ContainsFunc(strings.Split(path, "/"), func(step string) bool { return step == ".." || step == "." })
}

// fetched returns the place of a package that go-getter fetches.
func fetched(address string, isHub bool) (string, error) {
	getter, rest := inFull(address, isHub)
	u, err := url.Parse(strings.ReplaceAll(rest, "*", wildcard))
	if err != nil || u.Scheme == "" || u.Opaque != "" || u.Fragment != "" || dots(u.Path) || u.Host == "" && u.Scheme != "file" {
		return "", errSource
	}
	if getter != "" {
		getter += "::"
	}
	place := strings.ToLower(getter+u.Scheme+"://"+u.Host) + "/" + strings.Trim(u.Path, "/")
	return strings.ReplaceAll(strings.TrimSuffix(place, ".git"), wildcard, "*"), nil
}

// inFull returns the getter of an address and the URL. The getter is "" if the URL determines it.
func inFull(address string, isHub bool) (getter, rest string) {
	getter, rest, forced := strings.Cut(address, "::")
	if !forced {
		getter, rest = "", address
	}
	user, remote, hasUser := strings.Cut(rest, "@")
	switch {
	case getter == "" && isHub:
		return "git", "https://" + hubPath(rest)
	case hasUser && !strings.Contains(rest, "://") && !strings.Contains(user, "/"): // git@HOST:PATH
		host, path, _ := strings.Cut(remote, ":")
		return "git", "ssh://" + host + "/" + strings.TrimPrefix(path, "/")
	case strings.HasPrefix(rest, "/"):
		return getter, "file://" + rest
	}
	return getter, rest
}

// wildcard replaces "*" in URLs while they are parsed.
const wildcard = "driftd-any"

// hubPath returns HOST/OWNER/NAME of an address at GitHub or Bitbucket. The rest of the address is
// a folder.
func hubPath(address string) string {
	if parts := strings.SplitN(address, "/", 4); len(parts) > 3 {
		return strings.Join(parts[:3], "/")
	}
	return address
}

// String returns the source without user and query.
func (s source) String() string {
	text := strings.TrimPrefix(strings.TrimPrefix(s.place, "registry:"), "/")
	if s.folder != "" {
		text += "//" + s.folder
	}
	return text
}

// matches reports whether the pattern s matches a source: its package, or the package with its
// folder.
func (s source) matches(b source) bool {
	for _, pattern := range s.places() {
		for _, place := range b.places() {
			if s.folder == "" && matchPath(pattern, place) ||
				matchPath(pattern+"//"+s.folder, place+"//"+b.folder) {
				return true
			}
		}
	}
	return false
}

// places returns the place of a source. A module of the default registry has one place per
// registry.
func (s source) places() []string {
	path, ok := strings.CutPrefix(s.place, "registry:/")
	if !ok {
		return []string{s.place}
	}
	var places []string
	for _, host := range defaultHosts() {
		places = append(places, "registry:"+host+"/"+path)
	}
	return places
}

// allowsModule reports whether the allow-list has the source of a module.
func (p Policy) allowsModule(s source) bool {
	if p.Modules == nil {
		return true
	}
	return slices.ContainsFunc(p.Modules, func(pattern string) bool {
		// Check has already parsed all patterns.
		parsed, err := parseSource(pattern)
		return err == nil && parsed.matches(s)
	})
}

// pinned reports whether a source always has the same content: a commit of Git or Mercurial, an
// exact version in a registry, or an archive with a checksum.
func (s source) pinned(version string) bool {
	if strings.HasPrefix(s.place, "registry:") {
		return regexp.MustCompile(`^\s*=?\s*\d+\.\d+\.\d+[0-9A-Za-z.+-]*\s*$`).MatchString(version)
	}
	if commit := regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`); strings.HasPrefix(s.place, "git::") || strings.HasPrefix(s.place, "hg::") {
		return commit.MatchString(s.query.Get("ref") + s.query.Get("rev"))
	}
	checksum := s.query.Get("checksum")
	return checksum != "" && !strings.HasPrefix(checksum, "file:")
}

func checkSourcePattern(pattern string) error {
	if isLocal(pattern) {
		return fmt.Errorf("%q: modules in the repository need no pattern", pattern)
	}
	_, err := parseSource(pattern)
	if err != nil {
		return fmt.Errorf("%q: %w", pattern, err)
	}
	return nil
}
