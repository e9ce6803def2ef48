package cli

import (
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/box"
	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/chart"
	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/collectors"
	allcollectors "github.com/driftd/driftd/internal/collectors/all"
	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/daemon"
	"github.com/driftd/driftd/internal/declared"
	alldeclared "github.com/driftd/driftd/internal/declared/all"
	"github.com/driftd/driftd/internal/declared/members"
	"github.com/driftd/driftd/internal/diff"
	"github.com/driftd/driftd/internal/kube"
	"github.com/driftd/driftd/internal/links"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/secret"
)

// surroundings are the dependencies of collectors and loaders.
type surroundings struct {
	// loaders exist once, because declarations of one type may share resources.
	loaders []declared.Definition
	// types are the types of the sources, by name.
	types map[string]string
	// room seals the values of the estate.
	room  *secret.Room
	boxes *box.Pool
	cache string
	log   *slog.Logger
	// unlisted are the errors of listing the members of declarations, by the names of these, and members those that are known, by the
	// IDs of list; nil before expand.
	unlisted map[string]error
	members  map[string][]string
}

func newSurroundings(key model.Sealer, cfg *config.Config, boxes *box.Pool, cache string, log *slog.Logger) surroundings {
	return surroundings{loaders: alldeclared.Definitions(), room: secret.New(key, secret.Options(cfg.Secrets)), boxes: boxes, cache: cache, log: log}
}

// newEstate opens every source and declaration of a configuration. It makes no network
// connections, and returns all errors joined.
func newEstate(cfg *config.Config, s surroundings) (daemon.Estate, error) {
	policy := kube.NewPolicy(controllers(cfg.Kubernetes.Controllers))
	estate := daemon.Estate{Diff: diff.Options{Controller: policy.Controller, Exempt: policy.Exempt}, Rules: rules(cfg.Ignore),
		Severities: severityRules(cfg.Severity), Owners: owners(cfg.Owners), Memory: budget.NewTotal(cfg.MaxMemory), Secrets: s.room}
	s.types = typesOf(cfg.Sources)
	var sourceErr, declarationErr error
	estate.Sources, sourceErr = openAll(cfg.Sources, s.openSource)
	estate.Declarations, declarationErr = openAll(cfg.Declarations, s.openDeclaration)
	return estate, errors.Join(sourceErr, checkTakers(cfg.Sources, estate.Sources), declarationErr, cfg.Defaults.Check(s.definedTypes()))
}

// checkTakers returns an error for each source that takes the messages of another one.
func checkTakers(configured []config.Source, opened []daemon.Source) error {
	first := map[string]string{}
	var problems []error
	for _, s := range opened {
		taker, ok := s.Collector.(collectors.Taker)
		if !ok || taker.Takes() == "" {
			continue
		}
		before, taken := first[taker.Takes()]
		if !taken {
			first[taker.Takes()] = s.Name
			continue
		}
		at := slices.IndexFunc(configured, func(c config.Source) bool { return c.Name == s.Name })
		problems = append(problems, configured[at].Problem("sources %s and %s have the same %s: each would take the messages of the other: give each one a queue of its own", before, s.Name, taker.Takes()))
	}
	return errors.Join(problems...)
}

// typesOf returns the types of sources by their names; "" for an unknown type, which
// newEstate reports.
func typesOf(sources []config.Source) map[string]string {
	types := make(map[string]string, len(sources))
	for _, source := range sources {
		types[source.Name] = ""
		if slices.ContainsFunc(allcollectors.Definitions(), func(d collectors.Definition) bool { return d.Type == source.Type }) {
			types[source.Name] = source.Type
		}
	}
	return types
}

// definedTypes returns the types of sources and of declarations.
func (s surroundings) definedTypes() (sources, declarations []string) {
	for _, d := range allcollectors.Definitions() {
		sources = append(sources, d.Type)
	}
	for _, d := range s.loaders {
		declarations = append(declarations, d.Type)
	}
	return sources, declarations
}

func openAll[C, T any](list []C, open func(C) (T, error)) ([]T, error) {
	opened := make([]T, 0, len(list))
	var problems []error
	for _, c := range list {
		t, err := open(c)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		opened = append(opened, t)
	}
	return opened, errors.Join(problems...)
}

func (s surroundings) openSource(source config.Source) (daemon.Source, error) {
	var types []string
	for _, d := range allcollectors.Definitions() {
		if types = append(types, d.Type); d.Type != source.Type {
			continue
		}
		collector, err := d.Open(collectors.Env{Name: source.Name, Sealer: s.room.Sealer(), Log: s.log.With("source", source.Name),
			CacheDir: s.cacheDir("sources", source.Name)}, source.Decode)
		if err != nil {
			return daemon.Source{}, located(err, source.Settings, "source", source.Name)
		}
		return daemon.Source{Name: source.Name, Type: source.Type, Every: source.Every, Timeout: source.Timeout, MaxMemory: source.MaxMemory, Collector: collector, Pages: pages(source.Links)}, nil
	}
	return daemon.Source{}, source.UnknownType(source.Type, types)
}

func (s surroundings) openDeclaration(declaration config.Declaration) (daemon.Declaration, error) {
	var types []string
	for _, d := range s.loaders {
		if types = append(types, d.Type); d.Type != declaration.Type {
			continue
		}
		if len(declaration.Governs) == 0 && !d.Alone {
			return daemon.Declaration{}, declaration.GovernsNothing(declaration.Name)
		}
		if key, text := declaration.Pattern(); key != "" && d.IsMember != nil {
			pattern, err := members.Parse(text)
			if err != nil {
				return daemon.Declaration{}, located(err, declaration.Settings, "declaration", declaration.Name)
			}
			// Its other settings are checked with the folder that all members are below.
			declaration.Settings = declaration.With(map[string]any{key: pattern.Fixed})
		}
		opened := daemon.Declaration{Name: declaration.Name, Type: declaration.Type, Governs: declaration.Governs,
			Every: declaration.Every, Timeout: declaration.Timeout, MaxMemory: declaration.MaxMemory, ClaimsNothing: d.ClaimsNothing}
		if page, err := links.Parse(declaration.Link, links.OfDeclaration()); err == nil {
			opened.Page = &page
		}
		env := declared.Env{Name: declaration.Name, Governs: declaration.Governs, Types: s.types, Sealer: s.room.Sealer(), MaxMemory: declaration.MaxMemory, Boxes: s.boxes, Helm: chart.Find(),
			Log: s.log.With("declaration", declaration.Name), CacheDir: s.cacheDir("declarations", declaration.Name), CloneDir: s.cloneDir(declaration.Name)}
		check, err := checkOf(&declaration)
		if err != nil {
			return daemon.Declaration{}, err
		}
		env.Check = check
		if d.Derive != nil {
			opened.Deriver, err = d.Derive(env, declaration.Decode)
		} else {
			opened.Loader, err = d.Open(env, declaration.Decode)
		}
		if err != nil {
			return daemon.Declaration{}, located(err, declaration.Settings, "declaration", declaration.Name)
		}
		if err, ok := s.unlisted[declaration.Name]; ok {
			opened.Loader = unlisted{err}
		}
		return opened, nil
	}
	return daemon.Declaration{}, declaration.UnknownType(declaration.Type, types)
}

// pages returns the web pages of a source. The configuration was checked.
func pages(configured []config.PageLink) []daemon.Page {
	list := make([]daemon.Page, 0, len(configured))
	for _, c := range configured {
		if t, err := links.Parse(c.URL, links.OfResource()); err == nil {
			list = append(list, daemon.Page{Kind: c.Kind, Template: t})
		}
	}
	return list
}

// located adds the place and the name of a source, declaration or receiver to an error,
// unless the error already has a line of the configuration.
func located(err error, s config.Settings, kind, name string) error {
	var problems *config.Error
	if errors.As(err, &problems) {
		return err
	}
	return s.Problem("open %s %s: %v", kind, name, err)
}

func (s surroundings) cacheDir(kind, name string) string {
	if s.cache == "" {
		return ""
	}
	return filepath.Join(s.cache, kind, name)
}

// cloneDir returns the folder for the clones of a declaration, and of all members of one with a pattern.
func (s surroundings) cloneDir(declaration string) string {
	family, _, _ := strings.Cut(declaration, "/")
	return s.cacheDir("clones", family)
}

// controllers returns the controllers of the configuration as entries of the policy.
func controllers(configured []config.Controller) []kube.Entry {
	entries := make([]kube.Entry, len(configured))
	for i, c := range configured {
		entries[i] = kube.Entry(c)
	}
	return entries
}

func rules(ignore []config.IgnoreRule) []classify.Rule {
	list := make([]classify.Rule, 0, len(ignore))
	for _, r := range ignore {
		list = append(list, classify.Rule{Source: r.Source, Kind: r.Kind, Resource: r.Resource, Check: r.Check, Path: r.Path, Value: r.Value,
			Reason: r.Reason, Expires: r.Expires})
	}
	return list
}
