package aws

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/printable"
)

// An accountError is the error of credentials of another account than the configured one, or the one
// that was read before.
type accountError struct {
	want, got, arn string
	// configured reports whether want is the setting account.
	configured bool
}

func (e *accountError) Error() string {
	expected := "the last scan read account " + e.want
	if e.configured {
		expected = "the setting account is " + e.want
	}
	return fmt.Sprintf("the credentials are those of account %s (%s), and %s", e.got, e.arn, expected)
}

// Hint returns the next step.
func (e *accountError) Hint() string {
	if e.configured {
		return "set profile, credentials_file or assume_role to credentials of that account, or correct account"
	}
	return "set profile, credentials_file or assume_role to credentials of that account, or set account to the one that is to be read"
}

// An accountMemory stores the account that a source was last read from: with the credentials of another one,
// everything would be missing. It is safe for concurrent use.
type accountMemory struct {
	// file contains the number; "" if it is only in memory. log gets the errors of writing it.
	file   string
	log    *slog.Logger
	mu     sync.Mutex
	number string
}

// check returns an *accountError if an identity is not of the configured account or, if that is "", of the
// last one. It stores the account unless brief is set. A scan does not fail because the file cannot be written.
func (m *accountMemory) check(configured string, who awsapi.Identity, brief bool) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.load(); err != nil {
		return err
	}
	if want := cmp.Or(configured, m.number, who.Account); want != who.Account {
		return &accountError{want: want, got: who.Account, arn: printable.Text(who.ARN), configured: configured != ""}
	}
	if brief || m.number == who.Account {
		return nil
	}
	m.number = who.Account
	if m.file == "" {
		return nil
	}
	if err := atomicfile.Write(m.file, []byte(m.number)); err != nil {
		m.log.Warn("account of the scan not kept: after a restart, credentials of another account are not noticed", "err", err)
	}
	return nil
}

func (m *accountMemory) load() error {
	if m.number != "" || m.file == "" {
		return nil
	}
	text, err := os.ReadFile(m.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the account of the last scan: %w", err)
	}
	m.number = strings.TrimSpace(string(text))
	return nil
}
