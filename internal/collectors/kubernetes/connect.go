package kubernetes

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"os"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
)

// connect returns a client for the settings. It reads the kubeconfig and its files, but does
// not use the network. running bounds the requests that wait for a credential plugin.
// change, which may be nil, changes the configuration of the connection.
func connect(config Config, running chan struct{}, change func(*rest.Config)) (*client, error) {
	access, err := config.access()
	if err != nil {
		return nil, &httpclient.Error{Server: config.origin(), Err: firstLine(err), Hint: accessHint(err)}
	}
	access.UserAgent = "driftd"
	if change != nil {
		change(access)
	}
	base, _, err := rest.DefaultServerUrlFor(access)
	if err != nil {
		return nil, &httpclient.Error{Server: config.origin(), Err: err, Hint: "correct the server's address"}
	}
	plain, err := rest.HTTPClientFor(access)
	if err != nil {
		return nil, &httpclient.Error{Server: base.String(), Err: firstLine(err), Hint: "check the credentials and the CA certificate of the source"}
	}
	made := config.newClient(base, throughPlugin(access, plain.Transport, running))
	made.expiry = expiry(access.TLSClientConfig)
	return made, nil
}

func throughPlugin(access *rest.Config, next http.RoundTripper, running chan struct{}) http.RoundTripper {
	if access.ExecProvider == nil {
		return next
	}
	return &pluginTransport{command: access.ExecProvider.Command, next: next, running: running}
}

// access returns the API server and the credentials, as kubectl would select them.
func (c Config) access() (*rest.Config, error) {
	switch {
	case c.InCluster:
		return rest.InClusterConfig()
	case c.Server != "":
		token, _ := credential.Find(c.TokenFile)
		return &rest.Config{Host: c.Server, BearerTokenFile: token, TLSClientConfig: rest.TLSClientConfig{CAFile: c.CAFile}}, nil
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.Context}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(loadingRules(c.Kubeconfig), overrides).ClientConfig()
}

// loadingRules returns the rules by which kubectl selects a kubeconfig: the given file, or
// those of $KUBECONFIG, or ~/.kube/config.
func loadingRules(kubeconfig string) *clientcmd.ClientConfigLoadingRules {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = kubeconfig
	rules.WarnIfAllMissing = false
	return rules
}

func accessHint(err error) string {
	switch {
	case clientcmd.IsEmptyConfig(err):
		return "no kubeconfig was found: set kubeconfig, in_cluster or server in the source's settings"
	case errors.Is(err, os.ErrNotExist):
		return "correct the path, or create the file"
	case errors.Is(err, rest.ErrNotInCluster):
		return "driftd does not run in a pod: set kubeconfig or server instead of in_cluster"
	}
	return "see kubectl config get-contexts with the same kubeconfig"
}

// origin returns a text that identifies the API server by the settings.
func (c Config) origin() string {
	switch {
	case c.InCluster:
		return "the cluster that driftd runs in"
	case c.Server != "":
		return c.Server
	case c.Kubeconfig != "" && c.Context != "":
		return fmt.Sprintf("context %s of %s", c.Context, c.Kubeconfig)
	case c.Kubeconfig != "":
		return c.Kubeconfig
	case c.Context != "":
		return fmt.Sprintf("context %s of the kubeconfig", c.Context)
	}
	return "the kubeconfig's current context"
}

// expiry returns when the client certificate expires, or zero without one.
func expiry(config rest.TLSClientConfig) time.Time {
	data := config.CertData
	if len(data) == 0 && config.CertFile != "" {
		// The transport reports an unreadable file.
		data, _ = os.ReadFile(config.CertFile)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return time.Time{}
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return cert.NotAfter
}
