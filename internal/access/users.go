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

	"github.com/driftd/driftd/internal/credential"
)

// Bounds of a users' file.
const (
	maxUsersFile = 1 << 20
	maxUsers     = 10_000
	// maxCost is the dearest hash: with it one login takes about a second.
	maxCost = 14
	// lookEvery is how often it is looked whether the file changed, at most.
	lookEvery = time.Second
)

// users are the names and hashes of a file, which is read again when it changes.
type users struct {
	file string
	log  *slog.Logger

	mu     sync.Mutex
	hashes map[string]string
	// costs are those of the hashes, in the order of the file.
	costs  []int
	looked time.Time
	// state is what the file looked like when it was last read, and trouble
	// what is wrong with it since; "" for nothing.
	state   os.FileInfo
	trouble string
}

func newUsers(path string, log *slog.Logger) (*users, error) {
	file, _ := credential.Find(path)
	u := &users{file: file, log: log}
	state, err := os.Stat(file)
	if err == nil {
		err = u.read()
	}
	if err != nil {
		return nil, fmt.Errorf("read users_file %s: %w", file, cause(err))
	}
	u.state = state
	return u, nil
}

// find returns the hash of a user's password; "" for a name that there is not.
func (u *users) find(name string) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.hashes[name]
}

// other returns a hash that fits no password. Which cost it has is the seed's
// choice among those of the file: the same for a name each time.
func (u *users) other(seed digest) string {
	u.mu.Lock()
	defer u.mu.Unlock()
	cost := u.costs[binary.BigEndian.Uint64(seed[:8])%uint64(len(u.costs))]
	// 22 characters of salt, and 31 of a hash that nobody has computed.
	return fmt.Sprintf("$2a$%02d$%s", cost, strings.Repeat("X", 21)+"O"+strings.Repeat("z", 31))
}

// renew reads the file again where it changed, and tells whether there are other
// users then. What is wrong with the new file is logged, and the old users stay.
func (u *users) renew(now time.Time) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if since := now.Sub(u.looked); since >= 0 && since < lookEvery {
		return false
	}
	u.looked = now
	state, err := os.Stat(u.file)
	if err == nil {
		if u.trouble == "" && unchanged(u.state, state) {
			return false
		}
		err = u.read()
	}
	if err != nil {
		if text := cause(err).Error(); text != u.trouble {
			u.trouble = text
			u.log.Error("read users' file again; the old users stay", "file", u.file, "err", text)
		}
		return false
	}
	u.state, u.trouble = state, ""
	u.log.Info("users' file was read again", "file", u.file, "users", len(u.hashes))
	return true
}

func unchanged(a, b os.FileInfo) bool {
	return a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size() && os.SameFile(a, b)
}

// read replaces the users by those of the file, if that is good.
func (u *users) read() (err error) {
	f, err := os.Open(u.file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errors.New("not a regular file: name the file that holds names and hashes"))
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

// parseUsers reads lines of the form that htpasswd writes, name:hash. Empty
// lines and those that begin with # are left out. No error shows a hash.
func parseUsers(content []byte) (hashes map[string]string, costs []int, err error) {
	if len(content) > maxUsersFile {
		return nil, nil, fmt.Errorf("over %d KiB: this is no file of users", maxUsersFile>>10)
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
			return nil, nil, fmt.Errorf("line %d: line %d has the user %q already, keep one", number, lines[name], name)
		case len(costs) >= maxUsers:
			return nil, nil, fmt.Errorf("line %d: over %d users: let them log in at an OpenID provider", number, maxUsers)
		}
		hashes[name], lines[name], costs = hash, number, append(costs, cost)
	}
	if len(costs) == 0 {
		return nil, nil, errors.New("no user in it: add a line that `driftd user NAME` prints")
	}
	return hashes, costs, nil
}

// checkUser returns the cost of a user's hash.
func checkUser(name, hash string) (cost int, err error) {
	if !clean(name) {
		return 0, fmt.Errorf("want name:hash, with a name of at most %d bytes of printable text", maxName)
	}
	again := fmt.Sprintf("set the password of %q again with `driftd user` or `htpasswd -B`", name)
	if kind := otherHash(hash); kind != "" {
		return 0, fmt.Errorf("%s, and driftd takes bcrypt alone: %s", kind, again)
	}
	cost, err = bcrypt.Cost([]byte(hash))
	alphabet := "./ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	if err != nil || len(hash) != 60 || strings.Trim(hash[7:], alphabet) != "" {
		return 0, fmt.Errorf("a bcrypt hash that is not whole: %s", again)
	}
	if cost > maxCost {
		return 0, fmt.Errorf("a bcrypt hash of cost %d, with which a login takes seconds: %s, with a cost of at most %d", cost, again, maxCost)
	}
	return cost, nil
}

// otherHash says what a hash is that is not bcrypt's; "" for one of bcrypt.
func otherHash(hash string) string {
	for prefix, kind := range map[string]string{"$apr1$": "a hash of MD5", "$1$": "a hash of MD5", "{SHA}": "a hash of SHA-1",
		"$5$": "a hash of SHA-256", "$6$": "a hash of SHA-512", "$y$": "a hash of yescrypt", "$argon2": "a hash of Argon2"} {
		if strings.HasPrefix(hash, prefix) {
			return kind
		}
	}
	for _, prefix := range []string{"$2a$", "$2b$", "$2y$"} {
		if strings.HasPrefix(hash, prefix) {
			return ""
		}
	}
	return "no bcrypt hash (it begins with $2y$, $2b$ or $2a$)"
}

// cause takes the path off an error of the file system, which is said once.
func cause(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
