package daemon

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/reconcile"
)

// observed returns observations of the images at seconds, "" for no image and "-" for an absent resource.
// Arguments are newest first.
func observed(t *testing.T, images ...any) (list []model.Observation) {
	t.Helper()
	for i := 0; i < len(images); i += 2 {
		o := model.Observation{At: time.Unix(int64(images[i].(int)), 0)}
		if image := images[i+1].(string); image != "-" {
			text := `{"containers":[{"name":"web"}]}`
			if image != "" {
				text = `{"containers":[{"name":"web","image":"` + image + `"}]}`
			}
			v, err := decode.JSON([]byte(text))
			if err != nil {
				t.Fatal(err)
			}
			o.Value = &v
		}
		list = append(list, o)
	}
	return list
}

// drifted returns a finding of a change at a path; one of a missing resource if it is "".
func drifted(path string) *model.Finding {
	if path == "" {
		return &model.Finding{Verdict: model.Missing}
	}
	return &model.Finding{Verdict: model.Changed, Changes: []model.Change{{Path: path}}}
}

func TestAgreementOfObservations(t *testing.T) {
	t.Parallel()
	const image = "containers[name=web].image"
	for name, tc := range map[string]struct {
		reason         string
		live, declared []any
		path           string
		want           reconcile.Agreement
	}{
		"edited":              {"the declaration is as it was", []any{5, "evil", 0, "1.4"}, []any{0, "1.4"}, image, reconcile.Agreed},
		"edited twice":        {"the edit before was no agreement", []any{6, "evil2", 5, "evil", 0, "1.4"}, []any{0, "1.4"}, image, reconcile.Agreed},
		"committed since":     {"the new version was never applied", []any{5, "evil", 0, "1.4"}, []any{9, "1.5", 0, "1.4"}, image, reconcile.Moved},
		"pending, edited":     {"the new version was never applied", []any{9, "evil", 0, "1.4"}, []any{5, "1.5", 0, "1.4"}, image, reconcile.Moved},
		"applied, edited":     {"the new version was applied", []any{9, "evil", 6, "1.5", 0, "1.4"}, []any{5, "1.5", 0, "1.4"}, image, reconcile.Agreed},
		"applied before read": {"the source was read before the declaration", []any{9, "evil", 5, "1.5", 0, "1.4"}, []any{6, "1.5", 0, "1.4"}, image, reconcile.Agreed},
		"taken back":          {"the commit that took it back was not applied", []any{9, "evil", 5, "1.5", 0, "1.4"}, []any{7, "1.4", 5, "1.5", 0, "1.4"}, image, reconcile.Moved},
		"first look":          {"nothing is known of before", []any{0, "evil"}, []any{0, "1.4"}, image, reconcile.NeverAgreed},
		"first look, edited":  {"the declaration is as it was", []any{5, "evil2", 0, "evil"}, []any{0, "1.4"}, image, reconcile.NeverAgreed},
		"drifted, committed":  {"the new version was never applied, whatever was live", []any{0, "evil"}, []any{5, "1.5", 0, "1.4"}, image, reconcile.Moved},
		"not declared":        {"there is no observation", []any{0, "evil"}, nil, image, reconcile.NeverAgreed},
		"declared no more":    {"there is nothing to compare with", []any{0, "evil"}, []any{5, "-", 0, "1.4"}, image, reconcile.NeverAgreed},
		"declared newly":      {"it was not declared when it was read first", []any{0, "evil"}, []any{9, "1.4", 5, "-"}, image, reconcile.Moved},
		"declared again":      {"it was applied when it was declared before", []any{6, "evil", 0, "1.4"}, []any{9, "1.4", 5, "-", 0, "1.4"}, image, reconcile.Agreed},
		"old value":           {"it was declared at another time than it was live", []any{9, "evil", 5, "1.3"}, []any{9, "1.4", 8, "1.3", 0, "1.4"}, image, reconcile.Moved},
		"before":              {"it was declared only before it was live", []any{9, "evil", 5, "1.3"}, []any{5, "1.4", 0, "1.3"}, image, reconcile.Moved},
		"added":               {"neither had the field", []any{5, "evil", 0, ""}, []any{0, ""}, image, reconcile.Agreed},
		"added, first look":   {"it was never live without the field", []any{0, "evil"}, []any{0, ""}, image, reconcile.NeverAgreed},
		"dropped, edited":     {"the field that was dropped was never removed", []any{9, "evil", 0, "1.4"}, []any{5, "", 0, "1.4"}, image, reconcile.Moved},
		"deleted":             {"the declaration is as it was", []any{5, "-", 0, "1.4"}, []any{0, "1.4"}, "", reconcile.Agreed},
		"deleted, committed":  {"it would be created in another version", []any{5, "-", 0, "1.4"}, []any{9, "1.5", 0, "1.4"}, "", reconcile.Moved},
		"pending, deleted":    {"it would be created in another version", []any{9, "-", 0, "1.4"}, []any{5, "1.5", 0, "1.4"}, "", reconcile.Moved},
		"applied, deleted":    {"the new version was applied", []any{9, "-", 6, "1.5", 0, "1.4"}, []any{5, "1.5", 0, "1.4"}, "", reconcile.Agreed},
		"dropped, deleted":    {"it would be created without a field that was never removed", []any{9, "-", 0, "1.4"}, []any{5, "", 0, "1.4"}, "", reconcile.Moved},
		"drifted, deleted":    {"it was never live as declared", []any{5, "-", 0, "evil"}, []any{0, "1.4"}, "", reconcile.NeverAgreed},
		"nothing declared":    {"nothing shows that it was applied", []any{5, "-", 0, "1.4"}, []any{0, "-"}, "", reconcile.NeverAgreed},
		"never there":         {"it was never live", []any{0, "-"}, []any{0, "1.4"}, "", reconcile.NeverAgreed},
		"strange path":        {"it leads nowhere", []any{5, "evil", 0, "1.4"}, []any{0, "1.4"}, "a[", reconcile.NeverAgreed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := newPast(podSchema(), observed(t, tc.live...), observed(t, tc.declared...)).agreement(drifted(tc.path)); got != tc.want {
				t.Errorf("got %s, want %s: %s", got, tc.want, tc.reason)
			}
		})
	}
}

// podSchema returns the schema of what observed returns.
func podSchema() *model.Schema {
	always := model.StringOf("Always")
	return &model.Schema{Fields: map[string]*model.Schema{
		"cpu":  {Format: model.Quantity},
		"pull": {Default: &always},
		"containers": {List: model.Keyed, Keys: []string{"name"}, Each: &model.Schema{Fields: map[string]*model.Schema{
			"name": {}, "image": {}, "pull": {Default: &always}}}},
	}}
}

// jsons returns observations of values at 0, 10, 20 …; "" is an absent resource. Arguments are newest first.
func jsons(t *testing.T, values ...string) []model.Observation {
	t.Helper()
	list := make([]model.Observation, len(values))
	for i, text := range values {
		list[i].At = time.Unix(int64(10*(len(values)-1-i)), 0)
		if text == "" {
			continue
		}
		v, err := decode.JSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		list[i].Value = &v
	}
	return list
}

// TestAgreementBySchema verifies that values are compared in the way in which findings are made.
func TestAgreementBySchema(t *testing.T) {
	t.Parallel()
	const (
		web      = `{"name":"web","image":"1"}`
		side     = `{"name":"side","image":"1"}`
		sideLive = `{"name":"side","image":"1","pull":"Always"}`
		newer    = `{"name":"side","image":"2"}`
		element  = "containers[name=side]"
	)
	of := func(elements string) string { return `{"containers":[` + elements + `]}` }
	for name, tc := range map[string]struct {
		live, declared []string
		path           string
		want           reconcile.Agreement
	}{
		"element with defaults":           {[]string{of(web), of(web + "," + sideLive)}, []string{of(web + "," + side)}, element, reconcile.Agreed},
		"element in another order":        {[]string{of(web), of(sideLive + "," + web)}, []string{of(web + "," + side)}, element, reconcile.Agreed},
		"element, committed":              {[]string{of(web), of(web + "," + sideLive)}, []string{of(web + "," + newer), of(web + "," + side)}, element, reconcile.Moved},
		"element, other one committed":    {[]string{of(web), of(web + "," + sideLive)}, []string{of(`{"name":"web","image":"2"},` + side), of(web + "," + side)}, element, reconcile.Agreed},
		"quantity":                        {[]string{`{"cpu":"7"}`, `{"cpu":"500m"}`}, []string{`{"cpu":"0.5"}`}, "cpu", reconcile.Agreed},
		"quantity, committed":             {[]string{`{"cpu":"7"}`, `{"cpu":"500m"}`}, []string{`{"cpu":"4"}`, `{"cpu":"0.5"}`}, "cpu", reconcile.Moved},
		"quantity, spelled differently":   {[]string{`{"cpu":"7"}`, `{"cpu":"500m"}`}, []string{`{"cpu":"500m"}`, `{"cpu":"0.5"}`}, "cpu", reconcile.Agreed},
		"new field over a default":        {[]string{`{"pull":"Always"}`}, []string{`{"pull":"Never"}`, `{}`}, "pull", reconcile.Moved},
		"default, edited":                 {[]string{`{"pull":"Never"}`, `{"pull":"Always"}`}, []string{`{}`}, "pull", reconcile.Agreed},
		"default declared in the end":     {[]string{`{"pull":"Never"}`, `{"pull":"Always"}`}, []string{`{"pull":"Always"}`, `{}`}, "pull", reconcile.Agreed},
		"field without a known default":   {[]string{`{"x":"b"}`, `{"x":"a"}`}, []string{`{}`}, "x", reconcile.NeverAgreed},
		"whole without fields":            {[]string{"", `{}`}, []string{`{}`}, "", reconcile.NeverAgreed},
		"whole with defaults":             {[]string{"", of(web + "," + sideLive)}, []string{of(web + "," + side)}, "", reconcile.Agreed},
		"field of a newer element":        {[]string{of(newer), of(web)}, []string{of(web + "," + side), of(web)}, element + ".image", reconcile.Moved},
		"two fields, one moved":           {[]string{`{"cpu":"7","x":"b"}`, `{"cpu":"1","x":"a"}`}, []string{`{"cpu":"1","x":"c"}`, `{"cpu":"1","x":"a"}`}, "x", reconcile.Moved},
		"two fields, the other one moved": {[]string{`{"cpu":"7","x":"b"}`, `{"cpu":"1","x":"a"}`}, []string{`{"cpu":"1","x":"c"}`, `{"cpu":"1","x":"a"}`}, "cpu", reconcile.Agreed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := newPast(podSchema(), jsons(t, tc.live...), jsons(t, tc.declared...)).agreement(drifted(tc.path)); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestAgreementOfRecords verifies that what a record shows to be applied needs no observation.
func TestAgreementOfRecords(t *testing.T) {
	t.Parallel()
	// The edit was made right after the apply, before driftd read the source.
	p := func() *past {
		return newPast(nil, jsons(t, `{"x":"evil","y":"evil"}`, `{"x":"1.4","y":"1"}`), jsons(t, `{"x":"1.5","y":"1"}`, `{"x":"1.4","y":"1"}`))
	}
	older, newer := model.StringOf("1.4"), model.StringOf("1.5")
	change := func(path string, declared, recorded *model.Value) model.Change {
		return model.Change{Path: path, Declared: declared, Recorded: recorded}
	}
	for name, tc := range map[string]struct {
		verdict model.Verdict
		changes []model.Change
		want    reconcile.Agreement
	}{
		"no record":        {model.Changed, []model.Change{change("x", &newer, nil)}, reconcile.Moved},
		"recorded":         {model.Changed, []model.Change{change("x", &newer, &newer)}, reconcile.Agreed},
		"older record":     {model.Changed, []model.Change{change("x", &newer, &older)}, reconcile.Moved},
		"another verdict":  {model.Bypassed, []model.Change{change("x", &newer, &newer)}, reconcile.Moved},
		"neither":          {model.Changed, []model.Change{change("x", nil, nil)}, reconcile.Moved},
		"one of two":       {model.Changed, []model.Change{change("x", &newer, nil), change("y", &older, &older)}, reconcile.Moved},
		"one, other known": {model.Changed, []model.Change{change("x", &newer, &newer), change("y", &older, nil)}, reconcile.Agreed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := p().agreement(&model.Finding{Verdict: tc.verdict, Changes: tc.changes}); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestAgreementOfSecrets verifies that a sealed value is compared with one that is not.
func TestAgreementOfSecrets(t *testing.T) {
	t.Parallel()
	sealer := model.NewSealer([]byte("key"))
	live, declared := jsons(t, `{"x":"evil"}`, `{"x":"hunter2"}`), jsons(t, `{}`)
	sealed := model.MapOf(model.Field{Name: "x", Value: sealer.Seal("hunter2")})
	declared[0].Value = &sealed
	plain := jsons(t, `{"x":"hunter2"}`, `{"x":"hunter2"}`) // before it was known to be secret
	for _, versions := range [][]model.Observation{declared, {plain[0], declared[0]}} {
		p := newPast(nil, live, versions)
		p.seal = sealer.SealLike
		if got := p.agreement(drifted("x")); got != reconcile.Agreed {
			t.Errorf("got %s", got)
		}
	}
	p := newPast(nil, live[:1], []model.Observation{plain[0], declared[0]})
	p.seal = sealer.SealLike
	if got := p.agreement(drifted("x")); got != reconcile.NeverAgreed {
		t.Errorf("the declaration did not change: got %s", got)
	}
}

// TestAgreementIgnoresOtherFields verifies that observations that differ in other fields only do not count, however
// many there are and wherever they are.
func TestAgreementIgnoresOtherFields(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string, noisy bool) (list, clean []model.Observation) {
			last := ""
			for at := range rapid.IntRange(1, 12).Draw(t, name) {
				value := rapid.SampledFrom([]string{"1", "2", "3", "-"}).Draw(t, name)
				o := model.Observation{At: time.Unix(int64(at), 0)}
				if value != "-" {
					v := model.MapOf(model.Field{Name: "x", Value: model.StringOf(value)})
					if noisy {
						v = v.With("noise", model.StringOf(strconv.Itoa(at)))
					}
					o.Value = &v
				}
				if list = append(list, o); value != last {
					clean = append(clean, o)
				}
				last = value
			}
			slices.Reverse(list)
			slices.Reverse(clean)
			return list, clean
		}
		live, cleanLive := draw("live", rapid.Bool().Draw(t, "noise in live"))
		declared, cleanDeclared := draw("declared", rapid.Bool().Draw(t, "noise in declared"))
		got, want := newPast(nil, live, declared).agreement(drifted("x")), newPast(nil, cleanLive, cleanDeclared).agreement(drifted("x"))
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

// TestAgreementIsLatest verifies that only what is declared now, or was when both agreed last, results in an agreement.
func TestAgreementIsLatest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) []string {
			return rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3"}), 8, 8).Draw(t, name)
		}
		of := func(values []string) (list []model.Observation) {
			for i, value := range values { // newest first
				v := model.MapOf(model.Field{Name: "x", Value: model.StringOf(value)})
				list = append(list, model.Observation{At: time.Unix(int64(len(values)-i), 0), Value: &v})
			}
			return list
		}
		live, declared := draw("live"), draw("declared")
		want := reconcile.NeverAgreed
		if slices.ContainsFunc(declared, func(v string) bool { return v != declared[0] }) {
			want = reconcile.Moved
		}
		for i := range live {
			if live[i] == declared[i] {
				want = reconcile.Moved
				if declared[i] == declared[0] {
					want = reconcile.Agreed
				}
				break
			}
		}
		if got := newPast(nil, of(live), of(declared)).agreement(drifted("x")); got != want {
			t.Errorf("live %q, declared %q: got %s, want %s", live, declared, got, want)
		}
	})
}

// A defining declaration defines the kinds of its source itself.
type defining struct{ *spelled }

func (d defining) Collect(ctx context.Context) (model.Snapshot, error) {
	s, err := d.spelled.Collect(ctx)
	s.Kinds = nil
	return s, err
}

func (d defining) Load(ctx context.Context) (model.Declaration, error) {
	s, err := d.spelled.Collect(ctx)
	if err != nil {
		return model.Declaration{}, err
	}
	declaration, err := d.spelled.Load(ctx)
	declaration.Kinds = s.Kinds
	return declaration, err
}

// TestAgreementOfReads verifies that the observations of scans are compared by the schema of the source, or else of the
// declaration.
func TestAgreementOfReads(t *testing.T) {
	t.Parallel()
	for name, edit := range map[string]func(e *Estate, s *spelled){
		"of the source": func(e *Estate, s *spelled) { e.Sources[0].Collector, e.Declarations[0].Loader = s, s },
		"of the declaration": func(e *Estate, s *spelled) {
			e.Sources[0].Collector, e.Declarations[0].Loader = defining{s}, defining{s}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The source has the elements in another order.
			s := &spelled{live: `{"containers":[{"name":"side","cpu":"1"},{"name":"web","cpu":"1"}]}`,
				stored: `{"containers":[{"name":"web","cpu":"1"},{"name":"side","cpu":"1"}]}`}
			b := newBench(t, 0, func(e *Estate) { edit(e, s) })
			b.cycle(t)
			s.live = `{"containers":[{"name":"side","cpu":"1"},{"name":"web","cpu":"2"}]}`
			found := func() *model.Finding {
				report := b.cycle(t)
				at := slices.IndexFunc(report.Findings, func(f model.Finding) bool { return f.Name == "a" })
				if at < 0 {
					t.Fatalf("no finding in %+v", report.Findings)
				}
				return &report.Findings[at]
			}
			reads := lastReads{b.engine}
			f := found()
			if got, err := reads.Agreement(f); err != nil || got != reconcile.Agreed || f.Changes[0].Path != "containers[name=web].cpu" {
				t.Errorf("got %s, %v for %+v", got, err, f.Changes)
			}
			s.stored = `{"containers":[{"name":"web","cpu":"3"},{"name":"side","cpu":"1"}]}`
			if got, err := reads.Agreement(found()); err != nil || got != reconcile.Moved {
				t.Errorf("after a commit: got %s, %v", got, err)
			}
		})
	}
}
