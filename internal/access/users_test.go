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
		"htpasswd":   {reason: "as htpasswd -B writes it", content: "alice:" + goodHash + "\n", want: 1},
		"comments":   {reason: "people leave notes", content: "# on call\n\nalice:" + goodHash + "\r\n  bob:$2b" + goodHash[3:] + "\n", want: 2},
		"no newline": {reason: "the last line needs no end", content: "alice:$2a" + goodHash[3:], want: 1},
		"names":      {reason: "names are people's", content: "Zoë Ünal@example.org:" + goodHash + "\n", want: 1},
		"empty":      {reason: "a file that was cut to nothing lets nobody out", content: "", fails: "no user in it"},
		"only notes": {reason: "nor does one of notes", content: "# nobody\n", fails: "no user in it"},
		"md5":        {reason: "htpasswd's default once", content: "#\nalice:$apr1$x$y\n", fails: `line 2: a hash of MD5, and driftd takes bcrypt alone: set the password of "alice" again with ` + "`driftd user` or `htpasswd -B`"},
		"sha":        {reason: "htpasswd -s", content: "alice:{SHA}eA==\n", fails: "line 1: a hash of SHA-1"},
		"crypt":      {reason: "of /etc/shadow", content: "alice:$6$x$y\n", fails: "line 1: a hash of SHA-512"},
		"plain":      {reason: "a password is no hash, and is not shown", content: "alice:hunter2\n", fails: "line 1: no bcrypt hash"},
		"cut":        {reason: "half a line of a file that is being written", content: "alice:" + goodHash[:40], fails: "line 1: a bcrypt hash that is not whole"},
		"more":       {reason: "something behind it", content: "alice:" + goodHash + ":x\n", fails: "line 1: a bcrypt hash that is not whole"},
		"one more":   {reason: "a letter that slipped in", content: "alice:" + goodHash + "a\n", fails: "line 1: a bcrypt hash that is not whole"},
		"cost":       {reason: "each login would take a minute", content: "alice:$2y$20" + goodHash[6:] + "\n", fails: "line 1: a bcrypt hash of cost 20"},
		"odd cost":   {reason: "no number", content: "alice:$2y$xx" + goodHash[6:] + "\n", fails: "line 1: a bcrypt hash that is not whole"},
		"twice":      {reason: "which of the two counts?", content: "alice:" + goodHash + "\nbob:" + goodHash + "\nalice:" + goodHash + "\n", fails: `line 3: line 1 has the user "alice" already`},
		"no name":    {reason: "nobody", content: ":" + goodHash + "\n", fails: "line 1: want name:hash"},
		"no colon":   {reason: "one word", content: "alice\n", fails: "line 1: no bcrypt hash"},
		"odd name":   {reason: "what turns text around stands in no log", content: "ali\u202ece:" + goodHash + "\n", fails: "line 1: want name:hash"},
		"large":      {reason: "another file", content: strings.Repeat("#", maxUsersFile+1), fails: "over 1024 KiB"},
		"many":       {reason: "more than a file is for", content: manyUsers(), fails: "line 10001: over 10000 users"},
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

// manyUsers are as short as many can be.
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
		// alice and bob tell whose session goes on.
		alice, bob bool
		logged     string
	}{
		"removed":  {reason: "who is removed is out", lines: []string{bob}, bob: true, logged: "was read again"},
		"renewed":  {reason: "a new password ends what the old one began", lines: []string{hash(t, "alice", "open barley"), bob}, bob: true, logged: "was read again"},
		"added":    {reason: "others stay", lines: []string{alice, bob, hash(t, "carol", "12345678")}, alice: true, bob: true, logged: "was read again"},
		"reversed": {reason: "the order does not matter", lines: []string{bob, alice}, alice: true, bob: true, logged: "was read again"},
		"broken":   {reason: "a broken file keeps the old users", lines: []string{bob, "alice:hunter2\n"}, alice: true, bob: true, logged: "the old users stay"},
		"empty":    {reason: "so does one that is just being written", lines: nil, alice: true, bob: true, logged: "no user in it"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := usersFile(t, alice, bob)
			h := newHouse(t, Options{UsersFile: file})
			his, hers := h.login(get(), "bob", "swordfish"), h.login(get(), "alice", "open sesame")
			r := get()
			r.SetBasicAuth("alice", "open sesame")
			seen, byPassword := h.identified(get(hers...)), h.identified(r)
			rewrite(t, file, tt.lines...)
			h.clock.pass(lookEvery)
			for range 3 { // it is said once
				if got, _ := h.who(get(hers...), false); got.Name == "alice" != tt.alice {
					t.Errorf("%s: alice's session = %+v", tt.reason, got)
				}
				h.clock.pass(lookEvery)
			}
			if got, _ := h.who(get(his...), false); got.Name == "bob" != tt.bob {
				t.Errorf("%s: bob's session = %+v", tt.reason, got)
			}
			if h.Still(seen.Context()) != tt.alice || h.Still(byPassword.Context()) != tt.alice {
				t.Errorf("%s: an open page of alice goes on: %v", tt.reason, !tt.alice)
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
	h := newHouse(t, Options{UsersFile: file})
	cookies := h.login(get(), "alice", "open sesame")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	h.clock.pass(lookEvery)
	if got, _ := h.who(get(cookies...), false); got.Name != "alice" || !strings.Contains(h.log.String(), "no such file") {
		t.Errorf("visitor without a file = %+v; log:\n%s", got, h.log)
	}
	rewrite(t, file, hash(t, "bob", "swordfish"))
	h.clock.pass(lookEvery)
	if got, _ := h.who(get(cookies...), false); got.Name != "" {
		t.Errorf("visitor = %+v, want nobody", got)
	}
	// Who is back under the same password logs in again.
	rewrite(t, file, alice)
	h.clock.pass(lookEvery)
	if got, _ := h.who(get(cookies...), false); got.Name != "" {
		t.Errorf("a session that had ended lives: %+v", got)
	}
	h.login(get(), "alice", "open sesame")
}

func TestUsersFileGoesTwice(t *testing.T) {
	t.Parallel()
	file := usersFile(t, hash(t, "alice", "open sesame"))
	h := newHouse(t, Options{UsersFile: file})
	for range 2 {
		for _, way := range [][2]string{{file, file + ".away"}, {file + ".away", file}} {
			if err := os.Rename(way[0], way[1]); err != nil {
				t.Fatal(err)
			}
			h.clock.pass(lookEvery)
			h.renew()
		}
	}
	if n := strings.Count(h.log.String(), "no such file"); n != 2 {
		t.Errorf("it is said %d times that the file is gone, want each time\n%s", n, h.log)
	}
}

func TestUsersAreLookedForOnceASecond(t *testing.T) {
	t.Parallel()
	h := withUsers(t, Options{})
	h.renew()
	before := h.users.looked
	h.clock.pass(lookEvery - time.Nanosecond)
	if h.renew(); !h.users.looked.Equal(before) {
		t.Error("the file was looked at twice within a second")
	}
	h.clock.pass(-time.Hour) // the clock is set back
	if h.renew(); h.users.looked.Equal(before) {
		t.Error("a clock that was set back keeps the file from being looked at")
	}
}

func TestUsersOfACredential(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(credential.Folder, folder)
	if err := os.WriteFile(filepath.Join(folder, "users"), []byte(hash(t, "alice", "open sesame")), 0o400); err != nil {
		t.Fatal(err)
	}
	newHouse(t, Options{UsersFile: "users"}).login(get(), "alice", "open sesame")
}

func TestNoFileOfUsers(t *testing.T) {
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
