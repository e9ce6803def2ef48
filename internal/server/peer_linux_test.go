package server

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/access"
)

func TestMayUse(t *testing.T) {
	t.Parallel()
	self := peer{uid: 500, gid: 600}
	tests := map[string]struct {
		reason string
		peer   peer
		want   bool
	}{
		"root":                      {reason: "root may do everything anyway", peer: peer{uid: 0, gid: 0}, want: true},
		"same user":                 {reason: "the daemon's user is its owner", peer: peer{uid: 500, gid: 700}, want: true},
		"same group":                {reason: "the group is who was let in", peer: peer{uid: 501, gid: 600}, want: true},
		"in group":                  {reason: "most members have another first group", peer: peer{uid: 501, gid: 700, groups: []uint32{1, 600}}, want: true},
		"started":                   {reason: "a provider of a plan is the daemon's user, and must not decide on findings", peer: peer{uid: 500, gid: 600, started: true}, want: false},
		"own child of another user": {reason: "a program of a plan cannot become another user", peer: peer{uid: 501, gid: 600, started: true}, want: true},
		"stranger":                  {reason: "another user", peer: peer{uid: 501, gid: 700, groups: []uint32{500}}, want: false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tt.peer.mayUse(self); got != tt.want {
				t.Errorf("%s: mayUse() = %v, want %v", tt.reason, got, tt.want)
			}
		})
	}
}

func TestPeerOf(t *testing.T) {
	t.Parallel()
	listener, err := listenUnix(t.Context(), filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	there, err := net.Dial("unix", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	here, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	groups, err := os.Getgroups()
	if err != nil {
		t.Fatal(err)
	}
	want := &peer{uid: uint32(os.Geteuid()), gid: uint32(os.Getegid()), groups: []uint32{}}
	if want.uid == 0 {
		want.login = ownLogin()
	}
	for _, group := range groups {
		want.groups = append(want.groups, uint32(group))
	}
	if diff := cmp.Diff(want, peerOf(here), cmp.AllowUnexported(peer{})); diff != "" {
		t.Errorf("peerOf() (-want +got):\n%s", diff)
	}
	for _, closer := range []interface{ Close() error }{here, there, listener} {
		if err := closer.Close(); err != nil {
			t.Error(err)
		}
	}
	pipe, _ := net.Pipe()
	if p := peerOf(pipe); p.err == nil {
		t.Error("peerOf() of what is no socket gives no error")
	}
}

func TestVisitorOfPeer(t *testing.T) {
	t.Parallel()
	people := access.NewPeople([]access.Person{{Name: "alice", Unix: "4294967000"}})
	login := func(uid uint32) *uint32 { return &uid }
	root := access.Visitor{Name: "root", Role: access.Approver, Via: access.Local, Unmapped: "unix:root"}
	alice := access.Visitor{Name: "uid 4294967000", Role: access.Approver, Via: access.Local, Person: "alice"}
	aliceAsRoot := alice
	aliceAsRoot.AsRoot = true
	tests := map[string]struct {
		reason string
		peer   peer
		want   access.Visitor
	}{
		"root":           {"without a login it is unknown who is root", peer{}, root},
		"root's login":   {"root logged in", peer{login: login(0)}, root},
		"overflow login": {"the login cannot be mapped", peer{login: login(65534)}, root},
		"user":           {"a member of the daemon's group", peer{uid: 4294967000}, alice},
		"sudo":           {"a user runs sudo", peer{login: login(4294967000)}, aliceAsRoot},
		"su to a user":   {"a process that is not of root is its user", peer{uid: 4294967000, login: login(4294967001)}, alice},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, tt.peer.visitor(people)); diff != "" {
				t.Errorf("%s: visitor() (-want +got):\n%s", tt.reason, diff)
			}
		})
	}
}

func TestReadLogin(t *testing.T) {
	t.Parallel()
	for content, want := range map[string]string{"1001": "1001", "0\n": "0", "4294967295": "none", "": "none", "-1": "none", "4294967296": "none"} {
		file := filepath.Join(t.TempDir(), "loginuid")
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		got := "none"
		if login := readLogin(file); login != nil {
			got = fmt.Sprint(*login)
		}
		if got != want {
			t.Errorf("readLogin() of %q = %s, want %s", content, got, want)
		}
	}
	if login := readLogin("/nowhere"); login != nil {
		t.Errorf("readLogin() without a file = %d", *login)
	}
}

// socketOfParent is the environment variable with the socket for a test process that runs as
// another user.
const socketOfParent = "DRIFTD_SERVER_TEST_SOCKET"

// TestAsOtherUser is the child process of TestStrangers. Without a parent it does nothing.
func TestAsOtherUser(t *testing.T) {
	t.Parallel()
	socket := os.Getenv(socketOfParent)
	if socket == "" {
		return
	}
	c, err := Dial(t.Context(), socket)
	if err == nil {
		_, err = c.Findings(t.Context(), Query{})
	}
	t.Log("answer:", err)
}

// TestChild connects as the daemon's own user, from a program that the daemon started.
func TestChild(t *testing.T) {
	t.Parallel()
	o := options(t)
	serve(t, o)
	for reason, run := range map[string]string{"a child": `"$0" "$@"`, "an orphan's parent is read before it is one": `"$0" "$@" & wait`} {
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", run, os.Args[0], "-test.v", "-test.run=^TestAsOtherUser$")
		cmd.Env = append(os.Environ(), socketOfParent+"="+o.Socket)
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "answer: this user may not use the socket") {
			t.Errorf("%s: %v:\n%s", reason, err, out)
		}
	}
}

// TestStrangers connects as other users, which only root can do.
func TestStrangers(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		return
	}
	o := options(t)
	serve(t, o)
	dir := filepath.Dir(o.Socket)
	binary := filepath.Join(dir, "server.test")
	copyFile(t, os.Args[0], binary)
	for _, path := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		reason string
		mode   os.FileMode
		as     syscall.Credential
		want   string
	}{
		{"the file keeps strangers out", 0o660, syscall.Credential{Uid: 65534, Gid: 65534}, "answer: connect to " + o.Socket + ": permission denied"},
		{"so does the server", 0o666, syscall.Credential{Uid: 65534, Gid: 65534}, "answer: this user may not use the socket: run this as root"},
		{"the daemon's group may come in", 0o660, syscall.Credential{Uid: 65534, Gid: 65534, Groups: groupsWithOwn()}, "answer: <nil>"},
	}
	for _, tt := range tests {
		if err := os.Chmod(o.Socket, tt.mode); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), binary, "-test.v", "-test.run=^TestAsOtherUser$")
		cmd.Dir, cmd.Env = dir, append(os.Environ(), socketOfParent+"="+o.Socket)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &tt.as}
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("%s: as %+v: %v, want %q:\n%s", tt.reason, tt.as, err, tt.want, out)
		}
	}
}

// groupsWithOwn returns more groups than the first request to the kernel asks for.
func groupsWithOwn() []uint32 {
	groups := []uint32{uint32(os.Getegid())}
	for i := range uint32(100) {
		groups = append(groups, 70000+i)
	}
	return groups
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	content, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, content, 0o755); err != nil {
		t.Fatal(err)
	}
}
