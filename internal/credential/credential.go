// Package credential reads tokens and passwords from the files that hold them.
package credential

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// MaxSize bounds a secret file, in bytes.
const MaxSize = 64 << 10

// Folder names the environment variable in which systemd passes the folder of
// a service's credentials (systemd.exec(5), LoadCredential=).
const Folder = "CREDENTIALS_DIRECTORY"

// Find returns the file that path speaks of. A bare name is a credential of
// the service where there is one of that name; ok tells whether it is.
func Find(path string) (file string, ok bool) { return find(path, os.Getenv(Folder)) }

func find(path, folder string) (string, bool) {
	if folder == "" || path == "" || path != filepath.Base(path) || path == "." || path == ".." {
		return path, false
	}
	file := filepath.Join(folder, path)
	if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
		return path, false
	}
	return file, true
}

// Read returns the secret that a file holds, without one trailing newline.
// Path is a file's path, or the bare name of a systemd credential. An empty
// file, one over MaxSize and what is no regular file are errors; no error
// shows any of the content.
func Read(path string) (string, error) {
	file, _ := Find(path)
	secret, err := read(file)
	if err != nil {
		return "", fmt.Errorf("read secret file %s: %w", file, err)
	}
	return secret, nil
}

func read(file string) (secret string, err error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", cause(err)
	}
	if !info.Mode().IsRegular() {
		return "", errors.New("not a regular file: name the file that holds the secret")
	}
	f, err := os.Open(file)
	if err != nil {
		return "", cause(err)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	content, err := io.ReadAll(io.LimitReader(f, MaxSize+1))
	if err != nil {
		return "", cause(err)
	}
	if len(content) > MaxSize {
		return "", fmt.Errorf("over %d KiB: this is no token", MaxSize>>10)
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

// cause takes the path off an error of the file system, which is said once.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
