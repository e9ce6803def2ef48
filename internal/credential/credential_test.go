package credential

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestRead(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		content string
		want    string
		fails   string
	}{
		"plain":        {reason: "a token is what the file holds", content: "hunter2", want: "hunter2"},
		"newline":      {reason: "editors end the last line", content: "hunter2\n", want: "hunter2"},
		"crlf":         {reason: "so do editors on Windows", content: "hunter2\r\n", want: "hunter2"},
		"two newlines": {reason: "only one newline is the editor's", content: "hunter2\n\n", want: "hunter2\n"},
		"bare cr":      {reason: "a carriage return alone is content", content: "hunter2\r", want: "hunter2\r"},
		"spaces":       {reason: "spaces may belong to a password", content: " a b ", want: " a b "},
		"empty":        {reason: "an empty token is a mistake", content: "", fails: "empty"},
		"blank":        {reason: "so is a blank one", content: " \n", fails: "empty"},
		"full":         {reason: "the bound itself is allowed", content: strings.Repeat("x", MaxSize), want: strings.Repeat("x", MaxSize)},
		"large":        {reason: "somebody named the wrong file", content: strings.Repeat("x", MaxSize+1), fails: "over 64 KiB"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "token")
			if err := os.WriteFile(file, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := Read(file)
			if tt.fails == "" && (err != nil || got != tt.want) {
				t.Fatalf("%s: Read() = %d bytes, %v", tt.reason, len(got), err)
			}
			if tt.fails != "" && (err == nil || !strings.Contains(err.Error(), tt.fails) || !strings.Contains(err.Error(), file)) {
				t.Errorf("%s: Read() error = %v, want one with %q and the file's name", tt.reason, err, tt.fails)
			}
		})
	}
}

func TestReadWhatIsNoFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, path := range []string{folder, filepath.Join(folder, "absent")} {
		if _, err := Read(path); err == nil || strings.Count(err.Error(), path) != 1 {
			t.Errorf("Read(%q) error = %v, want one that names the path once", path, err)
		}
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	token := filepath.Join(folder, "token")
	if err := os.WriteFile(token, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	loaded := filepath.Join(folder, "driftd_netbox-token")
	for _, file := range []string{loaded, filepath.Join(folder, "driftd_token")} {
		if err := os.WriteFile(file, []byte("hunter3"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		reason, path, folder, want string
		ok                         bool
	}{
		"folder":     {reason: "systemd names what it finds in a folder after the folder", path: "netbox-token", folder: folder, want: loaded, ok: true},
		"credential": {reason: "a bare name is a credential", path: "token", folder: folder, want: token, ok: true},
		"no service": {reason: "outside systemd a name is a path", path: "token", want: "token"},
		"other name": {reason: "the service has no such credential", path: "other", folder: folder, want: "other"},
		"path":       {reason: "a path stays a path", path: "./token", folder: folder, want: "./token"},
		"parent":     {reason: "nothing outside the folder is a credential", path: "..", folder: folder, want: ".."},
		"itself":     {reason: "the folder is no credential", path: ".", folder: folder, want: "."},
		"empty":      {reason: "nothing names nothing", path: "", folder: folder, want: ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, ok := find(tt.path, tt.folder)
			if got != tt.want || ok != tt.ok {
				t.Errorf("%s: find(%q) = %q, %v; want %q, %v", tt.reason, tt.path, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestBeside(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, Below, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"both", "credentials/both", "credentials/token"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("hunter2"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	token := filepath.Join(dir, Below, "token")
	tests := map[string]struct {
		reason, path, dir, want string
		ok                      bool
	}{
		"credential":  {reason: "who may read the folder has what the service has", path: "token", dir: dir, want: token, ok: true},
		"file beside": {reason: "a relative path comes first", path: "both", dir: dir, want: "both"},
		"none":        {reason: "what is not there stays a path", path: "other", dir: dir, want: "other"},
		"folder":      {reason: "a folder is no credential", path: "folder", dir: dir, want: "folder"},
		"path":        {reason: "a path stays a path", path: "./token", dir: dir, want: "./token"},
		"no file":     {reason: "flags have no folder", path: "token", want: "token"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, ok := Fallback(tt.path, tt.dir); got != tt.want || ok != tt.ok {
				t.Errorf("%s: Beside(%q) = %q, %v; want %q, %v", tt.reason, tt.path, got, ok, tt.want, tt.ok)
			}
		})
	}
}

func TestReadCredentialThatCameLate(t *testing.T) {
	t.Setenv(Folder, t.TempDir())
	_, err := Read(filepath.Join(t.TempDir(), "late-token"))
	if err == nil || !strings.Contains(err.Error(), "systemctl restart") {
		t.Errorf("Read() error = %v, want one that says when credentials are passed", err)
	}
}

func TestReadCredentialOfTheService(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(Folder, folder)
	if err := os.WriteFile(filepath.Join(folder, "netbox-token"), []byte("hunter2\n"), 0o400); err != nil {
		t.Fatal(err)
	}
	if got, err := Read("netbox-token"); got != "hunter2" || err != nil {
		t.Errorf("Read() = %q, %v; want the service's credential", got, err)
	}
}

// TestReadPipe proves that a named pipe without a writer is an error, and no wait.
func TestReadPipe(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "token")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(pipe); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("Read() = %v", err)
	}
}
