package kubetest

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// A User is a user of the API server, or an unknown one, with a client certificate or a token.
type User struct {
	Name  string
	Token string
	cert  *x509.Certificate
	key   *ecdsa.PrivateKey
}

// makeUsers creates the users that exist from the start.
func (c *Cluster) makeUsers() error {
	var err error
	if c.admin, err = c.CertUser("admin", time.Now().Add(24*time.Hour), "system:masters"); err != nil {
		return err
	}
	c.token = User{Name: "token-admin", Token: rand.Text()}
	line := fmt.Sprintf("%s,%s,1,\"system:masters\"\n", c.token.Token, c.token.Name)
	if err := os.WriteFile(c.pki.file("tokens.csv"), []byte(line), 0o600); err != nil {
		return fmt.Errorf("write tokens: %w", err)
	}
	return nil
}

// Admin returns a user with all rights and a client certificate.
func (c *Cluster) Admin() User { return c.admin }

// TokenAdmin returns a user with all rights and a token.
func (c *Cluster) TokenAdmin() User { return c.token }

// CertUser returns a user with a client certificate that is valid until a time; a time in the
// past gives an expired one. Without a group that has rights, or a binding to the name, the
// user has no rights.
func (c *Cluster) CertUser(name string, until time.Time, groups ...string) (User, error) {
	cert, key, err := c.pki.issue(&x509.Certificate{
		Subject:  pkix.Name{CommonName: name, Organization: groups},
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, until)
	return User{Name: name, cert: cert, key: key}, err
}

// WriteKubeconfig writes a kubeconfig with one context for each user, named after the user, in
// the namespace; the first is the current one.
func (c *Cluster) WriteKubeconfig(path, namespace string, users ...User) error {
	ca, err := encodePEM(c.pki.cert)
	if err != nil {
		return err
	}
	config := map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": users[0].Name,
		"clusters": []any{map[string]any{"name": "test", "cluster": map[string]any{
			"server": c.address, "certificate-authority-data": ca}}},
	}
	var entries, contexts []any
	for _, u := range users {
		credentials, err := u.credentials()
		if err != nil {
			return err
		}
		entries = append(entries, map[string]any{"name": u.Name, "user": credentials})
		contexts = append(contexts, map[string]any{"name": u.Name,
			"context": map[string]any{"cluster": "test", "user": u.Name, "namespace": namespace}})
	}
	config["users"], config["contexts"] = entries, contexts
	// JSON is YAML, and encodes []byte in base64, as kubeconfigs require.
	text, err := json.MarshalIndent(config, "", "  ")
	if err != nil {
		return fmt.Errorf("encode kubeconfig: %w", err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return fmt.Errorf("write kubeconfig: %w", err)
	}
	return nil
}

func (u User) credentials() (map[string]any, error) {
	if u.cert == nil {
		return map[string]any{"token": u.Token}, nil
	}
	cert, err := encodePEM(u.cert)
	if err != nil {
		return nil, err
	}
	key, err := encodePEM(u.key)
	if err != nil {
		return nil, err
	}
	return map[string]any{"client-certificate-data": cert, "client-key-data": key}, nil
}
