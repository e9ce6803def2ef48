package terraform

import (
	"context"
	"errors"
	"io"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/declared/terraform/state"
	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
	"github.com/driftd/driftd/internal/model"
)

// states is the state engine: it reads what was recorded, without running
// anything.
type states struct {
	*loader

	sources []*backend.Source
}

func newStates(l *loader) (*states, error) {
	s := &states{loader: l}
	for _, location := range l.config.State {
		source, err := backend.Open(location, l.config.Backend)
		if err != nil {
			return nil, err
		}
		s.sources = append(s.sources, source)
	}
	return s, nil
}

// Load implements declared.Loader. A state that cannot be read is a problem;
// it is an error when that is all of them.
func (s *states) Load(ctx context.Context) (model.Declaration, error) {
	options := state.Options{Sealer: s.env.Sealer, MaxBytes: s.config.Backend.MaxBytes}
	var err error
	if options.Passphrases, err = passphrases(s.config.PassphraseFiles); err != nil {
		return model.Declaration{}, err
	}
	r := reading{options: options, translator: newTranslator(s.env, s.tables, s.config.Providers)}
	for i, source := range s.sources {
		addresses, err := source.List(ctx)
		if err != nil {
			r.fail(s.config.State[i], err)
		}
		r.several = r.several || len(addresses)+len(s.sources) > 2
		for _, address := range addresses {
			if err := r.read(ctx, source, address); err != nil {
				r.fail(address, err)
			}
		}
	}
	if ctx.Err() != nil {
		return model.Declaration{}, context.Cause(ctx)
	}
	if len(r.states) == 0 {
		return model.Declaration{}, errors.Join(r.errs...)
	}
	d := model.Declaration{Name: s.env.Name, Governs: s.env.Governs, States: r.states, Problems: r.problems}
	d.Claims, d.Scopes, d.Tally = r.sorted(), r.scopes(s.config.Unmanaged), &r.tally
	return d, nil
}

// A reading is what has been read of the states so far.
type reading struct {
	*translator

	options state.Options
	// several tells that addresses alone do not tell instances apart.
	several bool
	states  []model.StateRead
	errs    []error
}

func (r *reading) fail(address string, err error) {
	r.errs = append(r.errs, err)
	r.problems = append(r.problems, model.Problem{Address: address, Reason: err.Error()})
}

// instanceWeight is about what is kept of an instance beside its attributes, which the
// claim holds as they are and in the form of the live kind, in bytes.
const instanceWeight = 2 << 10

// read reads one state. What a state that turns out to be broken said before
// does not count.
func (r *reading) read(ctx context.Context, source *backend.Source, address string) error {
	part := newTranslator(r.env, r.tables, r.providers)
	ctx, settle := budget.Part(ctx)
	var read *state.State
	err := source.Read(ctx, address, func(content io.Reader) (err error) {
		read, err = state.Read(ctx, content, r.options, func(i state.Instance) error {
			r.instance(part, address, i)
			settle(instanceWeight + 2*i.Attributes.Weight())
			return nil
		})
		return err
	})
	if err != nil {
		return err
	}
	r.states = append(r.states, read.Record(address))
	r.join(part)
	return nil
}

// instance claims one instance of a state.
func (r *reading) instance(t *translator, from string, i state.Instance) {
	if i.Data {
		return
	}
	o := object{id: i.Address, address: i.Address, typ: i.Type, name: i.Name, provider: i.Provider.String(),
		configuration: configured(i.Provider.Type, i.Provider.Alias), recorded: &i.Attributes, recordOnly: true}
	if r.several {
		o.id = from + "#" + o.id
	}
	if i.Flat {
		o.unchecked = "recorded by Terraform 0.11 and never since: refresh the state"
	}
	if i.Deposed != "" {
		o.id += " (deposed " + i.Deposed + ")"
		o.unchecked = "left over by a replacement (deposed " + i.Deposed + "): the next apply destroys it"
	}
	switch err := t.add(&o); {
	case errors.Is(err, errNoLiveSide):
		t.tally.Resources++
		t.tally.Without++
	case errors.Is(err, errUnmapped):
		t.addUnmapped(&o, err.Error())
	case err != nil:
		t.suspect(&o, err)
		t.addUnchecked(&o, err.Error())
	}
}

// join adds what another translator made.
func (t *translator) join(part *translator) {
	if len(t.claims) == 0 {
		t.claims = part.claims
	} else {
		t.claims = append(t.claims, part.claims...)
	}
	for key, fillings := range part.fillings {
		t.fillings[key] = append(t.fillings[key], fillings...)
	}
	t.also = append(t.also, part.also...)
	t.problems = append(t.problems, part.problems...)
	t.tally.Resources += part.tally.Resources
	t.tally.Compared += part.tally.Compared
	t.tally.Without += part.tally.Without
	t.tally.Unchecked += part.tally.Unchecked
	for typ, n := range part.tally.Unmapped {
		t.tally.Unmapped[typ] += n
	}
}

// passphrases reads each file's passphrase.
func passphrases(files []string) ([]string, error) {
	read := make([]string, 0, len(files))
	for _, file := range files {
		passphrase, err := credential.Read(file)
		if err != nil {
			return nil, err
		}
		read = append(read, passphrase)
	}
	return read, nil
}
