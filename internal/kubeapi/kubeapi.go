// Package kubeapi connects to API servers of Kubernetes: the settings of a connection, its
// credentials and what to do if it fails. It sends no requests.
package kubeapi

import (
	"cmp"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/printable"
)

// Access are the settings of a connection. Kubeconfig and Context, InCluster, or Server select the
// API server. Without them, it is that of the user's kubeconfig, as with kubectl.
type Access struct {
	// Kubeconfig is a kubeconfig file. The default is $KUBECONFIG, then ~/.kube/config.
	Kubeconfig string `mapstructure:"kubeconfig" path:"true"`
	// Context is a context of the kubeconfig. The default is the current one.
	Context string `mapstructure:"context"`
	// InCluster selects the cluster in which driftd runs, with the pod's service account.
	InCluster bool `mapstructure:"in_cluster"`
	// Server is the address of the API server, instead of a kubeconfig.
	Server string `mapstructure:"server"`
	// CAFile is a file with the certificate authorities for Server. The default are those of the system.
	CAFile string `mapstructure:"ca_file" path:"true"`
	// TokenFile is a file with the token for Server, such as that of a service account.
	TokenFile string `mapstructure:"token_file" path:"true"`
}

// Ways returns the names of the settings that select an API server.
func (a Access) Ways() (ways []string) {
	for _, way := range []struct {
		name string
		set  bool
	}{
		{"kubeconfig or context", a.Kubeconfig != "" || a.Context != ""},
		{"in_cluster", a.InCluster},
		{"server", a.Server != ""},
	} {
		if way.set {
			ways = append(ways, way.name)
		}
	}
	return ways
}

// Check returns an error if the settings do not fit together.
func (a Access) Check() error {
	switch ways := a.Ways(); {
	case len(ways) > 1:
		return fmt.Errorf("settings %s exclude each other: keep one", strings.Join(ways, ", "))
	case a.Server == "" && (a.CAFile != "" || a.TokenFile != ""):
		return errors.New("settings ca_file and token_file require server: set server too")
	case strings.Contains(a.Server, "@"):
		return errors.New("setting server must not hold credentials: put the token into token_file")
	}
	return nil
}

// A Connection contains the configuration of a connection to an API server.
type Connection struct {
	Server    *url.URL
	Transport http.RoundTripper
	// Expiry is the time at which the client certificate expires, or zero if there is none.
	Expiry time.Time
}

// Connect returns a connection for the settings. It reads the kubeconfig and its files, but does
// not use the network. running bounds the requests that wait for a credential plugin. change, which
// may be nil, changes the configuration of the connection. Errors are *httpclient.Error.
func (a Access) Connect(running chan struct{}, change func(*rest.Config)) (*Connection, error) {
	access, err := a.config()
	if err != nil {
		return nil, &httpclient.Error{Server: a.Origin(), Err: FirstLine(err), Hint: accessHint(err)}
	}
	access.UserAgent = "driftd"
	if change != nil {
		change(access)
	}
	base, _, err := rest.DefaultServerUrlFor(access)
	if err != nil {
		return nil, &httpclient.Error{Server: a.Origin(), Err: err, Hint: "correct the server's address"}
	}
	plain, err := rest.HTTPClientFor(access)
	if err != nil {
		return nil, &httpclient.Error{Server: base.String(), Err: FirstLine(err), Hint: "check the credentials and the CA certificate of the source"}
	}
	return &Connection{Server: base, Transport: throughPlugin(access, plain.Transport, running), Expiry: expiry(access.TLSClientConfig)}, nil
}

func throughPlugin(access *rest.Config, next http.RoundTripper, running chan struct{}) http.RoundTripper {
	if access.ExecProvider == nil {
		return next
	}
	return &PluginTransport{Command: access.ExecProvider.Command, Next: next, Running: running}
}

// config returns the API server and the credentials, as kubectl would select them.
func (a Access) config() (*rest.Config, error) {
	switch {
	case a.InCluster:
		return rest.InClusterConfig()
	case a.Server != "":
		token, _ := credential.Find(a.TokenFile)
		return &rest.Config{Host: a.Server, BearerTokenFile: token, TLSClientConfig: rest.TLSClientConfig{CAFile: a.CAFile}}, nil
	}
	overrides := &clientcmd.ConfigOverrides{CurrentContext: a.Context}
	return clientcmd.NewNonInteractiveDeferredLoadingClientConfig(LoadingRules(a.Kubeconfig), overrides).ClientConfig()
}

// LoadingRules returns the rules by which kubectl selects a kubeconfig: the given file, or
// those of $KUBECONFIG, or ~/.kube/config.
func LoadingRules(kubeconfig string) *clientcmd.ClientConfigLoadingRules {
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

// Origin returns a text that identifies the API server by the settings.
func (a Access) Origin() string {
	switch {
	case a.InCluster:
		return "the cluster that driftd runs in"
	case a.Server != "":
		return a.Server
	case a.Kubeconfig != "" && a.Context != "":
		return fmt.Sprintf("context %s of %s", a.Context, a.Kubeconfig)
	case a.Kubeconfig != "":
		return a.Kubeconfig
	case a.Context != "":
		return fmt.Sprintf("context %s of the kubeconfig", a.Context)
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

// ConnectionHint returns the next step after an error other than an answer of the server.
func ConnectionHint(err error) string {
	return cmp.Or(Hint(err), "run kubectl get --raw /version with the same kubeconfig for details")
}

// Hint returns the next step after an error of the connection, its certificate or its credentials, or ""
// for another error.
func Hint(err error) string {
	words := httpclient.Words{Server: "the API server", Address: "the server's address",
		Authority: "set the certificate authority that signed the server's certificate (ca_file, or the kubeconfig's cluster)",
		Expired:   "renew it, or set this machine's clock",
		Host:      "use an address that the server's certificate names, or set tls-server-name in the kubeconfig",
	}
	if strings.Contains(err.Error(), "getting credentials") {
		return "the kubeconfig's credential plugin failed: run kubectl with the same kubeconfig and user"
	}
	return words.Hint(err)
}

// FirstLine returns an error with only the first line of its text. Errors of credential
// plugins have several.
func FirstLine(err error) error {
	if !strings.Contains(err.Error(), "\n") {
		return err
	}
	line, _, _ := strings.Cut(err.Error(), "\n")
	return &lineError{printable.Text(line), err}
}

type lineError struct {
	text string
	err  error
}

func (e *lineError) Error() string { return e.text }
func (e *lineError) Unwrap() error { return e.err }
