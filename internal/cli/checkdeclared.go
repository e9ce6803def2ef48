package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/driftd/driftd/internal/config"
	"github.com/driftd/driftd/internal/declared"
	"github.com/driftd/driftd/internal/declared/acceptances"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/manifests"
	"github.com/driftd/driftd/internal/declared/terraform"
	"github.com/driftd/driftd/internal/discipline"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/phrase"
)

// checkOf returns the checks of the files of a declaration; nil if it has none.
func checkOf(declaration *config.Declaration) (declared.Check, error) {
	selection := discipline.Selection(declaration.Checks)
	if len(selection) == 0 {
		return nil, nil
	}
	if unknown := selection.Unknown(); len(unknown) > 0 {
		return nil, fmt.Errorf("declaration %s: checks: %q fits no check: driftd check --list prints all", declaration.Name, strings.Join(unknown, ","))
	}
	switch declaration.Type {
	case acceptances.Type, terraform.Type, manifests.Type, manifests.HelmType, manifests.ArgoCDType, manifests.FluxType:
	default:
		return nil, fmt.Errorf("declaration %s: checks: declarations of type %s have no files to check", declaration.Name, declaration.Type)
	}
	return func(ctx context.Context, files declared.Files) (func(*model.Declaration), error) {
		tree := discipline.Tree{Files: files.FS, Root: files.Root, Now: time.Now(), Pinned: files.Pinned}
		if files.Repository != "" {
			tree.IsOwn = gitrepo.Origin{URL: files.Repository}.Is
		}
		r, err := discipline.Run(ctx, tree, selection)
		if err != nil {
			return nil, fmt.Errorf("check files: %w", err)
		}
		authors := authorsOf(ctx, &r, &files)
		r.Rename(files.Address)
		isUnpinned := func(f discipline.Finding) bool { return discipline.IsAboutPins(f.Check) }
		unpinned := slices.ContainsFunc(r.Findings, isUnpinned) || slices.ContainsFunc(r.Exempt, func(e discipline.Exemption) bool { return isUnpinned(e.Finding) })
		return func(d *model.Declaration) {
			addChecks(d, &r, authors)
			d.Unpinned, d.PinsChecked = unpinned, unpinned || selection.ChecksPins() && len(r.Gaps) == 0
		}, nil
	}, nil
}

// authorsOf returns who last changed the files with findings, by address.
func authorsOf(ctx context.Context, r *discipline.Result, files *declared.Files) map[string]model.Actor {
	names := map[string]bool{}
	for i := range r.Findings {
		names[r.Findings[i].File] = true
	}
	authors := map[string]model.Actor{}
	for name, author := range files.Authors(ctx, slices.Sorted(maps.Keys(names))) {
		authors[files.Address(name)] = author
	}
	return authors
}

// addChecks adds the result of checks to a declaration. The address of a finding has no line, so that it is the same finding when
// lines move.
func addChecks(d *model.Declaration, r *discipline.Result, authors map[string]model.Actor) {
	type id struct{ check, address string }
	seen := map[id]bool{}
	for i := range r.Findings {
		f := &r.Findings[i]
		address := f.File + " (" + f.Subject + ")"
		at := id{f.Check, address}
		if seen[at] {
			continue
		}
		seen[at] = true
		d.Violations = append(d.Violations, model.PartViolation{Address: address, Violation: model.Violation{Check: f.Check, Severity: f.Severity,
			Reason: f.What + ". " + f.Next, Actor: authors[f.File]}})
	}
	for _, g := range r.Gaps {
		address := g.File
		if g.Line > 0 {
			address = fmt.Sprintf("%s:%d", g.File, g.Line)
		}
		d.Problems = append(d.Problems, model.Problem{Address: address, Reason: "the file was not checked: " + g.Reason, Bounded: true})
	}
	if n := len(r.Exempt); n > 0 {
		d.Notes = append(d.Notes, model.Note{Text: phrase.Count(n, "finding") + " of checks exempted by comments (driftd:ignore); driftd check lists them"})
	}
}
