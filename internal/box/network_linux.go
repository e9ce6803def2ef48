package box

import (
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// systemFiles are the files that git and its helpers read: programs, libraries,
// certificates, and the settings of name resolution and authentication. Only temp can be
// written to.
func systemFiles(temp string) []landlock.Rule {
	folders := []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/nix/store", "/etc/ssl", "/etc/pki", "/etc/ca-certificates",
		"/etc/alternatives", "/etc/ssh", "/etc/ld.so.conf.d", "/run/systemd/resolve", "/sys/kernel/mm/transparent_hugepage"}
	files := []string{"/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/nsswitch.conf", "/etc/gai.conf", "/etc/passwd", "/etc/group",
		"/etc/services", "/etc/protocols", "/etc/localtime", "/etc/gitconfig", "/etc/ld.so.cache", "/etc/ld.so.conf"}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		folders = append(folders, filepath.Join(home, ".ssh"), filepath.Join(home, ".config", "git"))
		for _, name := range []string{".gitconfig", ".git-credentials", ".netrc"} {
			files = append(files, filepath.Join(home, name))
		}
	}
	return []landlock.Rule{
		landlock.RODirs(folders...).IgnoreIfMissing(), landlock.ROFiles(files...).IgnoreIfMissing(),
		landlock.RWFiles("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/tty").IgnoreIfMissing(),
		landlock.RWDirs(temp),
	}
}
