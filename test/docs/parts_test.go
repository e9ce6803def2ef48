//go:build !e2e

package docs

import "testing"

// realParts returns none: make test needs only Go.
func realParts(*testing.T) parts { return parts{} }
