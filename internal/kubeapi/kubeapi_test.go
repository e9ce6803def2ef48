package kubeapi_test

import (
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/kubeapi"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		access kubeapi.Access
		want   string
	}{
		"nothing":     {reason: "the user's kubeconfig is the default"},
		"server":      {reason: "an address with its files", access: kubeapi.Access{Server: "https://h", CAFile: "ca", TokenFile: "t"}},
		"two servers": {reason: "a connection has one API server", access: kubeapi.Access{Context: "a", InCluster: true}, want: "kubeconfig or context, in_cluster exclude each other"},
		"token only":  {reason: "token_file requires server", access: kubeapi.Access{TokenFile: "t"}, want: "set server too"},
		"user info":   {reason: "addresses are printed", access: kubeapi.Access{Server: "https://u:p@h"}, want: "must not hold credentials"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tt.access.Check()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("%s: Check() = %v, want %q", tt.reason, err, tt.want)
			}
		})
	}
}

func TestOrigin(t *testing.T) {
	t.Parallel()
	for want, access := range map[string]kubeapi.Access{
		"the kubeconfig's current context": {},
		"the cluster that driftd runs in":  {InCluster: true},
		"https://h":                        {Server: "https://h"},
		"context c of file":                {Kubeconfig: "file", Context: "c"},
		"context c of the kubeconfig":      {Context: "c"},
		"file":                             {Kubeconfig: "file"},
	} {
		if got := access.Origin(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
