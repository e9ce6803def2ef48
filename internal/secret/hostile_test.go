package secret_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// TestHostileTexts seals long texts that are designed to be slow to search. With quadratic
// time, it would exceed the test's timeout.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	r := room(secret.Options{})
	nested := "password: x"
	for range 12 {
		nested = base64.StdEncoding.EncodeToString([]byte(nested))
	}
	for _, part := range []string{"://", "a://u:", "u:p@", "https://u:p@h,", "=", "a=", "password=", "password=x ", "password: x\n", "key: |\n", "-----BEGIN ",
		"-----BEGIN RSA PRIVATE KEY-----", "eyJ", "eyJhbGciOiJI.", "(secret-", "(secret-0123456789ab)", "{", "[", "\"", "'", "\\\"", "@tcp(", "u:p@tcp(",
		"--password ", "mysql -p", "Bearer ", "ghp_", "name: PASSWORD\n", "$(", "{{", "curl -H \"", "\x00TOKEN=", "a,password=", nested + " "} {
		text := strings.Repeat(part, 1<<20/len(part))
		r.Value("", model.MapOf(model.Field{Name: "x", Value: model.StringOf("secret " + text)}, model.Field{Name: "y", Value: model.StringOf(text)}))
	}
}
