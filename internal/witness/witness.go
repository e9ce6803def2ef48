// Package witness keeps heads of the audit log outside of the database. Such a head later proves that the
// log was rewritten, or that the database is an older copy, even if the key of the log was stolen.
// docs/audit.md describes the guarantees of each kind of witness.
package witness

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/audit"
)

// A Witness keeps the heads of a log. Its methods return within the timeout of Env, and when the context
// ends. They are safe for concurrent use.
type Witness interface {
	// Name returns a description of the place, such as "the file /mnt/heads". It contains no secrets.
	Name() string
	// Publish adds a head. After an error, it is unknown whether the witness has the head; the caller may
	// call Publish again. If begun is set, heads were published before: Publish then returns an error if
	// the file or branch is missing or empty, and does not create it.
	Publish(ctx context.Context, h audit.Head, begun bool) error
	// Heads returns the heads that the witness keeps, without duplicates and oldest first. It returns at
	// least the last ones of any log. It returns no error if there are none. If some records are invalid or
	// cannot be read, it returns a *RecordsError together with the valid heads. It returns ErrWriteOnly if
	// the witness cannot be read.
	Heads(ctx context.Context, parse Parse) ([]audit.Head, error)
}

// A Parse parses a signed note, such as with audit.ParseHeadBy and the keys of the log. ErrShared is not
// reported as a problem of the witness.
type Parse = func(note []byte) (audit.Head, error)

// A RecordsError reports records of a witness that are not heads, and parts of it that could not be
// read. The heads that were returned with it are valid.
type RecordsError struct {
	// Problems are descriptions of the records that are not heads, with their places, and of the parts that
	// could not be read. There are at most maxErrors, followed by the number of the others.
	Problems []string
	// Older describes the part before the heads, if it was not read because the witness is too large.
	// Otherwise it is "".
	Older string
	// Unread reports whether another part was not read, and Unverified whether a record is not a head. If
	// neither is set, the problems are texts between records, such as the result of an interrupted write.
	Unread, Unverified bool
}

// Error returns the problems, one a line.
func (e *RecordsError) Error() string {
	if e.Older == "" {
		return strings.Join(e.Problems, "\n")
	}
	return strings.Join(append([]string{e.Older}, e.Problems...), "\n")
}

// errEmptied is the error of Publish for a witness that is begun and has no heads.
var errEmptied = errors.New("it is missing or empty, and heads were sent to it before: it was removed, or its file system is not mounted; " +
	"see driftd audit verify")

// ErrShared is returned by a Parse for a head of another log that uses the same witness.
var ErrShared = errors.New("it is a head of another log")

// ErrWriteOnly is returned by Heads of a witness that cannot be read.
var ErrWriteOnly = errors.New("heads cannot be read back from a webhook: compare them by hand")

// Settings describe the place of a witness. Exactly one of File, Webhook, WebhookFile and Git is set.
type Settings struct {
	// File is the path of a file.
	File string
	// Webhook is a URL. WebhookFile is the path of a file with a URL.
	Webhook, WebhookFile string
	// Git is the URL of a repository or the absolute path of a local one. Branch is the branch for the
	// heads.
	Git, Branch string
	// Username is the user name for git over https.
	Username string
	// TokenFile is the path of a file with the token for a webhook or for git over https.
	TokenFile string
	// CAFile is the path of a file with the certificate authorities to trust. "" means those of the system.
	CAFile string
	// SSHKeyFile and KnownHostsFile are the paths of the private key and of the trusted host keys for git
	// over ssh.
	SSHKeyFile, KnownHostsFile string
}

// Env is the environment of a witness.
type Env struct {
	// Origin is the origin of the log.
	Origin string
	// CacheDir is the folder for clones of repositories. If it is "", each call clones the repository. It
	// must differ from the folder for the clones of declarations.
	CacheDir string
	// Timeout is the maximum duration of each call. 0 means DefaultTimeout.
	Timeout time.Duration
	// Version is the version of driftd, for the header User-Agent.
	Version string
	Now     func() time.Time
	Log     *slog.Logger
}

// DefaultTimeout is the default of Env.Timeout.
const DefaultTimeout = 30 * time.Second

// Open returns the witness for the settings. It does not read files or open connections, so that an
// unavailable witness only causes errors of its methods.
func Open(s Settings, env Env) (Witness, error) {
	if env.Timeout <= 0 {
		env.Timeout = DefaultTimeout
	}
	var places int
	for _, place := range []string{s.File, s.Webhook, s.WebhookFile, s.Git} {
		if place != "" {
			places++
		}
	}
	switch {
	case places != 1:
		return nil, errors.New("open witness: set exactly one of file, webhook, webhook_file and git")
	case s.File != "":
		return newFile(s.File, env), nil
	case s.Git != "":
		return newGit(s, env)
	}
	return newWebhook(s, env)
}

// maxErrors bounds the problems of single records that Heads returns.
const maxErrors = 20

// A reading collects heads, and what is wrong with records.
type reading struct {
	heads    []audit.Head
	seen     map[[sha256.Size]byte]bool
	problems []string
	more     int
	older    string

	unread, unverified bool
}

// add adds the head in a signed note, unless it has it already.
func (r *reading) add(note []byte, parse Parse) error {
	sum := sha256.Sum256(note)
	if r.seen[sum] {
		return nil
	}
	head, err := parse(note)
	if err != nil && !errors.Is(err, ErrShared) {
		return err
	}
	if r.seen == nil {
		r.seen = map[[sha256.Size]byte]bool{}
	}
	r.seen[sum] = true
	if err != nil {
		return nil //nolint:nilerr // the head is not of this log
	}
	r.heads = append(r.heads, head)
	return nil
}

// cut adds the problem that a part was not read.
func (r *reading) cut(format string, args ...any) {
	r.unread = true
	r.fail(format, args...)
}

// refuse adds the problem that a record is no head of the log.
func (r *reading) refuse(format string, args ...any) {
	r.unverified = true
	r.fail(format, args...)
}

// fail adds a problem.
func (r *reading) fail(format string, args ...any) {
	if len(r.problems) == maxErrors {
		r.more++
		return
	}
	r.problems = append(r.problems, fmt.Sprintf(format, args...))
}

func (r *reading) result() ([]audit.Head, error) {
	if r.more > 0 {
		r.problems = append(r.problems, fmt.Sprintf("and %d more", r.more))
	}
	if len(r.problems) == 0 && r.older == "" {
		return r.heads, nil
	}
	return r.heads, &RecordsError{r.problems, r.older, r.unread, r.unverified}
}
