package netboxapi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const testToken = "0123456789abcdef0123456789abcdef01234567"

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ reason, content, header, label string }{
		{"version 1", testToken + "\n", "Token " + testToken, "the token"},
		{"version 2", "nbt_abc123.s3cr3ts3cr3t\n", "Bearer nbt_abc123.s3cr3ts3cr3t", "the token nbt_abc123"},
		{"with its scheme", "Token " + testToken, "Token " + testToken, "the token"},
		{"another line", testToken + "\nX-Evil: 1", "", ""},
		{"something else", "päss", "", ""},
	} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(tc.content), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readToken(file)
		if tc.header == "" {
			if err == nil || strings.Contains(err.Error(), tc.content) {
				t.Errorf("%s: error %v", tc.reason, err)
			}
			continue
		}
		if err != nil || got.header() != tc.header || got.label() != tc.label {
			t.Errorf("%s: %q %q, error %v", tc.reason, got.header(), got.label(), err)
		}
	}
}
