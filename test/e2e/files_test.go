//go:build e2e

package e2e

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// eachFile calls do with every regular file below dir.
func eachFile(dir string, do func(path string, content []byte) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("read file: %w", err)
		}
		return do(path, content)
	})
}

func digest(content []byte) string { return fmt.Sprintf("%x", sha256.Sum256(content))[:16] }

// survivorsTimeout is the time within which a killed process must end.
const survivorsTimeout = 5 * time.Second

// survivors returns the command lines of the processes that have dir as working folder or in
// their arguments, after the end of those that are stopping.
func survivors(dir string) string {
	deadline := time.Now().Add(survivorsTimeout)
	for {
		found := processesOf(dir)
		if len(found) == 0 || time.Now().After(deadline) {
			return strings.Join(found, "\n")
		}
		<-time.After(20 * time.Millisecond)
	}
}

func processesOf(dir string) []string {
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil || len(processes) == 0 {
		return []string{fmt.Sprint("list processes: ", errors.Join(err, fs.ErrNotExist))}
	}
	var found []string
	for _, p := range processes {
		// A process may end while it is read, and is no survivor then.
		environment, _ := os.ReadFile(filepath.Join(p, "environ"))
		folder, _ := os.Readlink(filepath.Join(p, "cwd"))
		command, _ := os.ReadFile(filepath.Join(p, "cmdline"))
		if strings.Contains(string(environment)+folder+string(command), dir) {
			found = append(found, strings.ReplaceAll(string(command), "\x00", " "))
		}
	}
	return found
}
