package kubetest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// An authority signs the certificates of one cluster.
type authority struct {
	dir  string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// newAuthority creates the cluster's certificate authority, the API server's certificate, and
// the key that signs service account tokens.
func newAuthority(dir string) (*authority, error) {
	a := &authority{dir: dir}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "driftd-test-ca"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	var err error
	if a.cert, a.key, err = a.issue(template, time.Now().Add(24*time.Hour)); err != nil {
		return nil, err
	}
	server, key, err := a.issue(&x509.Certificate{
		Subject:     pkix.Name{CommonName: "kube-apiserver"},
		DNSNames:    []string{"localhost", "kubernetes", "kubernetes.default.svc"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, time.Now().Add(24*time.Hour))
	if err != nil {
		return nil, err
	}
	accounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make service account key: %w", err)
	}
	if err := a.write(map[string]any{
		"ca.crt": a.cert, "server.crt": server, "server.key": key, "sa.key": accounts, "sa.pub": accounts.Public(),
	}); err != nil {
		return nil, err
	}
	return a, nil
}

// issue signs a certificate with the authority; the first one signs itself.
func (a *authority) issue(template *x509.Certificate, until time.Time) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, fmt.Errorf("make key: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, nil, fmt.Errorf("make serial number: %w", err)
	}
	template.SerialNumber, template.NotAfter = serial, until
	template.NotBefore = until.Add(-48 * time.Hour)
	parent, signer := template, key
	if a.cert != nil {
		parent, signer = a.cert, a.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), signer)
	if err != nil {
		return nil, nil, fmt.Errorf("sign certificate of %s: %w", template.Subject.CommonName, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, nil, fmt.Errorf("parse certificate of %s: %w", template.Subject.CommonName, err)
	}
	return cert, key, nil
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

func (a *authority) write(files map[string]any) error {
	for name, content := range files {
		text, err := encodePEM(content)
		if err != nil {
			return err
		}
		if err := os.WriteFile(a.file(name), text, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

// encodePEM encodes a certificate, a private key or a public key.
func encodePEM(content any) ([]byte, error) {
	var block pem.Block
	var err error
	switch c := content.(type) {
	case *x509.Certificate:
		block = pem.Block{Type: "CERTIFICATE", Bytes: c.Raw}
	case *ecdsa.PrivateKey:
		block.Type = "PRIVATE KEY"
		block.Bytes, err = x509.MarshalPKCS8PrivateKey(c)
	case crypto.PublicKey:
		block.Type = "PUBLIC KEY"
		block.Bytes, err = x509.MarshalPKIXPublicKey(c)
	}
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", block.Type, err)
	}
	return pem.EncodeToMemory(&block), nil
}
