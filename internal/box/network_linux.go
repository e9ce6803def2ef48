package box

import (
	"os"
	"path/filepath"

	"github.com/landlock-lsm/go-landlock/landlock"

	"github.com/driftd/driftd/internal/launch"
)

// gitFiles are the files that git and its helpers read, with the settings of
// authentication. Only temp can be written to.
func gitFiles(temp string) []landlock.Rule {
	folders, files := launch.SystemFolders(), launch.SystemFiles()
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		folders = append(folders, filepath.Join(home, ".ssh"), filepath.Join(home, ".config", "git"))
		for _, name := range []string{".gitconfig", ".git-credentials", ".netrc"} {
			files = append(files, filepath.Join(home, name))
		}
	}
	return []landlock.Rule{
		landlock.RODirs(folders...).IgnoreIfMissing(), landlock.ROFiles(files...).IgnoreIfMissing(), launch.Devices(), landlock.RWDirs(temp),
	}
}
