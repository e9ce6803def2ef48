package access

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/driftd/driftd/internal/credential"
)

const goodHash = "$2y$04$abcdefghijklmnopqrstuuJZoLFrL5zG4e7Ns1vQvO5NYG7tFZ9bK"

func TestParseUsers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, content string
		want            int
		fails           string
	}{
		"htpasswd":   {reason: "the format of htpasswd -B", content: "alice:" + goodHash + "\n", want: 1},
		"comments":   {reason: "comments and empty lines are skipped", content: "# on call\n\nalice:" + goodHash + "\r\n  bob:$2b" + goodHash[3:] + "\n", want: 2},
		"no newline": {reason: "the last line may lack a newline", content: "alice:$2a" + goodHash[3:], want: 1},
		"names":      {reason: "names may contain spaces and non-ASCII letters", content: "Zoë Ünal@example.org:" + goodHash + "\n", want: 1},
		"empty":      {reason: "an empty file is an error, so that a truncation locks no user out", content: "", fails: "no user in the file"},
		"only notes": {reason: "a file with only comments is an error", content: "# empty\n", fails: "no user in the file"},
		"md5":        {reason: "the default of older htpasswd", content: "#\nalice:$apr1$x$y\n", fails: `line 2: an MD5 hash, but driftd supports only bcrypt: set the password of "alice" again with ` + "`driftd user` or `htpasswd -B`"},
		"sha":        {reason: "htpasswd -s", content: "alice:{SHA}eA==\n", fails: "line 1: a SHA-1 hash"},
		"crypt":      {reason: "a line of /etc/shadow", content: "alice:$6$x$y\n", fails: "line 1: a SHA-512 hash"},
		"plain":      {reason: "a password instead of a hash is not part of the error", content: "alice:hunter2\n", fails: "line 1: not a bcrypt hash"},
		"cut":        {reason: "a file that is still being written", content: "alice:" + goodHash[:40], fails: "line 1: an incomplete bcrypt hash"},
		"more":       {reason: "a third field", content: "alice:" + goodHash + ":x\n", fails: "line 1: an incomplete bcrypt hash"},
		"one more":   {reason: "an additional letter", content: "alice:" + goodHash + "a\n", fails: "line 1: an incomplete bcrypt hash"},
		"cost":       {reason: "each login would take too long", content: "alice:$2y$20" + goodHash[6:] + "\n", fails: "line 1: a bcrypt hash of cost 20"},
		"odd cost":   {reason: "the cost is not a number", content: "alice:$2y$xx" + goodHash[6:] + "\n", fails: "line 1: an incomplete bcrypt hash"},
		"twice":      {reason: "a duplicate user", content: "alice:" + goodHash + "\nbob:" + goodHash + "\nalice:" + goodHash + "\n", fails: `line 3: the user "alice" is already on line 1`},
		"no name":    {reason: "an empty name", content: ":" + goodHash + "\n", fails: "line 1: want name:hash"},
		"no colon":   {reason: "a line without a hash", content: "alice\n", fails: "line 1: not a bcrypt hash"},
		"odd name":   {reason: "a name with a change of text direction", content: "ali\u202ece:" + goodHash + "\n", fails: "line 1: want name:hash"},
		"large":      {reason: "the file exceeds the maximum size", content: strings.Repeat("#", maxUsersFile+1), fails: "over 1024 KiB"},
		"many":       {reason: "the file exceeds the maximum number of users", content: manyUsers(), fails: "line 10001: over 10000 users"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			users, costs, err := parseUsers([]byte(tt.content))
			if tt.fails == "" && (err != nil || len(users) != tt.want || len(costs) != tt.want) {
				t.Fatalf("%s: %d users, %v", tt.reason, len(users), err)
			}
			if tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%s: error = %v, want %q", tt.reason, err, tt.fails)
			}
		})
	}
}

// manyUsers returns a file with more than maxUsers users.
func manyUsers() string {
	var b strings.Builder
	for i := range maxUsers + 1 {
		b.WriteString(string([]rune{rune('a' + i%26), rune('a' + i/26%26), rune('a' + i/676)}) + ":" + goodHash + "\n")
	}
	return b.String()
}

func TestChangedUsers(t *testing.T) {
	t.Parallel()
	alice, bob := hash(t, "alice", "open sesame"), hash(t, "bob", "swordfish")
	tests := map[string]struct {
		reason string
		lines  []string
		// alice and bob report whose session stays valid.
		alice, bob bool
		logged     string
	}{
		"removed":  {reason: "the session of a removed user ends", lines: []string{bob}, bob: true, logged: "users file reloaded"},
		"renewed":  {reason: "a new password ends the sessions of the old one", lines: []string{hash(t, "alice", "open barley"), bob}, bob: true, logged: "users file reloaded"},
		"added":    {reason: "others stay", lines: []string{alice, bob, hash(t, "carol", "12345678")}, alice: true, bob: true, logged: "users file reloaded"},
		"reversed": {reason: "the order does not matter", lines: []string{bob, alice}, alice: true, bob: true, logged: "users file reloaded"},
		"broken":   {reason: "a broken file keeps the old users", lines: []string{bob, "alice:hunter2\n"}, alice: true, bob: true, logged: "the previous users stay valid"},
		"empty":    {reason: "an empty file keeps the old users", lines: nil, alice: true, bob: true, logged: "no user in the file"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := usersFile(t, alice, bob)
			h := newFixture(t, Options{UsersFile: file})
			his, hers := h.login(get(), "bob", "swordfish"), h.login(get(), "alice", "open sesame")
			r := get()
			r.SetBasicAuth("alice", "open sesame")
			seen, byPassword := h.identified(get(hers...)), h.identified(r)
			rewrite(t, file, tt.lines...)
			h.clock.pass(statInterval)
			for range 3 { // the result is logged once
				if got, _ := h.who(get(hers...), false); got.Name == "alice" != tt.alice {
					t.Errorf("%s: alice's session = %+v", tt.reason, got)
				}
				h.clock.pass(statInterval)
			}
			if got, _ := h.who(get(his...), false); got.Name == "bob" != tt.bob {
				t.Errorf("%s: bob's session = %+v", tt.reason, got)
			}
			if h.Still(seen.Context()) != tt.alice || h.Still(byPassword.Context()) != tt.alice {
				t.Errorf("%s: Still() of alice's requests = %v", tt.reason, !tt.alice)
			}
			if strings.Count(h.log.String(), tt.logged) != 1 || strings.Contains(h.log.String(), "hunter2") {
				t.Errorf("%s: log =\n%s", tt.reason, h.log)
			}
		})
	}
}

func TestUsersFileComesBack(t *testing.T) {
	t.Parallel()
	alice := hash(t, "alice", "open sesame")
	file := usersFile(t, alice)
	h := newFixture(t, Options{UsersFile: file})
	cookies := h.login(get(), "alice", "open sesame")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.clock.pass(statInterval)
	if got, _ := h.who(get(cookies...), false); got.Name != "alice" || !strings.Contains(h.log.String(), "no such file") {
		t.Errorf("visitor without a file = %+v; log:\n%s", got, h.log)
	}
	rewrite(t, file, hash(t, "bob", "swordfish"))
	h.clock.pass(statInterval)
	if got, _ := h.who(get(cookies...), false); got.Name != "" {
		t.Errorf("visitor = %+v, want nobody", got)
	}
	// A user who was removed and added again must log in again.
	rewrite(t, file, alice)
	h.clock.pass(statInterval)
	if got, _ := h.who(get(cookies...), false); got.Name != "" {
		t.Errorf("a session that had ended authenticates %+v", got)
	}
	h.login(get(), "alice", "open sesame")
}

func TestUsersFileMissingTwice(t *testing.T) {
	t.Parallel()
	file := usersFile(t, hash(t, "alice", "open sesame"))
	h := newFixture(t, Options{UsersFile: file})
	for range 2 {
		for _, way := range [][2]string{{file, file + ".away"}, {file + ".away", file}} {
			if err := os.Rename(way[0], way[1]); err != nil {
				t.Fatal(err)
			}
			h.clock.pass(statInterval)
			h.renew()
		}
	}
	if n := strings.Count(h.log.String(), "no such file"); n != 2 {
		t.Errorf("%d errors about the missing file, want 2\n%s", n, h.log)
	}
}

func TestUsersFileIsCheckedOnceASecond(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	h.renew()
	before := h.users.checked
	h.clock.pass(statInterval - time.Nanosecond)
	if h.renew(); !h.users.checked.Equal(before) {
		t.Error("the file was checked twice within a second")
	}
	h.clock.pass(-time.Hour) // the clock is set back
	if h.renew(); h.users.checked.Equal(before) {
		t.Error("the file is not checked after the clock was set back")
	}
}

func TestUsersOfACredential(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(credential.Folder, folder)
	if err := os.WriteFile(filepath.Join(folder, "users"), []byte(hash(t, "alice", "open sesame")), 0o400); err != nil {
		t.Fatal(err)
	}
	newFixture(t, Options{UsersFile: "users"}).login(get(), "alice", "open sesame")
}

func TestUsersFileIsADirectory(t *testing.T) {
	t.Parallel()
	if _, err := New(Options{UsersFile: t.TempDir()}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("New() error = %v", err)
	}
}

func FuzzParseUsers(f *testing.F) {
	for _, seed := range []string{"", "alice:" + goodHash, "#\n\r\n:", "a:$2y$", "a:{SHA}", "a:" + goodHash + "\na:" + goodHash, "\xff:" + goodHash} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, content []byte) {
		users, costs, err := parseUsers(content)
		if (err == nil) != (len(users) > 0) || len(users) != len(costs) {
			t.Fatalf("%d users, %d costs, %v", len(users), len(costs), err)
		}
		for name, hash := range users {
			if !clean(name) || len(hash) != 60 || !strings.Contains(string(content), name+":"+hash) {
				t.Errorf("user %q with a hash of %d bytes", name, len(hash))
			}
		}
		for _, cost := range costs {
			if cost > maxCost {
				t.Errorf("cost %d", cost)
			}
		}
	})
}
