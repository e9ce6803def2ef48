package credential

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadEnv(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, content string
		want            map[string]string
		fails           string
	}{
		"plain":          {"one variable a line", "A=1\n_b2=x y\n", map[string]string{"A": "1", "_b2": "x y"}, ""},
		"comments":       {"lines of #, of ; and empty ones", "# a\n\n ; b\nA=1", map[string]string{"A": "1"}, ""},
		"spaces":         {"spaces around a value do not count", "  A= \t1 \nB=2", map[string]string{"A": "1", "B": "2"}, ""},
		"empty":          {"a variable may be empty", "A=\nB=2", map[string]string{"A": "", "B": "2"}, ""},
		"equals":         {"the first = counts", "A=x==\n", map[string]string{"A": "x=="}, ""},
		"hash":           {"# in a word is part of it, as for systemd", "A=x#y$z\n", map[string]string{"A": "x#y$z"}, ""},
		"single":         {"everything counts in single quotes", `A=' "\n$B # '` + "\n", map[string]string{"A": ` "\n$B # `}, ""},
		"double":         {"four characters are escaped", `A="a\"b\\c\$d\` + "`" + `'#"`, map[string]string{"A": `a"b\c$d` + "`" + `'#`}, ""},
		"lines":          {"quoted text has several lines, such as a key", "A='x\ny=z\n'\nB=\"1\n2\"  \nC=3", map[string]string{"A": "x\ny=z\n", "B": "1\n2", "C": "3"}, ""},
		"crlf":           {"as editors on Windows end lines", "A=1\r\nB='2'\r\n", map[string]string{"A": "1", "B": "2"}, ""},
		"mark":           {"and begin files", "\ufeffA=1", map[string]string{"A": "1"}, ""},
		"no separator":   {"a line that sets nothing", "A=1\nhunter2", nil, "line 2 is not NAME=VALUE"},
		"export":         {"systemd takes this for a name", "export A=hunter2", nil, "line 1 is not NAME=VALUE"},
		"digit":          {"no name", "1A=hunter2", nil, "line 1 is not"},
		"no name":        {"no name", "=hunter2", nil, "line 1 is not"},
		"space":          {"a space before = is no part of a name", "A =hunter2", nil, "line 1 is not"},
		"comment behind": {"some take it for a comment, others do not", "A=hunter2 # x", nil, "line 1 has a quote"},
		"backslash":      {"some drop it, others do not", `A=hunter\2`, nil, "line 1 has a quote"},
		"quote within":   {"some drop it, others do not", `A=hunter"2"`, nil, "line 1 has a quote"},
		"open":           {"a quote without end", "B=1\nA='hunter2\nC=3", nil, "line 2 opens a quote"},
		"open double":    {"the other quote", `A="hunter2`, nil, "line 1 opens a quote"},
		"escape":         {"not an escape of systemd", `A="hunter\n2"`, nil, "line 1 has a backslash"},
		"last escape":    {"an escape of nothing", `A="hunter2\`, nil, "line 1 has a backslash"},
		"behind quote":   {"text after the value", "A='hunter'2", nil, "line 1 has text after"},
		"lines before":   {"lines of a value count", "A='\n\n'\nhunter2", nil, "line 4 is not"},
		"twice":          {"which one counts is not clear", "A=hunter1\nA=hunter2", nil, "line 2 sets a variable a second time"},
		"nul":            {"no text file", "A=hunter2\x00", nil, "line 1 has a NUL byte"},
		"nothing":        {"an empty file is a mistake", "\n", nil, "empty"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "dns.env")
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ReadEnv(file)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.reason, diff)
			}
			if (err == nil) != (tt.fails == "") || err != nil &&
				(!strings.Contains(err.Error(), tt.fails) || !strings.Contains(err.Error(), file) || strings.Contains(err.Error(), "hunter")) {
				t.Errorf("%s: got %v, want one with %q and the file's name, and no content", tt.reason, err, tt.fails)
			}
		})
	}
	if _, err := ReadEnv(filepath.Join(t.TempDir(), "gone")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a file that does not exist: %v", err)
	}
}
