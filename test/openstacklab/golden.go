package openstacklab

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// golden returns the archive of filled databases, and creates it if necessary. Its name is a
// hash of the inputs, and it is in the folder of the packages' version.
func golden(ctx context.Context, files string) (string, error) {
	hash := sha256.New()
	err := fs.WalkDir(recipe, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := recipe.ReadFile(path)
		fmt.Fprintln(hash, path, len(text))
		hash.Write(text)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read recipe of the databases: %w", err)
	}
	archive := filepath.Join(files, fmt.Sprintf("databases-%x.tgz", hash.Sum(nil)[:8]))
	if _, err := os.Stat(archive); !errors.Is(err, fs.ErrNotExist) {
		return archive, err
	}
	return archive, fill(ctx, files, archive)
}

// fill creates and fills databases, and archives them.
func fill(ctx context.Context, files, archive string) (err error) {
	dir, err := os.MkdirTemp("", "openstack-")
	if err != nil {
		return fmt.Errorf("make folder of the databases: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p, err := newPlace(dir, files)
	if err != nil {
		return err
	}
	if err := p.initialize(ctx); err != nil {
		return err
	}
	if err := p.run(ctx, "tar", "-czf", "databases.tgz", "data"); err != nil {
		return err
	}
	// A concurrent run may replace it by an equivalent one.
	if err := p.run(ctx, "cp", "databases.tgz", archive+".making"); err != nil {
		return err
	}
	if err := os.Rename(archive+".making", archive); err != nil {
		return fmt.Errorf("keep databases: %w", err)
	}
	return nil
}

func (p place) initialize(ctx context.Context) (err error) {
	if err := p.run(ctx, "mariadb-install-db", "--no-defaults", "--user=root", "--datadir="+filepath.Join(p.Dir, "data", "mysql"),
		"--auth-root-authentication-method=normal", "--skip-test-db", "--skip-name-resolve"); err != nil {
		return err
	}
	s := p.database()
	db, err := p.start(s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Stop()) }()
	if err := p.awaitReady(ctx, db, s); err != nil {
		return err
	}
	return p.run(ctx, "sh", p.settings("init.sh"))
}

// run runs a program in the cloud's folder.
func (p place) run(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = p.Dir, environment()
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("run %s: %w: %s", program, err, out[max(0, len(out)-2000):])
	}
	return nil
}
