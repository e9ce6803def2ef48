package kubernetes

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFindContext(t *testing.T) {
	t.Parallel()
	const contexts = "contexts: [{name: a, context: {cluster: c, user: u, namespace: shop}}, {name: b, context: {cluster: c, user: u}}]\n"
	tests := map[string]struct {
		reason  string
		text    string
		context string
		want    Context
		fails   string
	}{
		"current":       {reason: "the default is the current context", text: "current-context: b\n" + contexts, want: Context{Name: "b"}},
		"named":         {reason: "a flag overrides the current context", text: "current-context: b\n" + contexts, context: "a", want: Context{Name: "a", Namespace: "shop"}},
		"unknown":       {reason: "the error lists the contexts", text: contexts, context: "x", fails: `no context "x": choose one of a, b`},
		"none current":  {reason: "there is no default", text: contexts, fails: "choose one of a, b with --context"},
		"no contexts":   {reason: "the file has no contexts", text: "kind: Config\n", fails: "no kubeconfig context was found"},
		"no kubeconfig": {reason: "the error does not quote the file", text: "users: [{user: {token: [s3cr3t-t0k3n]}}]\n", fails: "read kubeconfig"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "kubeconfig")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := FindContext(file, tt.context)
			if tt.want.Name != "" {
				tt.want.File = file
			}
			if got != tt.want || (err != nil) != (tt.fails != "") {
				t.Fatalf("%s: FindContext() = %q, %v", tt.reason, got, err)
			}
			if err != nil && (!strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), secretToken)) {
				t.Errorf("%s: FindContext() = %v, want %q", tt.reason, err, tt.fails)
			}
		})
	}
}

func TestCheckNamespace(t *testing.T) {
	t.Parallel()
	for name, valid := range map[string]bool{
		"shop": true, "shop-2": true, "2": true, strings.Repeat("a", 63): true,
		"": false, "Shop": false, "a/b": false, "-a": false, "a-": false, "a.b": false, "a b": false, strings.Repeat("a", 64): false,
	} {
		if err := CheckNamespace(name); (err == nil) != valid {
			t.Errorf("CheckNamespace(%q) = %v, want valid: %v", name, err, valid)
		}
	}
}
