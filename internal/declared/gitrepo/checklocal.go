package gitrepo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing/transport"
)

// CheckLocal returns an error if url is a local path that does not exist, cannot be read, or is not a git
// repository. It returns nil for all other URLs; New returns an error for malformed ones.
func CheckLocal(url string) error {
	endpoint, err := transport.NewEndpoint(url)
	if err != nil || endpoint.Protocol != "file" || !filepath.IsAbs(url) && endpoint.String() != url {
		return nil //nolint:nilerr // New reports it
	}
	_, err = os.Stat(endpoint.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s does not exist: create it, or correct the path", endpoint.Path)
	case err != nil:
		return err
	}
	switch s, err := openLocal(endpoint.Path); {
	case err == nil:
		return s.Close()
	case errors.Is(err, git.ErrRepositoryNotExists):
		return fmt.Errorf("%s is not a git repository: name the top of one, or read the folder as it stands with dir", endpoint.Path)
	default:
		return fmt.Errorf("open repository %s: %w", endpoint.Path, err)
	}
}
