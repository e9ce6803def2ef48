package access

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/crypto/bcrypt"

	"github.com/driftd/driftd/internal/bounded"
	"github.com/driftd/driftd/internal/credential"
)

// Limits of a users file.
const (
	maxUsersFile = 1 << 20
	maxUsers     = 10_000
	// maxCost is the maximum bcrypt cost. With it, a login takes about a second.
	maxCost = 14
	// statInterval is the minimum time between two checks for a change of the file.
	statInterval = time.Second
)

// users holds the names and hashes of a users file. It reads the file again when it changes.
type users struct {
	file string
	log  *slog.Logger

	mu     sync.Mutex
	hashes map[string]string
	// costs are the bcrypt costs of the hashes, in the order of the file.
	costs []int
	// checked is when the file was last checked for a change.
	checked time.Time
	// state describes the file when it was last read. lastErr is the error of the last attempt
	// to read it again, "" if it succeeded.
	state   os.FileInfo
	lastErr string
}

func newUsers(path string, log *slog.Logger) (*users, error) {
	file, _ := credential.Find(path)
	u := &users{file: file, log: log}
	state, err := os.Stat(file)
	if err == nil {
		err = u.read()
	}
	if err != nil {
		return nil, fmt.Errorf("read users_file %s: %w", file, bounded.Cause(err))
	}
	u.state = state
	return u, nil
}

// find returns the hash of a user's password, or "" for an unknown user.
func (u *users) find(name string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hashes[name]
}

// dummy returns a hash that matches no password, with one of the costs of the file. The seed
// selects the cost, so that it is always the same for a name.
func (u *users) dummy(seed digest) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	cost := u.costs[binary.BigEndian.Uint64(seed[:8])%uint64(len(u.costs))]
	// 22 characters of salt and 31 of an arbitrary hash.
	return fmt.Sprintf("$2a$%02d$%s", cost, strings.Repeat("X", 21)+"O"+strings.Repeat("z", 31))
}

// renew reads the file again if it has changed, and reports whether it did. An error is logged
// once, and the previous users stay valid.
func (u *users) renew(now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if since := now.Sub(u.checked); since >= 0 && since < statInterval {
		return false
	}
	u.checked = now
	state, err := os.Stat(u.file)
	if err == nil {
		if u.lastErr == "" && unchanged(u.state, state) {
			return false
		}
		err = u.read()
	}
	if err != nil {
		if text := bounded.Cause(err).Error(); text != u.lastErr {
			u.lastErr = text
			u.log.Error("cannot reload users file; the previous users stay valid", "file", u.file, "err", text)
		}
		return false
	}
	u.state, u.lastErr = state, ""
	u.log.Info("users file reloaded", "file", u.file, "users", len(u.hashes))
	return true
}

func unchanged(a, b os.FileInfo) bool {
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && os.SameFile(a, b)
}

// read replaces the users by those of the file. On error the users stay unchanged.
func (u *users) read() (err error) {
	f, err := os.Open(u.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("not a regular file: set the path of a file with names and hashes"))
	}
	content, err := io.ReadAll(io.LimitReader(f, maxUsersFile+1))
	if err != nil {
		return err
	}
	hashes, costs, err := parseUsers(content)
	if err == nil {
		u.hashes, u.costs = hashes, costs
	}
	return err
}

// parseUsers parses lines name:hash, as htpasswd writes them. It skips empty lines and lines
// that begin with #. No error contains a hash.
func parseUsers(content []byte) (hashes map[string]string, costs []int, err error) {
	if len(content) > maxUsersFile {
		return nil, nil, fmt.Errorf("over %d KiB: this is not a users file", maxUsersFile>>10)
	}
	hashes = map[string]string{}
	lines := map[string]int{}
	number := 0
	for line := range strings.Lines(string(content)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, hash, _ := strings.Cut(line, ":")
		cost, err := checkUser(name, hash)
		switch {
		case err != nil:
			return nil, nil, fmt.Errorf("line %d: %w", number, err)
		case lines[name] > 0:
			return nil, nil, fmt.Errorf("line %d: the user %q is already on line %d, remove one of them", number, name, lines[name])
		case len(costs) >= maxUsers:
			return nil, nil, fmt.Errorf("line %d: over %d users: use an OpenID provider instead", number, maxUsers)
		}
		hashes[name], lines[name], costs = hash, number, append(costs, cost)
	}
	if len(costs) == 0 {
		return nil, nil, errors.New("no user in the file: add a line printed by `driftd user NAME`")
	}
	return hashes, costs, nil
}

// checkUser validates a user's name and hash, and returns the cost of the hash.
func checkUser(name, hash string) (cost int, err error) {
	if !clean(name) {
		return 0, fmt.Errorf("want name:hash, with a name of at most %d bytes of printable text", maxName)
	}
	again := fmt.Sprintf("set the password of %q again with `driftd user` or `htpasswd -B`", name)
	if kind := otherHash(hash); kind != "" {
		return 0, fmt.Errorf("%s, but driftd supports only bcrypt: %s", kind, again)
	}
	cost, err = bcrypt.Cost([]byte(hash))
	alphabet := "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if err != nil || len(hash) != 60 || strings.Trim(hash[7:], alphabet) != "" {
		return 0, fmt.Errorf("an incomplete bcrypt hash: %s", again)
	}
	if cost > maxCost {
		return 0, fmt.Errorf("a bcrypt hash of cost %d, which makes a login take seconds: %s, with a cost of at most %d", cost, again, maxCost)
	}
	return cost, nil
}

// otherHash describes a hash that is not a bcrypt hash; "" for a bcrypt hash.
func otherHash(hash string) string {
	for prefix, kind := range map[string]string{"$apr1$": "an MD5 hash", "$1$": "an MD5 hash", "{SHA}": "a SHA-1 hash",
		"$5$": "a SHA-256 hash", "$6$": "a SHA-512 hash", "$y$": "a yescrypt hash", "$argon2": "an Argon2 hash"} {
		if strings.HasPrefix(hash, prefix) {
			return kind
		}
	}
	for _, prefix := range []string{"$2a$", "$2b$", "$2y$"} {
		if strings.HasPrefix(hash, prefix) {
			return ""
		}
	}
	return "not a bcrypt hash (which begins with $2y$, $2b$ or $2a$)"
}
