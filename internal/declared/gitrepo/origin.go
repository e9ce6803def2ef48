package gitrepo

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// An Origin describes the remote repository from which a work tree was cloned.
type Origin struct {
	// Top is the top folder of the work tree, or "" outside of a work tree.
	Top string
	// URL is the URL of the remote without credentials, or "" if there is no remote that driftd can read.
	URL string
	// Branch is the default branch of the remote. If that is unknown, it is the branch of the work tree if
	// the remote has it, and "" otherwise.
	Branch string
}

// OriginOf returns the origin of the work tree that contains dir. It reads the configuration and the refs
// of the repository, and does not connect to the remote.
func OriginOf(dir string) (_ Origin, err error) {
	o := Origin{Top: TopOf(dir)}
	if o.Top == "" {
		return o, nil
	}
	s, err := openLocal(o.Top)
	if err != nil {
		return o, fmt.Errorf("read the git repository %s: %w", o.Top, err)
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	c, err := s.Config()
	if err != nil {
		return o, fmt.Errorf("read the configuration of the git repository %s: %w", o.Top, err)
	}
	name, remote := git.DefaultRemoteName, c.Remotes[git.DefaultRemoteName]
	if remote == nil && len(c.Remotes) == 1 {
		name = slices.Collect(maps.Keys(c.Remotes))[0]
		remote = c.Remotes[name]
	}
	if remote == nil || len(remote.URLs) == 0 {
		return o, nil
	}
	if o.URL = withoutCredentials(remote.URLs[0]); o.URL != "" {
		o.Branch = branchOf(s, name)
	}
	return o, nil
}

// Is reports whether url refers to the remote repository, over any protocol, or is the path of the work
// tree.
func (o Origin) Is(url string) bool {
	name := repositoryName(url)
	return name != "" && (name == repositoryName(o.URL) || name == repositoryName(o.Top))
}

// repositoryName returns the host and the path of a URL, or a local path; "" if it is neither.
func repositoryName(url string) string {
	endpoint, err := transport.NewEndpoint(url)
	if url == "" || err != nil {
		return ""
	}
	path, _, _ := strings.Cut(endpoint.Path, "?")
	return strings.ToLower(endpoint.Host) + "/" + strings.TrimSuffix(strings.Trim(path, "/"), ".git")
}

// branchOf returns the default branch of a remote as of the last fetch, or the branch of HEAD if the remote has it.
func branchOf(s *objectStore, remote string) string {
	prefix := "refs/remotes/" + remote + "/"
	if head, err := s.Reference(plumbing.NewRemoteHEADReferenceName(remote)); err == nil && head.Type() == plumbing.SymbolicReference {
		if branch, ok := strings.CutPrefix(head.Target().String(), prefix); ok {
			return branch
		}
	}
	head, err := s.Reference(plumbing.HEAD)
	if err != nil || !head.Target().IsBranch() {
		return ""
	}
	if _, err := s.Reference(plumbing.NewRemoteReferenceName(remote, head.Target().Short())); err != nil {
		return ""
	}
	return head.Target().Short()
}

// withoutCredentials returns a URL without the credentials in it; "" for one that New rejects.
func withoutCredentials(url string) string {
	endpoint, err := transport.NewEndpoint(url)
	if err != nil {
		return ""
	}
	switch endpoint.Protocol {
	case "https", "http":
		endpoint.User, endpoint.Password = "", ""
		endpoint.Path, _, _ = strings.Cut(endpoint.Path, "?")
		return endpoint.String()
	case "ssh":
		if endpoint.Password == "" {
			return url
		}
		endpoint.Password = ""
		return endpoint.String()
	case "file":
		if filepath.IsAbs(url) || endpoint.String() == url {
			return url
		}
	}
	return ""
}
