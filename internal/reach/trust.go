package reach

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
)

// Trust returns by whose word a server's certificate is believed: that of the
// authorities in a file of PEM, or the system's where it names none. It reads the
// file once.
func Trust(caFile string) (*tls.Config, error) {
	trust := &tls.Config{MinVersion: tls.VersionTLS12}
	if caFile == "" {
		return trust, nil
	}
	pem, err := os.ReadFile(caFile)
	if err != nil {
		return nil, fmt.Errorf("read ca_file: %w", err)
	}
	trust.RootCAs = x509.NewCertPool()
	if !trust.RootCAs.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("read ca_file: %s holds no certificate in PEM form: copy that of the authority", caFile)
	}
	return trust, nil
}
