package audit

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// maxRotated bounds the number of rotated files that are read.
const maxRotated = 64

// rotated returns the rotated files of a log that were modified after since, oldest first.
func rotated(path string, since time.Time) []part {
	folder, base := filepath.Split(path)
	entries, err := os.ReadDir(filepath.Clean(folder))
	if err != nil {
		return nil // the log itself may be readable without permission to list its folder
	}
	var parts []part
	for _, e := range entries {
		if !isRotated(base, e.Name()) {
			continue
		}
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || info.ModTime().Before(since) {
			continue
		}
		parts = append(parts, part{path: filepath.Join(folder, e.Name()), info: info})
	}
	slices.SortStableFunc(parts, func(a, b part) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	return parts[max(0, len(parts)-maxRotated):]
}

// isRotated reports whether a file name is that of a rotated log: of the API server
// (audit-2026-02-03T10-20-30.400.log) or of logrotate (audit.log.1, audit.log-20260203),
// compressed or not.
func isRotated(base, name string) bool {
	name = strings.TrimSuffix(name, ".gz")
	extension := filepath.Ext(base)
	if rest, ok := strings.CutPrefix(name, base); ok {
		return len(rest) > 1 && (rest[0] == '.' || rest[0] == '-') && isDigit(rest[1])
	}
	rest, ok := strings.CutPrefix(name, strings.TrimSuffix(base, extension)+"-")
	return ok && rest != "" && isDigit(rest[0]) && strings.HasSuffix(rest, extension)
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
