package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestCanonicalRecord converts a record to the form of the source: written values become the
// values that the source stores for them.
func TestCanonicalRecord(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ recorded, written, canonical, want string }{
		"the record is as written":               {`{"cpu":"1"}`, `{"cpu":"1"}`, `{"cpu":1000}`, `{"cpu":1000}`},
		"a field of the record is as written":    {`{"cpu":"1","port":2}`, `{"cpu":"1","port":3}`, `{"cpu":1000,"port":30}`, `{"cpu":1000,"port":2}`},
		"a field that is not written":            {`{"cpu":"1","old":2}`, `{"cpu":"1"}`, `{"cpu":1000}`, `{"cpu":1000,"old":2}`},
		"a field that is not recorded":           {`{"cpu":"2"}`, `{"cpu":"1","new":1}`, `{"cpu":1000,"new":1}`, `{"cpu":"2"}`},
		"an element of the record is as written": {`["a","b"]`, `["a","c"]`, `["A","C"]`, `["A","b"]`},
		"a list of another length":               {`["a","b"]`, `["a"]`, `["A"]`, `["a","b"]`},
		"a list that the source shortens":        {`["a","b"]`, `["a","c"]`, `["A"]`, `["a","b"]`},
		"a map that the source makes a text":     {`{"a":1}`, `{"a":2}`, `"a=2"`, `{"a":1}`},
		"a text that the source makes a map":     {`"a=1"`, `"a=2"`, `{"a":2}`, `"a=1"`},
	} {
		got := canonicalRecord(value(t, tc.recorded), value(t, tc.written), value(t, tc.canonical))
		if want := value(t, tc.want); !got.Equal(want) {
			t.Errorf("%s: got %s, want %s", reason, got, want)
		}
	}
}

// TestRecordInTheSourcesForm compares with a record that has the written value if the source
// stores another one.
func TestRecordInTheSourcesForm(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct{ recorded, live, want string }{
		"applied as declared":    {`{"mode":"short"}`, `{"mode":"long form"}`, ""},
		"changed since":          {`{"mode":"short"}`, `{"mode":"other"}`, "changed mode"},
		"applied as another one": {`{"mode":"before"}`, `{"mode":"before"}`, "pending mode"},
	} {
		s := subject(value(t, `{"mode":"long form"}`), &model.Resource{Value: value(t, tc.live), LastApplied: pointer(value(t, tc.recorded))})
		s.Claims[0].Written = pointer(value(t, `{"mode":"short"}`))
		if diff := gocmp.Diff(tc.want, show(Compare(s, Options{}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestReportWithoutRecord checks the verdict on a declared field with another live value if
// only the record of writers shows what was applied.
func TestReportWithoutRecord(t *testing.T) {
	t.Parallel()
	const unrecorded = ": nothing records what was last applied"
	maker := func(paths ...string) model.Owner {
		return model.Owner{Name: "maker", At: created, Fields: set(paths...)}
	}
	hand := model.Owner{Name: "hand", Edits: true, At: later, Fields: set("port")}
	apply := model.Owner{Name: "apply", Applies: true, At: created, Fields: set("cpu")}
	for reason, tc := range map[string]struct {
		owners []model.Owner
		live   string
		want   string
	}{
		"no applier":                              {nil, `{"cpu":1,"port":1}`, "changed? port" + unrecorded},
		"its maker keeps no record":               {[]model.Owner{maker("cpu", "port")}, `{"cpu":1,"port":1}`, "changed? port maker" + unrecorded},
		"its maker keeps no record, a hand wrote": {[]model.Owner{maker("cpu"), hand}, `{"cpu":1,"port":1}`, "changed? port hand"},
		"a hand wrote what was applied":           {[]model.Owner{apply, hand}, `{"cpu":1,"port":1}`, "changed? port hand"},
		"two hands wrote it":                      {[]model.Owner{apply, hand, {Name: "other", Edits: true, At: later.Add(1), Fields: set("port")}}, `{"cpu":1,"port":1}`, "changed? port other"},
		"removed, or never applied": {[]model.Owner{apply, {Name: "hand", Edits: true, At: later, Fields: set("mode")}}, `{"cpu":1}`,
			"changed? port: removed by hand, or declared since the last apply: managedFields does not record which"},
	} {
		live := &model.Resource{Value: value(t, tc.live), Created: created, Generation: 3, OwnersFrom: "managedFields", Owners: tc.owners}
		var got []string
		for _, o := range Compare(subject(value(t, `{"cpu":1,"port":2}`), live), Options{}) {
			verdict := string(o.Verdict)
			if o.Changes[0].Unproven {
				verdict += "?"
			}
			text := fmt.Sprintf("%s %s %s", verdict, o.Changes[0].Path, strings.TrimPrefix(o.Actor.Name, "unknown"))
			if text = strings.TrimSpace(text); o.Reason != "" {
				text += ": " + o.Reason
			}
			got = append(got, text)
		}
		if diff := gocmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestWrittenWithoutRecord checks the verdict by history on a field, declared as 2 and live as
// 1, whose writer leaves no record of applied values. It was written at hour 10.
func TestWrittenWithoutRecord(t *testing.T) {
	t.Parallel()
	replaced := func(superseded float64) model.Past {
		return model.Past{Versions: []model.Version{version(t, `{"port":2}`, "def456", "", 0), version(t, `{"port":1}`, "abc123", "def456", superseded)}}
	}
	never := model.Past{Versions: []model.Version{version(t, `{"port":3}`, "abc", "def", 1)}}
	for reason, tc := range map[string]struct {
		evidence model.Evidence
		byHand   bool
		want     string
	}{
		"deployed with kubectl create, and git moved on":     {model.Evidence{Past: replaced(11)}, false, "pending"},
		"an older version was written after the next commit": {model.Evidence{Past: replaced(8)}, false, "changed"},
		"never declared": {model.Evidence{Past: never}, false, "changed"},
		"only the declared side moved, and it was never declared": {model.Evidence{Past: model.Past{Gap: "cut"},
			Live: observations(t, `10 {"port":1}`), Declared: observations(t, `10 {"port":3}`)}, false, "changed"},
		"a hand wrote an older version": {model.Evidence{Past: replaced(11)}, true, "changed"},
		"a manual value was committed, and replaced by a later commit": {model.Evidence{Past: replaced(14),
			Live: observations(t, `10.5 {"port":1}`), Declared: observations(t, `12 {"port":1}`, `9 {"port":3}`)}, true, "pending"},
		"a manual value was committed and reverted, then written again": {model.Evidence{Past: replaced(8),
			Live: observations(t, `10.5 {"port":1}`, `9 {"port":2}`), Declared: observations(t, `9 {"port":2}`, `7 {"port":1}`)}, true, "changed"},
		"a hand wrote an older version before driftd saw the newer one live": {model.Evidence{Past: replaced(9.5),
			Live: observations(t, `10.5 {"port":1}`, `8 {"port":3}`), Declared: observations(t, `9.6 {"port":2}`, `8 {"port":1}`)}, true, "changed"},
	} {
		owner := model.Owner{Name: "someone", At: hour(10), Fields: set("cpu", "port"), Edits: tc.byHand}
		maker := model.Owner{Name: "maker", At: created, Fields: set("cpu")}
		s := subject(value(t, `{"cpu":1,"port":2}`), &model.Resource{Value: value(t, `{"cpu":1,"port":1}`), Created: created,
			Generation: 3, OwnersFrom: "managedFields", Owners: []model.Owner{maker, owner}})
		tc.evidence.DeployWindow = time.Hour
		s.Claims[0].Evidence = &tc.evidence
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || string(outcomes[0].Verdict) != tc.want || outcomes[0].Changes[0].Unproven {
			t.Errorf("%s: %s, want %s and proven", reason, show(outcomes), tc.want)
		}
	}
}

// TestSecretChange marks a change as secret if either side has the secret.
func TestSecretChange(t *testing.T) {
	t.Parallel()
	plain, secret := value(t, `{"mode":"x"}`), model.MapOf(model.Field{Name: "mode", Value: model.DigestOf("feed")})
	for reason, tc := range map[string]struct {
		declared, recorded, live model.Value
		want                     bool
	}{
		"declared":  {secret, plain, plain, true},
		"recorded":  {value(t, `{"mode":"y"}`), secret, plain, true},
		"live":      {plain, plain, secret, true},
		"no secret": {plain, plain, value(t, `{"mode":"y"}`), false},
	} {
		s := subject(tc.declared, &model.Resource{Value: tc.live, LastApplied: &tc.recorded})
		outcomes := Compare(s, Options{})
		if len(outcomes) != 1 || outcomes[0].Changes[0].Secret != tc.want {
			t.Errorf("%s: %+v, want a change that is secret: %t", reason, outcomes, tc.want)
		}
	}
}

// TestMasked reports a field that the source masks if its log has an edit by an actor other
// than the creator.
func TestMasked(t *testing.T) {
	t.Parallel()
	event := func(deed model.Action, who string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: deed, Fields: fields, Actor: model.Actor{Name: who, Confidence: model.Exact}}
	}
	maker, alice := event(model.Created, "maker"), event(model.Edited, "alice", "password")
	for reason, tc := range map[string]struct {
		declared string
		events   []model.AuditEvent
		want     string
	}{
		"set by another":                   {`{"password":"x"}`, []model.AuditEvent{maker, alice}, "changed password alice"},
		"set by its maker":                 {`{"password":"x"}`, []model.AuditEvent{maker, event(model.Edited, "maker", "password")}, ""},
		"set, and its maker is not known":  {`{"password":"x"}`, []model.AuditEvent{alice}, "changed password alice"},
		"made again by the one who set it": {`{"password":"x"}`, []model.AuditEvent{maker, alice, event(model.Created, "alice")}, ""},
		"edited, and not made, by alice":   {`{"password":"x"}`, []model.AuditEvent{maker, alice, event(model.Edited, "alice")}, "changed password alice"},
		"another field":                    {`{"password":"x"}`, []model.AuditEvent{maker, event(model.Edited, "alice", "mode")}, ""},
		"made with the field":              {`{"password":"x"}`, []model.AuditEvent{maker, event(model.Created, "alice", "password")}, ""},
		"not declared":                     {`{}`, []model.AuditEvent{maker, alice}, ""},
		"nothing is logged":                {`{"password":"x"}`, nil, ""},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, `{}`)})
		s.Kind.Schema.Fields["password"] = &model.Schema{Masked: true}
		s.AuditEvents = tc.events
		if diff := gocmp.Diff(tc.want, show(Compare(s, Options{}))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestUndeclaredMasked reports a masked field that the live resource has and a complete claim lacks, if the log has an edit
// of it by another actor than the creator.
func TestUndeclaredMasked(t *testing.T) {
	t.Parallel()
	event := func(deed model.Action, who string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: deed, Fields: fields, Actor: model.Actor{Name: who, Confidence: model.Exact}}
	}
	alice := []model.AuditEvent{event(model.Created, "maker"), event(model.Edited, "alice", "password")}
	for reason, tc := range map[string]struct {
		declared, live string
		partial        bool
		events         []model.AuditEvent
		want           string
	}{
		"set":               {`{}`, `{"password":"**"}`, false, alice, "undeclared password alice"},
		"declared as unset": {`{"password":""}`, `{"password":"**"}`, false, alice, "undeclared password alice"},
		"not set":           {`{}`, `{}`, false, alice, ""},
		"a partial claim":   {`{}`, `{"password":"**"}`, true, alice, ""},
		"set by its maker":  {`{}`, `{"password":"**"}`, false, []model.AuditEvent{event(model.Created, "maker"), event(model.Edited, "maker", "password")}, ""},
		"nothing is logged": {`{}`, `{"password":"**"}`, false, nil, ""},
	} {
		s := subject(value(t, tc.declared), &model.Resource{Value: value(t, tc.live)})
		unset := model.StringOf("")
		s.Kind.Schema.Fields["password"] = &model.Schema{Masked: true, Default: &unset}
		s.AuditEvents, s.Claims[0].Complete = tc.events, !tc.partial
		outcomes := Compare(s, Options{})
		if diff := gocmp.Diff(tc.want, show(outcomes)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
		for _, o := range outcomes {
			if c := o.Changes[0]; !c.Secret || c.Live != nil {
				t.Errorf("%s: %+v", reason, c)
			}
		}
	}
}

// TestDeclarerOfPending names the declarer of a pending field according to the declaration's
// log.
func TestDeclarerOfPending(t *testing.T) {
	t.Parallel()
	event := func(deed model.Action, who string, fields ...string) model.AuditEvent {
		return model.AuditEvent{Action: deed, Fields: fields, Actor: model.Actor{Name: who, Confidence: model.Likely}}
	}
	const none = "unknown: declared, not applied yet; the author is known only if the declaration is in git, as committed"
	for reason, tc := range map[string]struct {
		events []model.AuditEvent
		want   string
	}{
		"the last one":                   {[]model.AuditEvent{event(model.Edited, "ann"), event(model.Edited, "bob")}, "bob: "},
		"the deleter":                    {[]model.AuditEvent{event(model.Edited, "ann"), event(model.Deleted, "bob")}, "ann: "},
		"the writer of the field":        {[]model.AuditEvent{event(model.Edited, "ann", "port"), event(model.Edited, "bob", "cpu")}, "ann: "},
		"the writer of an element of it": {[]model.AuditEvent{event(model.Edited, "ann", "port[0]"), event(model.Edited, "bob", "ports")}, "ann: "},
		"none":                           {nil, none},
		"an unknown actor":               {[]model.AuditEvent{{Actor: model.UnknownActor("squashed")}}, none},
	} {
		a := claimAuthorOrUnapplied(&model.Claim{ClaimHistory: model.ClaimHistory{AuditEvents: tc.events}}, "port")
		if got := a.Name + ": " + a.Reason; got != tc.want {
			t.Errorf("%s: got %q, want %q", reason, got, tc.want)
		}
	}
}

// TestTouches reports whether an audit event on many resources is about a change of one.
func TestTouches(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		of             []string
		declared, live string
		want           bool
	}{
		"anything":                       {nil, `"a"`, `"b"`, true},
		"renamed, and that is live":      {[]string{"a", "b"}, `"a"`, `"b"`, true},
		"renamed, and declared so":       {[]string{"a", "b"}, `"b"`, `"b"`, false},
		"renamed, and something else":    {[]string{"a", "b"}, `"a"`, `"c"`, false},
		"removed from a list":            {[]string{"a"}, `["a","b"]`, `["b"]`, true},
		"added to a list":                {[]string{"a"}, `["b"]`, `["a","b"]`, true},
		"in both lists":                  {[]string{"a"}, `["a","b"]`, `["a"]`, false},
		"in neither":                     {[]string{"a"}, `["b"]`, `["c"]`, false},
		"one of several":                 {[]string{"x", "y", "a"}, `["a"]`, `[]`, true},
		"a number that is spelled so":    {[]string{"1"}, `1`, `2`, false},
		"a text that is another":         {[]string{"a"}, `"b"`, `"c"`, false},
		"an empty text and an empty map": {[]string{""}, `{}`, `{"x":1}`, false},
	} {
		if got := touches(&model.AuditEvent{Texts: tc.of}, value(t, tc.declared), value(t, tc.live)); got != tc.want {
			t.Errorf("%s: got %t", reason, got)
		}
	}
}

// TestDeclarerOfWriters returns the writer that applies the declaration.
func TestDeclarerOfWriters(t *testing.T) {
	t.Parallel()
	owner := func(name string, at time.Duration, paths ...string) model.Owner {
		return model.Owner{Name: name, At: created.Add(at), Fields: set(paths...)}
	}
	change := func(o model.Owner, by func(*model.Owner)) model.Owner { by(&o); return o }
	applies := func(o *model.Owner) { o.Applies = true }
	delivers := func(o *model.Owner) { o.Delivers = true }
	edits := func(o *model.Owner) { o.Edits = true }
	through := func(o *model.Owner) { o.Through = "scale" }
	records := func(o *model.Owner) { o.Records = true }
	for reason, tc := range map[string]struct {
		owners []model.Owner
		want   string
	}{
		"none":                                      {nil, ""},
		"most fields as declared":                   {[]model.Owner{owner("one", 1, "cpu"), owner("two", 1, "mode", "port")}, "two"},
		"most fields as declared, listed first":     {[]model.Owner{owner("two", 1, "mode", "port"), owner("one", 1, "cpu")}, "two"},
		"as many as declared, and fewer otherwise":  {[]model.Owner{owner("one", 1, "cpu", "args"), owner("two", 1, "mode")}, "two"},
		"as many of either: the first":              {[]model.Owner{owner("one", 1, "cpu"), owner("two", 1, "mode")}, "one"},
		"an owner of nothing as declared":           {[]model.Owner{owner("one", 1, "args")}, ""},
		"an applier of which all was changed":       {[]model.Owner{change(owner("one", 1, "args"), applies)}, "one"},
		"a deliverer of which all was changed":      {[]model.Owner{change(owner("one", 1, "args"), delivers)}, "one"},
		"an applier of other fields":                {[]model.Owner{change(owner("one", 1, "noise"), applies)}, ""},
		"the creator":                               {[]model.Owner{owner("one", 0, "noise")}, "one"},
		"the creator, and an applier of more":       {[]model.Owner{owner("one", 0, "noise"), change(owner("two", 1, "args"), applies)}, "two"},
		"an applier of more, and the creator":       {[]model.Owner{change(owner("two", 1, "args"), applies), owner("one", 0, "noise")}, "two"},
		"a tool for editing":                        {[]model.Owner{change(owner("one", 1, "cpu", "mode"), edits)}, ""},
		"through a subresource":                     {[]model.Owner{change(owner("one", 1, "cpu"), through)}, ""},
		"the record goes first":                     {[]model.Owner{owner("one", 1, "cpu", "mode"), change(owner("two", 1), records)}, "two"},
		"elements as declared":                      {[]model.Owner{owner("one", 1, "cpu"), owner("two", 1, `env/{"name":"A"}/name`, `env/{"name":"A"}/value`)}, "two"},
		"a list as a whole is one field":            {[]model.Owner{owner("one", 1, "cpu", "mode"), owner("two", 1, "env")}, "one"},
		"a list that is replaced is one field":      {[]model.Owner{owner("one", 1, "cpu", "mode"), owner("two", 1, "verbs/0", "verbs/1", "verbs/2")}, "one"},
		"more changed fields among changed ones":    {[]model.Owner{change(owner("one", 1, "args"), applies), change(owner("two", 1, "args", "ip"), applies)}, "two"},
		"fewer changed fields among changed ones":   {[]model.Owner{change(owner("two", 1, "args", "ip"), applies), change(owner("one", 1, "args"), applies)}, "two"},
		"one as declared goes before many changed":  {[]model.Owner{change(owner("one", 1, "args", "ip"), applies), owner("two", 1, "cpu")}, "two"},
		"many changed do not outdo one as declared": {[]model.Owner{owner("two", 1, "cpu"), change(owner("one", 1, "args", "ip"), applies)}, "two"},
	} {
		declared := value(t, `{"cpu":1,"mode":"x","port":1,"args":["a"],"ip":"1","verbs":["a","b","c"],"env":[{"name":"A","value":"1"}]}`)
		live := value(t, `{"cpu":1,"mode":"x","port":1,"args":["b"],"ip":"2","verbs":["a","b","c"],"env":[{"name":"A","value":"1"}]}`)
		w := writers{live: &model.Resource{Value: live, Created: created, Owners: tc.owners}, schema: testSchema(), declared: declared}
		for range 2 { // the second call returns the same
			got := ""
			if o := w.applier(); o != nil {
				got = o.Name
			}
			if got != tc.want {
				t.Errorf("%s: got %q, want %q", reason, got, tc.want)
			}
		}
	}
}

// TestOwnersOfANode returns the owners that are closest to a node.
func TestOwnersOfANode(t *testing.T) {
	t.Parallel()
	schema := testSchema()
	schema.Fields["atom"] = &model.Schema{Atomic: true, Fields: map[string]*model.Schema{"a": {}}}
	schema.Fields["env"].Each.Fields["value"] = &model.Schema{Atomic: true}
	field := func(names ...string) path {
		var p path
		for _, name := range names {
			p = append(p, fieldSegment(name))
		}
		return p
	}
	element := model.MapOf(model.Field{Name: "name", Value: model.StringOf("A")})
	env := path{fieldSegment("env"), elementSegment(schema.Fields["env"], &element)}
	for reason, tc := range map[string]struct {
		at     path
		fields map[string][]string
		want   string
	}{
		"its own":         {field("cpu"), map[string][]string{"one": {"cpu"}, "two": {"port"}}, "one"},
		"all that own it": {field("cpu"), map[string][]string{"one": {"cpu"}, "two": {"cpu"}}, "one two"},
		"one above does not own what is below it": {field("probe", "path"), map[string][]string{"one": {"probe"}, "two": {"cpu"}}, ""},
		"the closest":                          {field("atom", "a"), map[string][]string{"one": {"atom"}, "two": {"atom/a"}}, "two"},
		"the closest, listed first":            {field("atom", "a"), map[string][]string{"one": {"atom/a"}, "two": {"atom"}}, "one"},
		"an atomic map is owned as one":        {field("atom", "a"), map[string][]string{"one": {"atom"}}, "one"},
		"a list without names is owned as one": {path{fieldSegment("args"), indexSegment(0, 0)}, map[string][]string{"one": {"args"}}, "one"},
		"a list with names is not":             {env, map[string][]string{"one": {"env"}}, ""},
		"an atomic map in an element":          {append(env[:2:2], fieldSegment("value"), fieldSegment("x")), map[string][]string{"one": {`env/{"name":"A"}/value`}}, "one"},
		"none":                                 {field("cpu"), nil, ""},
	} {
		live := &model.Resource{}
		for _, name := range []string{"one", "two"} {
			if tc.fields[name] != nil {
				live.Owners = append(live.Owners, model.Owner{Name: name, Fields: set(tc.fields[name]...)})
			}
		}
		var got []string
		for _, o := range (&writers{live: live, schema: schema}).ownersAt(tc.at) {
			got = append(got, o.Name)
		}
		if diff := gocmp.Diff(tc.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestEditedCounted tests whether a writer other than the applier owns a field that the
// generation counts.
func TestEditedCounted(t *testing.T) {
	t.Parallel()
	apply := model.Owner{Name: "apply", Applies: true, Fields: set("cpu")}
	for reason, tc := range map[string]struct {
		editor model.Owner
		want   bool
	}{
		"the specification":   {model.Owner{Name: "edit", Fields: set("spec")}, true},
		"more than metadata":  {model.Owner{Name: "edit", Fields: set("metadata", "spec")}, true},
		"metadata":            {model.Owner{Name: "edit", Fields: set("metadata")}, false},
		"status":              {model.Owner{Name: "edit", Fields: set("status")}, false},
		"through scale":       {model.Owner{Name: "edit", Through: "scale", Fields: set("spec")}, true},
		"the applier's entry": {model.Owner{Name: "apply", Applies: true, Fields: set("spec")}, false},
	} {
		s := subject(value(t, `{"cpu":1}`), &model.Resource{Owners: []model.Owner{apply, tc.editor}, Value: value(t, `{"cpu":1}`)})
		if got := newWalk(s, s.Claims[0], s.Live.Value, Options{}).editedCounted(); got != tc.want {
			t.Errorf("%s: got %t", reason, got)
		}
	}
}
