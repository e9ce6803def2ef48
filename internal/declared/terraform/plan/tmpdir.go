package plan

import (
	"fmt"
	"os"
	"path/filepath"
)

// maxTmp bounds the path of a TMPDIR: providers put sockets into a folder of
// their own in it, and the path of a socket has 104 bytes at most.
const maxTmp = 64

// shortenTmp has a link in the system's folder stand for one whose path is too
// long for sockets. What is written still lies in the work folder.
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

// tmpLink names the link of a work folder, whose own name is random.
func tmpLink(dir string) string { return filepath.Join(os.TempDir(), "driftd-"+filepath.Base(dir)) }

// removeTmpLink removes the link of a work folder, where there is one.
func removeTmpLink(dir string) error {
	if target, err := os.Readlink(tmpLink(dir)); err != nil || target != filepath.Join(dir, "tmp") {
		return nil //nolint:nilerr // What is not ours stays.
	}
	return os.Remove(tmpLink(dir))
}
