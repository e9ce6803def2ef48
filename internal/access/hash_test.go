package access

import (
	"strings"
	"testing"
)

func TestUserLine(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("ä", MaxPassword/2)
	line, err := UserLine("Zoë Ünal@example.org", longest)
	if err != nil {
		t.Fatal(err)
	}
	h := newFixture(t, Options{UsersFile: usersFile(t, line+"\n")})
	h.login(get(), "Zoë Ünal@example.org", longest)
	tests := map[string]struct{ reason, name, password, want string }{
		"short":     {reason: "a short password is guessed", name: "alice", password: "hunter2", want: "fewer than 8 characters"},
		"long":      {reason: "bcrypt would ignore the rest", name: "alice", password: longest + "x", want: "longer than 72 bytes"},
		"lines":     {reason: "a file was piped in", name: "alice", password: "hunter2\nhunter3", want: "more than one line"},
		"colon":     {reason: "the colon ends the name", name: "a:b", password: "open sesame", want: "without a colon"},
		"comment":   {reason: "the line would be a comment", name: "#a", password: "open sesame", want: "not starting with #"},
		"no name":   {reason: "an empty name", password: "open sesame", want: "want at most 200 bytes"},
		"two lines": {reason: "the line would define another user", name: "a\nb", password: "open sesame", want: "printable"},
		"edges":     {reason: "surrounding spaces are invisible", name: "a ", password: "open sesame", want: "printable"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			line, err := UserLine(tt.name, tt.password)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "hunter") || line != "" {
				t.Errorf("%s: UserLine() = %q, %v, want %q", tt.reason, line, err, tt.want)
			}
		})
	}
}
