package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/driftd/driftd/internal/collectors/kubernetes"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/preview"
)

// previewRef previews an apply of a branch, a tag or a commit.
func (c *command) previewRef(cmd *cobra.Command, ref string, o preview.Options) (preview.Preview, error) {
	cfg, err := c.loadExpanded(cmd)
	if err != nil {
		return preview.Preview{}, err
	}
	known, err := c.known(cmd, "")
	if err != nil {
		return preview.Preview{}, err
	}
	chosen, err := declarationsAt(cfg, ref, o.Declaration)
	if err != nil {
		return preview.Preview{}, fmt.Errorf("--ref: %w", err)
	}
	defer limitScan(cfg.MaxMemory)()
	kubernetes.RedirectLogs(slog.New(slog.DiscardHandler))
	stop := c.progress("reading " + ref)
	at, err := c.scanAt(cmd.Context(), cfg, chosen, ref)
	stop()
	if err != nil {
		return preview.Preview{}, fmt.Errorf("--ref: %w", err)
	}
	return preview.FromRef(at, known, o)
}

// A declarationAt is a declaration whose setting ref is replaced.
type declarationAt struct {
	config.Declaration

	place gitrepo.Place
	// refused is why it must not be read at the ref; nil if it may.
	refused error
}

// declarationsAt returns the declarations that are read from git, or the one with a name, with
// another ref.
func declarationsAt(cfg *config.Config, ref, name string) ([]declarationAt, error) {
	if ref == "" {
		return nil, errors.New("name a branch, a tag or a full commit hash")
	}
	var chosen []declarationAt
	for _, d := range cfg.Declarations {
		if name != "" && d.Name != name {
			continue
		}
		at, err := atRef(d, ref)
		if err != nil {
			return nil, err
		}
		if at.place.Git != "" {
			chosen = append(chosen, at)
		} else if name != "" {
			return nil, fmt.Errorf("declaration %s is not read from git: name one with the setting git, or check the ref out and use driftd scan", name)
		}
	}
	switch {
	case len(chosen) > 0:
		return chosen, nil
	case name != "":
		return nil, fmt.Errorf("the configuration has no declaration %q", name)
	}
	return nil, errors.New("the configuration has no declaration of type manifests, flux, argocd, helm or terraform that is read from git: set git in the settings of one")
}

// atRef returns a declaration with another ref; its place has no repository if it is not read
// from git.
func atRef(d config.Declaration, ref string) (declarationAt, error) {
	var at declarationAt
	changed := map[string]any{"ref": ref}
	switch d.Type {
	case manifests.Type:
		settings := manifests.Defaults()
		if err := d.Decode(&settings); err != nil {
			return at, err
		}
		at.place = settings.Place
	case manifests.FluxType:
		settings := manifests.FluxDefaults()
		if err := d.Decode(&settings); err != nil {
			return at, err
		}
		at.place = settings.Place
		changed["source_branch"] = cmp.Or(settings.SourceBranch, settings.Ref)
	case manifests.HelmType:
		settings := manifests.HelmDefaults()
		if err := d.Decode(&settings); err != nil {
			return at, err
		}
		at.place = settings.Place
	case manifests.ArgoCDType:
		settings := manifests.ArgoCDDefaults()
		if err := d.Decode(&settings); err != nil {
			return at, err
		}
		at.place = settings.Place
	case terraform.Type:
		settings := terraform.Defaults()
		if err := d.Decode(&settings); err != nil {
			return at, err
		}
		at.place = settings.Place
		if ref != settings.Ref {
			at.refused = settings.CheckUnreviewed()
			changed["refuse"] = settings.RefuseUnreviewed()
		}
	}
	at.Declaration = d
	at.Settings = d.With(changed)
	return at, nil
}

// scanAt reads the declarations that have the ref, and scans them with the sources that they
// govern. It uses a cache of its own, so that no later plan uses what an unreviewed commit fetches.
// The error names the repositories if none has the ref.
func (c *command) scanAt(ctx context.Context, cfg *config.Config, chosen []declarationAt, ref string) (at preview.AtRef, err error) {
	at.Ref = ref
	around, err := c.around(cfg)
	if err != nil {
		return at, err
	}
	if around.cache, err = os.MkdirTemp("", "driftd-preview-"); err != nil {
		return at, fmt.Errorf("make a folder for the clones: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(around.cache)) }()
	around.types = typesOf(cfg.Sources)
	own := *cfg
	own.Declarations, own.Sources = nil, nil
	var opened []daemon.Declaration
	var absent []error
	for i := range chosen {
		d, err := around.openDeclaration(chosen[i].Declaration)
		if err != nil {
			return at, err
		}
		read, err := around.loadAt(ctx, &chosen[i], d, ref)
		if gitrepo.IsNoRef(err) {
			absent = append(absent, around.room.Error(err))
			continue
		}
		if err == nil {
			at.Declarations = append(at.Declarations, read)
		}
		d.Loader = preloaded(d.Loader, read, err)
		opened = append(opened, d)
		own.Sources = append(own.Sources, slices.DeleteFunc(slices.Clone(cfg.Sources), func(s config.Source) bool {
			known := slices.ContainsFunc(own.Sources, func(other config.Source) bool { return other.Name == s.Name })
			return known || !slices.Contains(d.Governs, s.Name)
		})...)
	}
	if len(opened) == 0 {
		return at, errors.Join(absent...)
	}
	estate, err := newEstate(&own, around)
	if err != nil {
		return at, err
	}
	estate.Declarations = opened
	at.Findings, at.Run, err = scanApart(ctx, &own, estate)
	return at, err
}

// loadAt reads a declaration at the ref. One that is refused is not read, unless its repository
// lacks the ref.
func (s surroundings) loadAt(ctx context.Context, at *declarationAt, d daemon.Declaration, ref string) (model.Declaration, error) {
	if at.refused == nil {
		return d.Load(ctx)
	}
	repository, err := at.place.Open(s.cloneDir(d.Name), s.log)
	if err == nil {
		err = repository.Read(ctx, ref, func(gitrepo.Commit) error { return nil })
	}
	if err == nil {
		err = fmt.Errorf("not read at %s: %w", ref, at.refused)
	}
	return model.Declaration{}, err
}

// A readResult is the loader of a declaration that has been read.
type readResult struct {
	declaration model.Declaration
	err         error
}

func (r readResult) Load(context.Context) (model.Declaration, error) { return r.declaration, r.err }

// preloaded returns a loader with the result of a reading, and with the history of the loader
// that read it.
func preloaded(l declared.Loader, d model.Declaration, err error) declared.Loader {
	if historian, ok := l.(declared.Historian); ok {
		return struct {
			readResult
			declared.Historian
		}{readResult{d, err}, historian}
	}
	return readResult{d, err}
}

// scanApart scans an estate with a database of its own, which it removes.
func scanApart(ctx context.Context, cfg *config.Config, estate daemon.Estate) (found []model.Finding, run model.Run, err error) {
	own := *cfg
	if own.StateDir, err = os.MkdirTemp("", "driftd-scan-"); err != nil {
		return nil, run, fmt.Errorf("make a database: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(own.StateDir)) }()
	log := slog.New(slog.DiscardHandler)
	st, err := openSealed(&own, storeOptions(&own, log), daemon.Reseal(estate.Secrets))
	if err != nil {
		return nil, run, err
	}
	defer func() { err = errors.Join(err, st.Close()) }()
	engine := daemon.New(estate, daemon.Options{Store: st, Now: time.Now, Log: log})
	if _, err = engine.Cycle(ctx, engine.Everything()); err != nil {
		return nil, run, err
	}
	if run, err = st.LastRun(); err != nil {
		return nil, run, err
	}
	found, err = st.OpenFindings()
	return found, run, err
}
