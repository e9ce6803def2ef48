package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared"
	alldeclared "github.com/driftd/driftd/internal/declared/all"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/members"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
)

// expand returns the configuration with a declaration for each folder that a pattern in a declaration finds. If the folders cannot be
// listed, those of the last time count, so that none is forgotten, and the declaration itself is unchecked: there may be others. It is also
// if there are none.
func (s *surroundings) expand(ctx context.Context, cfg *config.Config) *config.Config {
	known := readMembers(cfg.StateDir)
	listed := map[string][]string{}
	s.unlisted = map[string]error{}
	expanded := cfg.Expand(func(d config.Declaration) ([]config.Member, bool) {
		key, text := d.Pattern()
		definition := s.definition(d.Type)
		if key == "" || definition.IsMember == nil {
			return nil, false
		}
		pattern, err := members.Parse(text)
		if err != nil {
			return nil, false // reported when it is opened
		}
		id, found, err := s.list(ctx, &d, definition, key, pattern)
		switch {
		case err != nil:
			s.unlisted[d.Name] = fmt.Errorf("list the folders of %s: %w", text, err)
			s.log.Warn("list the members of a declaration; those of the last time stay", "declaration", d.Name, "err", s.room.Error(err))
			found = known[id]
		case len(found) == 0:
			s.unlisted[d.Name] = fmt.Errorf("no folder matches %s", text)
		}
		listed[id] = found
		all := make([]config.Member, len(found))
		for i, name := range found {
			all[i] = config.Member{Name: name, Settings: map[string]any{key: path.Join(pattern.Fixed, name)}}
		}
		return all, err != nil
	})
	if err := writeMembers(cfg.StateDir, known, listed); err != nil {
		s.log.Warn("remember the members of declarations", "err", err)
	}
	return expanded
}

// loadExpanded loads the configuration with the members of its declarations.
func (c *command) loadExpanded(cmd *cobra.Command) (*config.Config, error) {
	cfg, err := c.loadConfig(cmd.Flags())
	if err != nil {
		return nil, err
	}
	around, err := c.around(cfg)
	if err != nil {
		return nil, err
	}
	return around.expand(cmd.Context(), cfg), nil
}

// list returns the folders that a pattern of a declaration finds, relative to its fixed part, and an ID of the place and the pattern.
func (s *surroundings) list(ctx context.Context, d *config.Declaration, definition declared.Definition, key string, pattern members.Pattern) (id string, found []string, err error) {
	place := gitrepo.DefaultPlace()
	if key == "path" {
		only := d.Only("git", "ref", "username", "token_file", "ca_file", "ssh_key_file", "known_hosts_file", "max_clone_size")
		if err := only.Decode(&place); err != nil {
			return "", nil, err
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", d.Name, place.Git, place.Ref, pattern))
	find := func(fixed fs.FS) ([]string, error) {
		found, err := pattern.Find(fixed, func(fsys fs.FS, dir string) (bool, error) { return definition.IsMember(fsys, dir, pattern.IsDeep()) })
		return found, errors.Join(err, checkNames(found))
	}
	within, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	found, err = await.Call(within, func() ([]string, error) {
		if key == "dir" {
			return find(os.DirFS(pattern.Fixed))
		}
		repository, err := place.Open(s.cacheDir("clones", d.Name), s.log)
		if err != nil {
			return nil, err
		}
		var found []string
		err = repository.Read(within, place.Ref, func(c gitrepo.Commit) error {
			fixed, err := fs.Sub(c.Files, pattern.Fixed)
			if err != nil {
				return fmt.Errorf("path %s leads out of the repository", pattern.Fixed)
			}
			found, err = find(fixed)
			return err
		})
		return found, err
	})
	return hex.EncodeToString(sum[:]), found, err
}

// checkMembers returns an error if the pattern of a declaration in a folder finds none.
func checkMembers(ctx context.Context, d *config.Declaration) error {
	s := surroundings{loaders: alldeclared.Definitions()}
	key, text := d.Pattern()
	pattern, err := members.Parse(text)
	definition := s.definition(d.Type)
	if key != "dir" || err != nil || definition.IsMember == nil {
		return nil //nolint:nilerr // reported when it is opened
	}
	_, found, err := s.list(ctx, d, definition, key, pattern)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("no folder matches %s", text)
	}
	return err
}

// checkNames returns an error for a folder that cannot be a part of a name.
func checkNames(folders []string) error {
	for _, folder := range folders {
		for part := range strings.SplitSeq(folder, "/") {
			if plainName(part) != part {
				return fmt.Errorf("the folder %q cannot be a part of a declaration's name: rename it, or narrow the pattern", folder)
			}
		}
	}
	return nil
}

// cloneDir returns the folder of a declaration's clones. The members of a declaration share it. The cache of a Terraform root has more
// than clones.
func (s *surroundings) cloneDir(d *config.Declaration) string {
	switch {
	case d.Of != "":
		return s.cacheDir("clones", d.Of)
	case d.Type == terraform.Type && s.cache != "":
		return filepath.Join(s.cacheDir("declarations", d.Name), "git")
	}
	return s.cacheDir("declarations", d.Name)
}

// definition returns the loader type with a name; one without a name if there is none.
func (s *surroundings) definition(typ string) declared.Definition {
	at := slices.IndexFunc(s.loaders, func(d declared.Definition) bool { return d.Type == typ })
	if at < 0 {
		return declared.Definition{}
	}
	return s.loaders[at]
}

// An unlisted is the loader of a declaration with a pattern whose folders are not known.
type unlisted struct{ err error }

// Load implements declared.Loader.
func (u unlisted) Load(context.Context) (model.Declaration, error) { return model.Declaration{}, u.err }

// membersFile returns the file in which the folders that patterns found last are remembered, by the ID of list.
func membersFile(stateDir string) string { return filepath.Join(stateDir, "members.json") }

// readMembers returns the folders that were found last. A file that cannot be read counts as empty: it is written anew.
func readMembers(stateDir string) map[string][]string {
	known := map[string][]string{}
	data, err := os.ReadFile(membersFile(stateDir))
	if err != nil || json.Unmarshal(data, &known) != nil {
		return map[string][]string{}
	}
	return known
}

// writeMembers remembers the folders that were found, if they are others than before.
func writeMembers(stateDir string, before, found map[string][]string) error {
	if maps.EqualFunc(before, found, slices.Equal[[]string]) || len(before)+len(found) == 0 {
		return nil
	}
	data, err := json.Marshal(found)
	if err != nil {
		return err
	}
	return atomicfile.Write(membersFile(stateDir), data)
}

const (
	// listAtOnce bounds listing members before a generation begins, and listAgain is when those that could not be listed are listed again.
	listAtOnce = 20 * time.Second
	listAgain  = time.Minute
)

// watchMembers lists the members of declarations at the intervals of these, and sends to changed when they are others than those of the
// current generation.
func (s *service) watchMembers(ctx context.Context, changed chan<- struct{}) {
	for failures := 0; ; {
		g := s.current.Load()
		var due <-chan time.Time
		if every := g.listEvery(); every > 0 {
			due = time.After(every)
		}
		select {
		case <-ctx.Done():
			return
		case <-g.replaced:
			continue
		case <-due:
		}
		around := newSurroundings(s.sealer, g.written, s.boxes, cacheDir(g.written.StateDir), s.log)
		before, now := memberNames(g.config), memberNames(around.expand(ctx, g.written))
		if failures++; len(around.unlisted) == 0 || g.unlisted {
			failures = 0
		}
		if ctx.Err() != nil || failures == 1 || slices.Equal(before, now) {
			continue // a single failure passes
		}
		s.log.Info("the folders that declarations stand for changed", "added", without(now, before), "removed", without(before, now))
		select {
		case changed <- struct{}{}:
		case <-g.replaced:
		case <-ctx.Done():
		}
	}
}

// memberNames returns the names of the declarations.
func memberNames(cfg *config.Config) []string {
	names := make([]string, len(cfg.Declarations))
	for i := range cfg.Declarations {
		names[i] = cfg.Declarations[i].Name
	}
	return names
}

// without returns the items of a list that are not in another one.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool { return slices.Contains(other, name) })
}

// listEvery returns the interval at which the members of declarations are listed; 0 if no declaration has a pattern.
func (g *generation) listEvery() (every time.Duration) {
	for i := range g.written.Declarations {
		d := &g.written.Declarations[i]
		if key, _ := d.Pattern(); key != "" && (every == 0 || d.Every < every) {
			every = d.Every
		}
	}
	if g.unlisted && every > 0 {
		every = min(every, listAgain)
	}
	return every
}
