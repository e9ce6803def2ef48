package plan

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxTmp bounds the path of TMPDIR, in bytes. Providers create sockets in a subfolder of it, and
// the path of a socket has at most 104 bytes.
const maxTmp = 64

// shortenTmp creates a link in the system's temporary folder if the path of TMPDIR is too long for
// sockets. The files are still in the work folder.
func (w *work) shortenTmp() error {
	if len(w.tmp) <= maxTmp {
		return nil
	}
	link := tmpLink(w.dir)
	if err := os.Symlink(w.tmp, link); err != nil {
		return fmt.Errorf("make a short temporary folder: %w", err)
	}
	w.tmp = link
	return nil
}

// tmpLink returns the path of the link for a work folder, whose name is random.
func tmpLink(dir string) string { return filepath.Join(os.TempDir(), "driftd-"+filepath.Base(dir)) }

// removeTmpLink removes the link of a work folder, if any.
func removeTmpLink(dir string) error {
	if target, err := os.Readlink(tmpLink(dir)); err != nil || target != filepath.Join(dir, "tmp") {
		return nil //nolint:nilerr // What is not ours stays.
	}
	return os.Remove(tmpLink(dir))
}
