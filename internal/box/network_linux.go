package box

import (
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"
)

// devices are those that any program may use.
func devices() landlock.Rule {
	return landlock.RWFiles("/dev/null", "/dev/zero", "/dev/urandom", "/dev/random", "/dev/tty").IgnoreIfMissing()
}

// gitFiles are what git and its helpers read, and how the user signs in. Only temp can be
// written to.
func gitFiles(temp string) []landlock.Rule {
	folders, files := systemFolders(), systemFiles()
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		folders = append(folders, filepath.Join(home, ".ssh"), filepath.Join(home, ".config", "git"))
		for _, name := range []string{".gitconfig", ".git-credentials", ".netrc"} {
			files = append(files, filepath.Join(home, name))
		}
	}
	return []landlock.Rule{
		landlock.RODirs(folders...).IgnoreIfMissing(), landlock.ROFiles(files...).IgnoreIfMissing(), devices(), landlock.RWDirs(temp),
	}
}
