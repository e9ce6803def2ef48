package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/model"
)

// TestAbsence decides whether a claimed resource that is not in the snapshot is absent,
// or else why it may exist: "" means absent.
func TestAbsence(t *testing.T) {
	t.Parallel()
	const grouped = "test/Thing.example.org"
	read := func(kind, place string) model.Coverage {
		return model.Coverage{Source: "s", Kind: kind, Place: place, Complete: true}
	}
	failed := func(kind, place, reason string) model.Coverage {
		return model.Coverage{Source: "s", Kind: kind, Place: place, Reason: reason}
	}
	byID := model.Claim{Declaration: "d", Kind: grouped, ID: "p/a", Place: "p"}
	everywhere, either, sealed, unsure := byID, byID, byID, byID
	everywhere.Place = ""
	either.AltKinds = []string{"test/Other"}
	sealed.Unchecked = "encrypted"
	unsure.Doubt = "interfaces are not known"
	stale := model.Snapshot{Source: "s", Coverage: []model.Coverage{read("", "")}}
	stale.Doubt(model.Scope{}, "no quorum")
	for reason, tc := range map[string]struct {
		claim    model.Claim
		snapshot model.Snapshot
		want     string
	}{
		"everything was read":                      {byID, model.Snapshot{Coverage: []model.Coverage{read("", "")}}, ""},
		"its kind was read":                        {byID, model.Snapshot{Coverage: []model.Coverage{read(grouped, "")}}, ""},
		"its kind was read in its place":           {byID, model.Snapshot{Coverage: []model.Coverage{read(grouped, "p")}}, ""},
		"its group was read":                       {byID, model.Snapshot{Coverage: []model.Coverage{read("test/*.example.org", "")}}, ""},
		"another group was read":                   {byID, model.Snapshot{Coverage: []model.Coverage{read("test/*.example.com", "")}}, "s has no kind test/Thing.example.org"},
		"another kind was read":                    {byID, model.Snapshot{Coverage: []model.Coverage{read("test/Other", "")}}, "s has no kind test/Thing.example.org"},
		"its kind is misspelt":                     {byID, model.Snapshot{Kinds: map[string]*model.Kind{"test/Things.example.org": {}}, Coverage: []model.Coverage{read("test/Things.example.org", "")}}, "s has no kind test/Thing.example.org: did you mean test/Things.example.org?"},
		"its kind was read in another place":       {byID, model.Snapshot{Coverage: []model.Coverage{read(grouped, "q")}}, "not read"},
		"nothing was read":                         {byID, model.Snapshot{}, "not read"},
		"the place failed, all else was read":      {byID, model.Snapshot{Coverage: []model.Coverage{read("", ""), read(grouped, ""), failed(grouped, "p", "forbidden in p")}}, "forbidden in p"},
		"the kind failed, all else was read":       {byID, model.Snapshot{Coverage: []model.Coverage{read("", ""), failed(grouped, "", "forbidden")}}, "forbidden"},
		"the group failed, all else was read":      {byID, model.Snapshot{Coverage: []model.Coverage{read("", ""), failed("test/*.example.org", "", "no API")}}, "no API"},
		"the kind failed, its place was read":      {byID, model.Snapshot{Coverage: []model.Coverage{failed(grouped, "", "forbidden"), read(grouped, "p")}}, ""},
		"it failed without a reason":               {byID, model.Snapshot{Coverage: []model.Coverage{failed("", "", "")}}, "not read"},
		"it was left out on purpose":               {byID, model.Snapshot{Coverage: []model.Coverage{{Kind: grouped, Skipped: true, Reason: "excluded"}}}, "excluded"},
		"the source is stale":                      {byID, stale, "no quorum"},
		"a claim without a place means home":       {everywhere, model.Snapshot{Home: "p", Coverage: []model.Coverage{read(grouped, "p")}}, ""},
		"home was not read":                        {everywhere, model.Snapshot{Home: "q", Coverage: []model.Coverage{read(grouped, "p"), failed(grouped, "q", "forbidden in q")}}, "forbidden in q"},
		"there is no home":                         {everywhere, model.Snapshot{Coverage: []model.Coverage{read(grouped, "p")}}, "not read"},
		"it exists and could not be read":          {byID, model.Snapshot{Coverage: []model.Coverage{read("", "")}, Unread: []model.Unread{{Ref: model.Ref{Kind: grouped, ID: "p/a"}, Reason: "too large"}}}, "too large"},
		"its list could not be read":               {byID, model.Snapshot{Coverage: []model.Coverage{read("", "")}, Unread: []model.Unread{{Ref: model.Ref{Kind: grouped, ID: "p/"}, All: true, Reason: "too large"}, {Ref: model.Ref{Kind: "test/Zebra"}}}}, "too large"},
		"another list could not be read":           {byID, model.Snapshot{Coverage: []model.Coverage{read("", "")}, Unread: []model.Unread{{Ref: model.Ref{Kind: grouped, ID: "o/"}, All: true, Reason: "too large"}}}, ""},
		"another one could not be read":            {byID, model.Snapshot{Coverage: []model.Coverage{read("", "")}, Unread: []model.Unread{{Ref: model.Ref{Kind: grouped, ID: "p/b"}, Reason: "too large"}}}, ""},
		"one of another kind could not be read":    {byID, model.Snapshot{Coverage: []model.Coverage{read("", "")}, Unread: []model.Unread{{Ref: model.Ref{Kind: "test/Other", ID: "p/a"}, Reason: "too large"}}}, ""},
		"both of its kinds were read":              {either, model.Snapshot{Coverage: []model.Coverage{read(grouped, ""), read("test/Other", "")}}, ""},
		"its other kind was not read":              {either, model.Snapshot{Coverage: []model.Coverage{read(grouped, ""), failed("test/Other", "", "forbidden")}}, "forbidden"},
		"a claim that cannot be compared":          {sealed, model.Snapshot{Coverage: []model.Coverage{read("", "")}}, ""},
		"a claim with an ID has no doubt":          {unsure, model.Snapshot{Coverage: []model.Coverage{read("", "")}}, ""},
		"and what could not be read is not its ID": {unsure, model.Snapshot{Coverage: []model.Coverage{read("", "")}, Unread: []model.Unread{{Ref: model.Ref{Kind: grouped, ID: "p/b"}}}}, ""},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			tc.snapshot.Source = "s"
			d := model.Declaration{Name: "d", Governs: []string{"s"}, Claims: []model.Claim{tc.claim}}
			subjects := Match(tc.snapshot, []model.Declaration{d})
			if len(subjects) != 1 || subjects[0].Live != nil || subjects[0].Unread != tc.want {
				t.Errorf("got %q, want %q", subjects[0].Unread, tc.want)
			}
		})
	}
}

// TestMayBe decides whether a claim may mean a resource that could not be read, of which
// some identities are known.
func TestMayBe(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		claim, unread []string
		want          bool
	}{
		"nothing is known of either":                   {nil, nil, true},
		"nothing is known of the claim":                {nil, []string{"mac=A"}, true},
		"nothing is known of the resource":             {[]string{"mac=A"}, nil, true},
		"the surest identity is the same":              {[]string{"mac=A", "name=web"}, []string{"mac=A", "name=db"}, true},
		"the surest identity differs":                  {[]string{"mac=A"}, []string{"mac=B"}, false},
		"the surest differs, and a lesser is the same": {[]string{"mac=A", "name=web"}, []string{"mac=B", "name=web"}, true},
		"the surest differs, and a lesser is unknown":  {[]string{"mac=A", "name=web"}, []string{"mac=B"}, false},
		"the surest is unknown, and a lesser differs":  {[]string{"mac=A", "name=web"}, []string{"name=db"}, true},
		"one of two MAC addresses is the same":         {[]string{"mac=A", "mac=B"}, []string{"mac=B"}, true},
		"neither of two MAC addresses is the same":     {[]string{"mac=A", "mac=B"}, []string{"mac=C"}, false},
	} {
		c, u := &model.Claim{ClaimMatching: model.ClaimMatching{Identities: identities(tc.claim)}}, &model.Unread{Identities: identities(tc.unread)}
		if got := mayMatch(c, u); got != tc.want {
			t.Errorf("%s: got %t", reason, got)
		}
	}
}

// TestSureClaims has a resource that one claim names by its ID, and another one by an
// identity: only what the ID proves decides whether it is absent.
func TestSureClaims(t *testing.T) {
	t.Parallel()
	whole := []model.Coverage{{Source: "s", Complete: true}}
	for reason, tc := range map[string]struct {
		coverage []model.Coverage
		unread   []model.Unread
		tool     []model.Claim
		want     string
	}{
		"the ID alone":                                {whole, nil, []model.Claim{managed("5", "mac=A")}, ""},
		"another resource could not be read":          {whole, []model.Unread{{Ref: model.Ref{Kind: machine, ID: "9"}, Reason: "its node is down"}}, []model.Claim{managed("5", "mac=A")}, ""},
		"the resource could not be read":              {whole, []model.Unread{{Ref: model.Ref{Kind: machine, ID: "5"}, Reason: "its node is down"}}, []model.Claim{managed("5", "mac=A")}, "its node is down"},
		"the other kind of the inventory is not read": {[]model.Coverage{{Source: "s", Kind: machine, Complete: true}}, nil, []model.Claim{managed("5", "mac=A")}, ""},
		"no claim has the ID":                         {[]model.Coverage{{Source: "s", Kind: machine, Complete: true}}, nil, nil, "s has no kind " + container},
	} {
		snapshot := model.Snapshot{Source: "s", Coverage: tc.coverage, Unread: tc.unread}
		subjects := Match(snapshot, estate(tc.tool, []model.Claim{entry("x", "mac=A")}))
		if len(subjects) != 1 || subjects[0].Unread != tc.want {
			t.Errorf("%s: got %+v, want one subject with %q", reason, subjects, tc.want)
		}
	}
}

// TestClaimsBySource lists the sources in which a claim is made: those that its
// declaration governs, or the one that it names.
func TestClaimsBySource(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		governs []string
		source  string
		want    map[string]string
	}{
		"every governed source":         {[]string{"s", "t"}, "", map[string]string{"s": "live", "t": "live"}},
		"the source that it names":      {[]string{"s", "t"}, "t", map[string]string{"s": "unclaimed", "t": "live"}},
		"one governed source":           {[]string{"s"}, "", map[string]string{"s": "live", "t": "unclaimed"}},
		"a source that is not governed": {[]string{"s"}, "t", map[string]string{"s": "unclaimed", "t": "unclaimed"}},
		"no source":                     {nil, "", map[string]string{"s": "unclaimed", "t": "unclaimed"}},
		"a source that was not read":    {[]string{"u"}, "", map[string]string{"s": "unclaimed", "t": "unclaimed", "u": "refused"}},
		"named, and that was not read":  {[]string{"s", "u"}, "u", map[string]string{"s": "unclaimed", "t": "unclaimed", "u": "refused"}},
	} {
		snapshots := []model.Snapshot{model.NotRead("u", "refused")}
		for _, source := range []string{"t", "s"} {
			r := resource("p/a")
			r.Source = source
			snapshots = append(snapshots, model.Snapshot{Source: source, Resources: []model.Resource{r}, Coverage: []model.Coverage{{Source: source, Complete: true}}})
		}
		c := claim("d", "p/a")
		c.Source = tc.source
		got := map[string]string{}
		for _, s := range matchAll(snapshots, []model.Declaration{{Name: "d", Governs: tc.governs, Claims: []model.Claim{c}}}) {
			switch {
			case s.Live == nil:
				got[s.Source] = s.Unread
			case len(s.Claims) > 0:
				got[s.Source] = "live"
			default:
				got[s.Source] = "unclaimed"
			}
		}
		if diff := cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestCovers checks a claim that covers p/a without comparing it: its group of declarations is
// expected to have p/a no more, and the other group still is.
func TestCovers(t *testing.T) {
	t.Parallel()
	for reason, tc := range map[string]struct {
		inventory, elsewhere bool
		want                 [][]string
	}{
		"a tool covers it":                          {false, false, [][]string{{"inventory"}}},
		"an inventory covers it":                    {true, false, [][]string{{"tool"}}},
		"a tool covers something of another kind":   {false, true, [][]string{{"tool"}, {"inventory"}}},
		"an inventory covers another kind's object": {true, true, [][]string{{"tool"}, {"inventory"}}},
	} {
		covering := claim("covering", "p/b")
		covering.Covers = []model.Ref{{Kind: kind, ID: "p/a"}}
		if tc.elsewhere {
			covering.Covers[0].Kind = "test/Other"
		}
		declarations := []model.Declaration{
			{Name: "tool", Governs: []string{"s"}, Scopes: places("p")},
			{Name: "inventory", Governs: []string{"s"}, Scopes: places("p"), Inventory: true},
			{Name: "covering", Governs: []string{"s"}, Claims: []model.Claim{covering}, Inventory: tc.inventory},
		}
		snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a")}, Coverage: []model.Coverage{{Source: "s", Complete: true}}}
		if diff := cmp.Diff(tc.want, Match(snapshot, declarations)[0].UndeclaredBy); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestNamedPart names one of several unreadable parts that may declare a resource: that
// of the first declaration by name, and its first one by address.
func TestNamedPart(t *testing.T) {
	t.Parallel()
	broken := func(name string, addresses ...string) model.Declaration {
		d := model.Declaration{Name: name, Governs: []string{"s"}, Scopes: places("p")}
		for _, address := range addresses {
			d.Problems = append(d.Problems, model.Problem{Address: address, Reason: "broken " + address})
		}
		return d
	}
	snapshot := model.Snapshot{Source: "s", Resources: []model.Resource{resource("p/a")}}
	for reason, tc := range map[string]struct {
		declarations []model.Declaration
		want         model.Unjudged
	}{
		"one part":         {[]model.Declaration{broken("d", "x")}, model.Unjudged{Declaration: "d", Address: "x", Reason: "broken x", Expected: true}},
		"two parts":        {[]model.Declaration{broken("d", "y", "x")}, model.Unjudged{Declaration: "d", Address: "x", Reason: "broken x", Expected: true}},
		"two declarations": {[]model.Declaration{broken("e", "a"), broken("d", "x")}, model.Unjudged{Declaration: "d", Address: "x", Reason: "broken x", Expected: true}},
		"one of them can":  {[]model.Declaration{broken("e", "a"), broken("d")}, model.Unjudged{Declaration: "e", Address: "a", Reason: "broken a", Expected: true}},
	} {
		if diff := cmp.Diff(&tc.want, Match(snapshot, tc.declarations)[0].Unjudged); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}
