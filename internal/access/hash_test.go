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
	h := newHouse(t, Options{UsersFile: usersFile(t, line+"\n")})
	h.login(get(), "Zoë Ünal@example.org", longest)
	tests := map[string]struct{ reason, name, password, want string }{
		"short":     {reason: "a short password is guessed", name: "alice", password: "hunter2", want: "fewer than 8 characters"},
		"long":      {reason: "the rest would count for nothing", name: "alice", password: longest + "x", want: "longer than 72 bytes"},
		"lines":     {reason: "somebody piped in a file", name: "alice", password: "hunter2\nhunter3", want: "more than one line"},
		"colon":     {reason: "a name would end there", name: "a:b", password: "open sesame", want: "without a colon"},
		"comment":   {reason: "a line would not be read", name: "#a", password: "open sesame", want: "no # in front"},
		"no name":   {reason: "nobody", password: "open sesame", want: "want at most 200 bytes"},
		"two lines": {reason: "another user would be let in, too", name: "a\nb", password: "open sesame", want: "printable"},
		"edges":     {reason: "spaces around a name are not seen", name: "a ", password: "open sesame", want: "printable"},
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
