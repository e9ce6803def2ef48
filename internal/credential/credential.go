// Package credential reads tokens and passwords from files.
package credential

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/driftd/driftd/internal/bounded"
)

// MaxSize is the maximum size of a secret file, in bytes.
const MaxSize = 64 << 10

// Folder names the environment variable in which systemd passes the folder of
// a service's credentials (systemd.exec(5), LoadCredential=).
const Folder = "CREDENTIALS_DIRECTORY"

// prefix is what systemd puts before the names of files of a folder that the
// packaged unit loads as a whole (LoadCredential=driftd:/etc/driftd/credentials).
const prefix = "driftd_"

// Below is the folder next to the configuration from which the packaged unit loads
// credentials.
const Below = "credentials"

// Find resolves path. If path is a bare name and systemd passed a credential of that name to
// the service, alone or with a folder, Find returns the file of the credential and true.
// Otherwise it returns path and false.
func Find(path string) (file string, ok bool) { return find(path, os.Getenv(Folder)) }

func find(path, folder string) (string, bool) {
	if folder == "" || !bare(path) {
		return path, false
	}
	for _, name := range []string{path, prefix + path} {
		if file := filepath.Join(folder, name); regular(file) {
			return file, true
		}
	}
	return path, false
}

// Fallback returns the credential of a bare name for a process other than the service that
// can read the service's credentials, such as one of root: the file of that name in the
// folder Below dir, if dir itself has none of that name.
func Fallback(path, dir string) (file string, ok bool) {
	if dir == "" || !bare(path) {
		return path, false
	}
	if _, err := os.Stat(filepath.Join(dir, path)); !errors.Is(err, fs.ErrNotExist) {
		return path, false
	}
	if file = filepath.Join(dir, Below, path); regular(file) {
		return file, true
	}
	return path, false
}

func bare(path string) bool {
	return path != "" && path == filepath.Base(path) && path != "." && path != ".."
}

func regular(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular()
}

// Read returns the secret in a file, without one trailing newline. path is the path of a file, or the bare
// name of a systemd credential. Read returns an error for an empty file, a file larger than MaxSize, and a
// name that is not a regular file. Errors do not contain the content.
func Read(path string) (string, error) {
	file, _ := Find(path)
	secret, err := read(file)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv(Folder) != "" {
		err = fmt.Errorf("%w; a credential of the service is there only after systemctl restart", err)
	}
	if err != nil {
		// A colon after the path would make one such as /etc/pve-token look like the name of a secret, whose value the rest were.
		return "", fmt.Errorf("read secret file %s (%w)", file, err)
	}
	return secret, nil
}

func read(file string) (string, error) {
	content, err := bounded.ReadRegular(file, MaxSize)
	switch {
	case errors.Is(err, bounded.ErrNotRegular):
		return "", fmt.Errorf("%w: name the file that holds the secret", bounded.ErrNotRegular)
	case errors.Is(err, bounded.ErrTooLarge):
		return "", fmt.Errorf("over %d KiB: this is no token", MaxSize>>10)
	case err != nil:
		return "", bounded.Cause(err)
	}
	return trim(string(content))
}

// trim takes one trailing newline off, which most editors add.
func trim(content string) (string, error) {
	secret, found := strings.CutSuffix(content, "\r\n")
	if !found {
		secret = strings.TrimSuffix(content, "\n")
	}
	if strings.TrimSpace(secret) == "" {
		return "", errors.New("empty: write the secret into it")
	}
	return secret, nil
}
