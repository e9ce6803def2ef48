package server

import (
	"errors"
	"net/http"

	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/remedy"
	"github.com/driftd/driftd/internal/store"
)

// An Imports returns the Terraform import block of a live resource, and the provider of its type. Both are
// "" if no mapping table has the type.
type Imports func(ref model.Ref, place, name string) (block, provider string)

func (a API) suggestion(r *http.Request) (any, error) {
	if _, err := a.params(r); err != nil {
		return nil, err
	}
	finding, _, err := a.Store.Finding(r.PathValue("id"))
	if err != nil {
		return nil, err
	}
	return a.Suggest(&finding)
}

// Suggest returns the suggestion for a finding of the store.
func (a API) Suggest(f *model.Finding) (s remedy.Suggestion, err error) {
	facts := remedy.Facts{}
	if facts.Declared, facts.Planned, err = a.declaredAs(f); err != nil {
		return s, err
	}
	if facts.Live, err = a.Store.Latest(f.Key); err != nil && !errors.Is(err, store.ErrNotFound) {
		return s, err
	}
	if a.Imports != nil && f.Verdict == model.Unmanaged {
		facts.Import, facts.Provider = a.Imports(model.Ref{Kind: f.Kind, ID: f.Key.ID}, f.Place, f.Name)
	}
	return remedy.For(f, facts), nil
}

// declaredAs returns the type of a finding's declaration in the last run; "" if it is not in it.
// planned reports whether it, or any declaration for a finding without one, is a Terraform root that
// driftd plans.
func (a API) declaredAs(f *model.Finding) (typ string, planned bool, err error) {
	run, err := a.Store.LastRun()
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return "", false, err
	}
	for i := range run.Declarations {
		switch d := &run.Declarations[i]; {
		case d.Name == f.Declaration:
			return d.Type, d.IsPlanned(), nil
		case f.Declaration == "" && d.IsPlanned():
			planned = true
		}
	}
	return "", planned, nil
}
