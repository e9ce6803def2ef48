// Package kubetest starts real Kubernetes clusters for tests: etcd, an API server and, if
// requested, the controller manager; no node. The programs are in the folder that
// `tools/build.sh kube` prints.
package kubetest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/driftd/driftd/test/process"
)

const (
	readyTimeout = 90 * time.Second
	pollInterval = 50 * time.Millisecond
	binVariable  = "DRIFTD_TEST_KUBE_BIN"
)

// Options configure a cluster.
type Options struct {
	// Dir is the folder for the cluster's data, keys and logs. It must have no other use.
	Dir string
	// Controllers reports whether kube-controller-manager runs, so that Deployments get
	// ReplicaSets, namespaces get service accounts, and deleted ones are removed.
	Controllers bool
	// Flags are added to those of kube-apiserver.
	Flags []string
}

// A Cluster is a running cluster. It serves one test binary; its methods are safe for
// concurrent use.
type Cluster struct {
	dir, bin string
	address  string
	pki      *authority
	admin    User
	token    User
	// processes are in the order in which they were started.
	processes []*process.Process
	// serverFlags are kube-apiserver's flags, for a restart.
	serverFlags []string
}

// Bin returns the folder of the programs from the environment.
func Bin() (string, error) {
	bin := os.Getenv(binVariable)
	if bin == "" {
		return "", fmt.Errorf("%s is not set: run the tests through make, or set it to what `sh tools/build.sh kube` prints", binVariable)
	}
	for _, program := range []string{"etcd", "kube-apiserver", "kube-controller-manager", "kubectl"} {
		if _, err := os.Stat(filepath.Join(bin, program)); err != nil {
			return "", fmt.Errorf("find %s: %w: set %s to what `sh tools/build.sh kube` prints", program, err, binVariable)
		}
	}
	return bin, nil
}

// Start starts a cluster and returns when it is ready. Its processes do not outlive the
// caller's; ctx only bounds the start.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	bin, err := Bin()
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("make cluster folder: %w", err)
	}
	pki, err := newAuthority(o.Dir)
	if err != nil {
		return nil, err
	}
	c := &Cluster{dir: o.Dir, bin: bin, pki: pki}
	if err := c.start(ctx, o); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, o Options) error {
	ports, err := process.FreePorts(3)
	if err != nil {
		return err
	}
	client, peer := localURL("http", ports[0]), localURL("http", ports[1])
	c.address = localURL("https", ports[2])
	if err := c.makeUsers(); err != nil {
		return err
	}
	if err := c.run("etcd", etcdFlags(c.dir, client, peer)...); err != nil {
		return err
	}
	c.serverFlags = c.apiServerFlags(client, ports[2], o)
	if err := c.run("kube-apiserver", c.serverFlags...); err != nil {
		return err
	}
	if err := c.waitReady(ctx); err != nil {
		return err
	}
	if o.Controllers {
		return c.runControllers()
	}
	return nil
}

func etcdFlags(dir, client, peer string) []string {
	return []string{
		"--name=default", "--data-dir=" + filepath.Join(dir, "etcd"), "--unsafe-no-fsync", "--log-level=warn",
		"--listen-client-urls=" + client, "--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer, "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
		"--quota-backend-bytes=2147483648",
	}
}

func (c *Cluster) apiServerFlags(etcd string, port int, o Options) []string {
	flags := []string{
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port=" + strconv.Itoa(port),
		"--etcd-servers=" + etcd, "--endpoint-reconciler-type=none", "--service-cluster-ip-range=10.0.0.0/16",
		"--cert-dir=" + c.dir, "--client-ca-file=" + c.pki.file("ca.crt"),
		"--tls-cert-file=" + c.pki.file("server.crt"), "--tls-private-key-file=" + c.pki.file("server.key"),
		"--token-auth-file=" + c.pki.file("tokens.csv"), "--anonymous-auth=false",
		"--authorization-mode=RBAC", "--allow-privileged", "--profiling=false",
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + c.pki.file("sa.pub"),
		"--service-account-signing-key-file=" + c.pki.file("sa.key"),
	}
	if !o.Controllers {
		// Without controllers there are no service accounts.
		flags = append(flags, "--disable-admission-plugins=ServiceAccount")
	}
	return append(flags, o.Flags...)
}

func (c *Cluster) runControllers() error {
	kubeconfig := filepath.Join(c.dir, "controllers.kubeconfig")
	if err := c.WriteKubeconfig(kubeconfig, "default", c.admin); err != nil {
		return err
	}
	return c.run("kube-controller-manager",
		"--kubeconfig="+kubeconfig, "--leader-elect=false", "--secure-port=0", "--profiling=false",
		"--service-account-private-key-file="+c.pki.file("sa.key"), "--root-ca-file="+c.pki.file("ca.crt"),
		"--kube-api-qps=500", "--kube-api-burst=1000", "--concurrent-namespace-syncs=20")
}

func (c *Cluster) run(program string, flags ...string) error {
	p, err := c.spawn(program, flags...)
	if err != nil {
		return err
	}
	c.processes = append(c.processes, p)
	return nil
}

func (c *Cluster) spawn(program string, flags ...string) (*process.Process, error) {
	return process.Start(process.Options{
		Program: filepath.Join(c.bin, program), Args: flags, Log: filepath.Join(c.dir, program+".log"),
	})
}

// waitReady waits until the API server is ready or has ended.
func (c *Cluster) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, readyTimeout)
	defer cancel()
	client := c.Client()
	client.Timeout = 2 * time.Second
	defer client.CloseIdleConnections()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		if isReady(ctx, client, c.address+"/readyz") {
			return nil
		}
		for _, p := range c.processes {
			if p.Exited() {
				return fmt.Errorf("start cluster: a program exited; its last words: %s", p.Log())
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; see %s", c.address, ctx.Err(), c.dir)
		}
	}
}

func isReady(ctx context.Context, client *http.Client, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return false
	}
	resp, err := client.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode == http.StatusOK
}

// Client returns an HTTP client that trusts the API server and authenticates as the admin.
func (c *Cluster) Client() *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(c.pki.cert)
	return &http.Client{Transport: &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{
		MinVersion: tls.VersionTLS12, RootCAs: roots,
		Certificates: []tls.Certificate{{Certificate: [][]byte{c.admin.cert.Raw}, PrivateKey: c.admin.key}},
	}}}
}

// Stop stops the processes that Start started, the last first, and waits for them.
func (c *Cluster) Stop() error {
	var errs []error
	for i := len(c.processes) - 1; i >= 0; i-- {
		errs = append(errs, c.processes[i].Stop())
	}
	c.processes = nil
	return errors.Join(errs...)
}

// URL returns the API server's address.
func (c *Cluster) URL() string { return c.address }

// Kubectl returns the path of the kubectl that belongs to the API server.
func (c *Cluster) Kubectl() string { return filepath.Join(c.bin, "kubectl") }

// Pause stops the processes of the API server: it accepts connections and does not respond,
// until Resume.
func (c *Cluster) Pause() error { return c.apiServer().Signal(syscall.SIGSTOP) }

// Resume continues the API server after Pause.
func (c *Cluster) Resume() error { return c.apiServer().Signal(syscall.SIGCONT) }

// Restart kills the API server, which closes its connections, and returns when a new one is
// ready at the same address.
func (c *Cluster) Restart(ctx context.Context) error {
	server := c.apiServer()
	if err := server.Kill(); err != nil {
		return err
	}
	again, err := c.spawn("kube-apiserver", c.serverFlags...)
	if err != nil {
		return err
	}
	c.processes[1] = again
	return c.waitReady(ctx)
}

func (c *Cluster) apiServer() *process.Process { return c.processes[1] }

func localURL(scheme string, port int) string {
	return scheme + "://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}
