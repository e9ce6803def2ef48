package terraform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/driftd/driftd/internal/budget"
	"github.com/driftd/driftd/internal/credential"
	"github.com/driftd/driftd/internal/declared/gitrepo"
	"github.com/driftd/driftd/internal/declared/terraform/plan"
	"github.com/driftd/driftd/internal/declared/terraform/state"
	"github.com/driftd/driftd/internal/declared/terraform/state/backend"
	"github.com/driftd/driftd/internal/declared/terraform/syntax"
	"github.com/driftd/driftd/internal/model"
)

// states is the state engine for locations. It reads states without running a program.
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

// Load implements declared.Loader. It reports a state that cannot be read as a problem of the declaration.
// If it can read no state, Load returns an error.
func (s *states) Load(ctx context.Context) (model.Declaration, error) {
	r, err := s.newReading()
	if err != nil {
		return model.Declaration{}, err
	}
	for i, source := range s.sources {
		addresses, err := source.List(ctx)
		if err != nil {
			r.fail(s.config.State[i], err)
		}
		r.several = r.several || len(addresses)+len(s.sources) > 2
		for _, address := range addresses {
			err := r.read(ctx, address, "", func(read func(io.Reader) error) error { return source.Read(ctx, address, read) })
			if err != nil {
				r.fail(address, err)
			}
		}
	}
	return r.declaration(ctx)
}

// pulls is the state engine for a root: the CLI reads the state through the backend.
type pulls struct{ *root }

func newPulls(l *loader, limiter *plan.Limiter) (*pulls, error) {
	r, err := newRoot(l, limiter)
	return &pulls{r}, err
}

// Load implements declared.Loader.
func (p *pulls) Load(ctx context.Context) (d model.Declaration, err error) {
	if p.repository == nil {
		return p.pull(ctx, p.options(p.config.Dir, gitrepo.TopOf(p.config.Dir)))
	}
	err = p.checkedOut(ctx, func(c checkout) error {
		d, err = p.pull(ctx, c.Options)
		return err
	})
	return d, err
}

// pull reads the state of a root.
func (p *pulls) pull(ctx context.Context, options plan.Options) (model.Declaration, error) {
	r, err := p.newReading()
	if err != nil {
		return model.Declaration{}, err
	}
	blocks := p.blocksOfRoot(&options)
	r.ignored = blocks.Ignored
	pulled, err := plan.Pull(ctx, options)
	if err != nil {
		return model.Declaration{}, err
	}
	address := plan.StateAddress(&options, pulled.Workspace)
	err = r.read(ctx, address, pulled.Tool, func(read func(io.Reader) error) error { return read(strings.NewReader(strings.TrimSpace(pulled.Text))) })
	if err != nil {
		return model.Declaration{}, fmt.Errorf("state of %s: %w", address, err)
	}
	d, err := r.declaration(ctx)
	addPositions(d.Claims, blocks, &options)
	return d, err
}

// A reading collects the content of states.
type reading struct {
	*translator

	options state.Options
	// several is set if there is more than one state. An address alone is then ambiguous.
	several bool
	// ignored returns the ignore_changes of the resource at an address; nil if only a state is read, which does not have it.
	ignored func(address string) syntax.Ignored
	// unmanaged is Config.Unmanaged.
	unmanaged []string
	states    []model.StateRead
	errs      []error
}

func (l *loader) newReading() (*reading, error) {
	options := state.Options{Sealer: l.env.Sealer, MaxBytes: l.config.Backend.MaxBytes}
	var err error
	options.Passphrases, err = passphrases(l.config.PassphraseFiles)
	return &reading{options: options, translator: newTranslator(l.env, l.tables, l.config.Providers), unmanaged: l.config.Unmanaged}, err
}

// declaration returns the declaration of all states, or an error if no state was read.
func (r *reading) declaration(ctx context.Context) (model.Declaration, error) {
	if ctx.Err() != nil {
		return model.Declaration{}, context.Cause(ctx)
	}
	if len(r.states) == 0 {
		return model.Declaration{}, errors.Join(r.errs...)
	}
	return model.Declaration{Name: r.env.Name, Undetermined: true, Governs: r.env.Governs, States: r.states, Problems: r.problems,
		Claims: r.sorted(), Includes: r.includes, Scopes: r.scopes(r.unmanaged), KeepsKinds: r.unmanaged == nil, Tally: &r.tally}, nil
}

func (r *reading) fail(address string, err error) {
	r.errs = append(r.errs, err)
	r.problems = append(r.problems, model.Problem{Address: address, Reason: err.Error()})
}

// instanceWeight is the approximate memory of an instance in bytes, without its attributes. A claim
// holds the attributes twice: as recorded, and in the form of the live kind.
const instanceWeight = 2 << 10

// read reads one state. open passes the content of the state to its argument. tool is the program
// that printed the state, or "". If the state is invalid, none of its instances are added.
func (r *reading) read(ctx context.Context, address, tool string, open func(read func(io.Reader) error) error) error {
	part := newTranslator(r.env, r.tables, r.providers)
	ctx, settle := budget.Part(ctx)
	var read *state.State
	err := open(func(content io.Reader) (err error) {
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
	record := read.Record(address)
	if record.Tool = tool; tool != "" {
		record.Version = "" // The CLI prints its own.
	}
	r.states = append(r.states, record)
	r.join(part)
	return nil
}

// instance adds the claim of one instance of a state.
func (r *reading) instance(t *translator, from string, i state.Instance) {
	if i.Data {
		return
	}
	o := object{id: i.Address, address: i.Address, typ: i.Type, name: i.Name, provider: i.Provider.String(),
		configuration: configured(i.Provider.Type, i.Provider.Alias), recorded: &i.Attributes, recordOnly: true}
	if r.ignored != nil {
		o.ignored = r.ignored(i.Address)
	}
	if r.several {
		o.id = from + "#" + o.id
	}
	if i.Flat {
		o.unchecked = "last recorded by Terraform 0.11: refresh the state"
	}
	if i.Deposed != "" {
		o.id += " (deposed " + i.Deposed + ")"
		o.unchecked = "left over by a replacement (deposed " + i.Deposed + "): the next apply destroys it"
	}
	switch err := t.add(&o); {
	case errors.Is(err, errSeveral):
		t.count(true)
		t.tally.ExistenceOnly++
	case errors.Is(err, errNoLiveSide):
		t.tally.Resources++
		t.tally.Without++
	case errors.Is(err, errUnmapped):
		t.addUnmapped(&o, err.Error())
	case err != nil:
		t.addProblem(&o, err)
		t.addUnchecked(&o, err.Error())
	}
}

// join adds the results of another translator.
func (t *translator) join(part *translator) {
	if len(t.claims) == 0 {
		t.claims = part.claims
	} else {
		t.claims = append(t.claims, part.claims...)
	}
	for key, fillings := range part.fillings {
		t.fillings[key] = append(t.fillings[key], fillings...)
	}
	t.expected = append(t.expected, part.expected...)
	t.includes = append(t.includes, part.includes...)
	t.problems = append(t.problems, part.problems...)
	t.tally.Resources += part.tally.Resources
	t.tally.Compared += part.tally.Compared
	t.tally.ExistenceOnly += part.tally.ExistenceOnly
	t.tally.Without += part.tally.Without
	t.tally.Unchecked += part.tally.Unchecked
	for typ, n := range part.tally.Unmapped {
		t.tally.Unmapped[typ] += n
	}
}

// passphrases returns the passphrases in the files.
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
