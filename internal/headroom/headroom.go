// Package headroom lets the heap of a program grow to 8 MiB before its first garbage collection.
// By default that comes at 4 MiB, which driftd reaches while its packages are initialized: a
// command that ends at once would collect what it is about to give back. GOGC in the environment
// has precedence. Import the package for this effect.
package headroom

import (
	"os"
	"runtime/debug"
)

// percent doubles the default of GOGC.
const percent = 200

// Go initializes packages that do not depend on each other in the order of their import paths, so
// that this is set before most of the memory is allocated.
func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
