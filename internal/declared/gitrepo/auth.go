package gitrepo

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/go-git/go-git/v5/plumbing/transport"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/httpclient"
)

// auth returns the credentials that are currently in their files.
func (r *Repository) auth() (transport.AuthMethod, error) {
	switch {
	case r.endpoint.Protocol == "ssh":
		return r.sshAuth()
	case r.settings.TokenFile != "":
		token, err := credential.Read(r.settings.TokenFile)
		return &githttp.BasicAuth{Username: r.settings.Username, Password: token}, err
	case r.basic != nil:
		return r.basic, nil
	}
	return nil, nil
}

// maxKnownHosts bounds a file of known hosts, in bytes.
const maxKnownHosts = 8 << 20

// errKnownHosts returns the error about known hosts that cannot be read.
func errKnownHosts(err error) error {
	return fmt.Errorf("read known hosts: %w; set known_hosts_file", err)
}

func (r *Repository) sshAuth() (transport.AuthMethod, error) {
	var files []string
	if r.settings.KnownHostsFile != "" {
		files = []string{r.settings.KnownHostsFile}
		// NewKnownHostsDb would wait for the other end of a pipe.
		if _, err := bounded.ReadRegular(files[0], maxKnownHosts); err != nil {
			return nil, errKnownHosts(err)
		}
	}
	hosts, err := gitssh.NewKnownHostsDb(files...)
	if err != nil {
		return nil, errKnownHosts(err)
	}
	trust := gitssh.HostKeyCallbackHelper{
		HostKeyCallback:   hosts.HostKeyCallback(),
		HostKeyAlgorithms: hosts.HostKeyAlgorithms(net.JoinHostPort(r.endpoint.Host, strconv.Itoa(cmp.Or(r.endpoint.Port, 22)))),
	}
	if r.settings.SSHKeyFile == "" {
		agent, err := gitssh.NewSSHAgentAuth(r.endpoint.User)
		if err != nil {
			return nil, errors.New("no ssh_key_file is set and no ssh agent is running")
		}
		agent.HostKeyCallbackHelper = trust
		return agent, nil
	}
	key, err := credential.Read(r.settings.SSHKeyFile)
	if err != nil {
		return nil, err
	}
	keys, err := gitssh.NewPublicKeys(r.endpoint.User, []byte(key+"\n"), "")
	if err != nil {
		return nil, fmt.Errorf("read %s: not a private key without passphrase", r.settings.SSHKeyFile)
	}
	keys.HostKeyCallbackHelper = trust
	return keys, nil
}

// redact returns err without the repository's credentials in its text: servers and proxies
// quote requests in their responses. The result wraps err.
func (r *Repository) redact(err error) error {
	auth, authErr := r.auth()
	basic, ok := auth.(*githttp.BasicAuth)
	if authErr != nil || !ok || basic == nil || basic.Password == "" {
		return err
	}
	encoded := base64.StdEncoding.EncodeToString([]byte(basic.Username + ":" + basic.Password))
	text := httpclient.Hider(encoded, basic.Password).Replace(err.Error())
	if text == err.Error() {
		return err
	}
	return &redactedError{text, err}
}

type redactedError struct {
	text string
	err  error
}

func (e *redactedError) Error() string { return e.text }
func (e *redactedError) Unwrap() error { return e.err }
