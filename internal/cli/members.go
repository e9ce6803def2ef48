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
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/atomicfile"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared"
	alldeclared "github.com/driftd/driftd/internal/declared/all"
	"github.com/driftd/driftd/internal/declared/await"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/members"
	"github.com/driftd/driftd/internal/model"
)

// A listing is the result of listing the members of a declaration.
type listing struct {
	id, key string
	pattern members.Pattern
	found   []string
	err     error
}

// expand returns the configuration with a declaration for each folder that a pattern in a declaration finds. If the folders cannot be
// listed, or there are none, those of the last time count, so that none is forgotten, and the declaration itself is unchecked: there may
// be others.
func (s *surroundings) expand(ctx context.Context, cfg *config.Config) *config.Config {
	listings := s.listAll(ctx, cfg)
	known, err := readMembers(cfg.StateDir)
	if err != nil {
		s.log.Warn("read the members of declarations", "err", err)
	}
	s.unlisted = map[string]error{}
	expanded := cfg.Expand(func(d config.Declaration) ([]config.Member, bool) {
		l := listings[d.Name]
		if l == nil {
			return nil, false
		}
		if l.err != nil {
			s.unlisted[d.Name] = l.err
			s.log.Warn("list the members of a declaration; those of the last time stay", "declaration", d.Name, "err", s.room.Error(l.err))
			l.found = known[l.id]
		} else {
			known[l.id] = l.found
		}
		all := make([]config.Member, len(l.found))
		for i, name := range l.found {
			all[i] = config.Member{Name: name, Settings: map[string]any{l.key: path.Join(l.pattern.Fixed, name)}}
		}
		return all, l.err != nil
	})
	s.members = known
	return expanded
}

// listAll lists the members of all declarations with patterns at the same time.
func (s *surroundings) listAll(ctx context.Context, cfg *config.Config) map[string]*listing {
	listings := map[string]*listing{}
	var wait sync.WaitGroup
	for i := range cfg.Declarations {
		d := &cfg.Declarations[i]
		key, text := d.Pattern()
		definition := s.definition(d.Type)
		if key == "" || definition.IsMember == nil {
			continue
		}
		pattern, err := members.Parse(text)
		if err != nil {
			continue // reported when it is opened
		}
		l := &listing{key: key, pattern: pattern}
		listings[d.Name] = l
		wait.Go(func() {
			l.id, l.found, l.err = s.list(ctx, d, definition, key, pattern)
			switch {
			case l.err != nil:
				l.err = fmt.Errorf("list the folders of %s: %w", text, l.err)
			case len(l.found) == 0:
				l.err = fmt.Errorf("no folder matches %s", text)
			}
		})
	}
	wait.Wait()
	return listings
}

// remember writes the members that were listed, for a listing that fails.
func (s *surroundings) remember(stateDir string) {
	if len(s.members) == 0 {
		return
	}
	if err := writeMembers(stateDir, s.members); err != nil {
		s.log.Warn("remember the members of declarations", "err", err)
	}
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
	expanded := around.expand(cmd.Context(), cfg)
	return expanded, errors.Join(slices.Collect(maps.Values(around.unlisted))...)
}

// list returns the folders that a pattern of a declaration finds, relative to its fixed part, and an ID of the place and the pattern.
func (s *surroundings) list(ctx context.Context, d *config.Declaration, definition declared.Definition, key string, pattern members.Pattern) (id string, found []string, err error) {
	place := gitrepo.DefaultPlace()
	if key == "path" {
		if place, err = repositoryOf(d); err != nil {
			return "", nil, err
		}
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q", d.Name, place.Git, place.Ref, pattern))
	within, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	found, err = await.Call(within, func() ([]string, error) {
		if key == "dir" {
			return findMembers(os.DirFS(pattern.Fixed), definition, pattern)
		}
		repository, err := place.Open(s.cloneDir(d.Name), s.log)
		if err != nil {
			return nil, err
		}
		var found []string
		err = repository.Read(within, place.Ref, func(c gitrepo.Commit) error {
			found, err = membersAt(c, definition, pattern)
			return err
		})
		return found, err
	})
	return hex.EncodeToString(sum[:]), found, err
}

// repositoryOf returns the git repository of a declaration, without the path in it.
func repositoryOf(d *config.Declaration) (gitrepo.Place, error) {
	place := gitrepo.DefaultPlace()
	only := d.Only("git", "ref", "username", "token_file", "ca_file", "ssh_key_file", "known_hosts_file", "max_clone_size")
	err := only.Decode(&place)
	return place, err
}

// membersAt returns the folders that a pattern finds at a commit.
func membersAt(c gitrepo.Commit, definition declared.Definition, pattern members.Pattern) ([]string, error) {
	fixed, err := fs.Sub(c.Files, pattern.Fixed)
	if err != nil {
		return nil, fmt.Errorf("path %s leads out of the repository", pattern.Fixed)
	}
	return findMembers(fixed, definition, pattern)
}

// findMembers returns the folders that a pattern finds below its fixed part.
func findMembers(fixed fs.FS, definition declared.Definition, pattern members.Pattern) ([]string, error) {
	found, err := pattern.Find(fixed, func(fsys fs.FS, dir string) (bool, error) { return definition.IsMember(fsys, dir, pattern.IsDeep()) })
	return found, errors.Join(err, checkNames(found))
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
			if config.NameOf(part) != part {
				return fmt.Errorf("the folder %q cannot be a part of a declaration's name: rename it, or narrow the pattern", folder)
			}
		}
	}
	return nil
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

// readMembers returns the folders that were found last. The map is never nil.
func readMembers(stateDir string) (map[string][]string, error) {
	known := map[string][]string{}
	data, err := os.ReadFile(membersFile(stateDir))
	if errors.Is(err, fs.ErrNotExist) {
		return known, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &known)
	}
	if err != nil {
		return map[string][]string{}, fmt.Errorf("%s: %w", membersFile(stateDir), err)
	}
	return known, nil
}

// writeMembers adds the folders that were found to those of other configurations.
func writeMembers(stateDir string, found map[string][]string) error {
	before, err := readMembers(stateDir)
	if err != nil {
		before = map[string][]string{} // it is written anew
	}
	now := maps.Clone(before)
	maps.Copy(now, found)
	if maps.EqualFunc(before, now, slices.Equal[[]string]) {
		return nil
	}
	data, err := json.Marshal(now)
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

// An expansion is a configuration with the members of its declarations, and what listed them.
type expansion struct {
	written, config *config.Config
	around          surroundings
}

// expanded lists the members of the declarations of a configuration.
func (s *service) expanded(ctx context.Context, written *config.Config) expansion {
	e := expansion{written: written, around: newSurroundings(s.sealer, written, s.boxes, cacheDir(written.StateDir), s.log)}
	e.config = e.around.expand(ctx, written)
	e.around.remember(written.StateDir)
	return e
}

// watchMembers lists the members of declarations at the intervals of these, and sends to changed when they are others than those of the
// current generation.
func (s *service) watchMembers(ctx context.Context, changed chan<- expansion) {
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
		e := s.expanded(ctx, g.written)
		before, now := memberNames(g.config), memberNames(e.config)
		if failures++; len(e.around.unlisted) == 0 || g.unlisted {
			failures = 0
		}
		if ctx.Err() != nil || failures == 1 || slices.Equal(before, now) {
			continue // a single failure passes
		}
		s.log.Info("the folders that declarations stand for changed", "added", without(now, before), "removed", without(before, now))
		select {
		case changed <- e:
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
