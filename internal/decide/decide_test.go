package decide_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/decide"
	"github.com/driftd/driftd/internal/model"
	"github.com/driftd/driftd/internal/timeparse"
)

func now() time.Time { return time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC) }

// random is a source of IDs that everybody can predict.
func random() io.Reader { return bytes.NewReader(bytes.Repeat([]byte{0xab}, 60)) }

func drifted() model.Finding {
	return model.Finding{ID: "f00d01", Verdict: model.Changed, Basis: "abc", Declaration: "shop",
		Key: model.Key{Source: "prod", Kind: "kubernetes/Service", ID: "shop/web"}}
}

func TestMake(t *testing.T) {
	t.Parallel()
	accept := decide.Request{Kind: model.Accept, Reason: " sale ", Owner: "team-shop", By: "alice", Via: "command line", Until: " 1d "}
	want := model.Decision{ID: "abababababab", Kind: model.Accept, Finding: "f00d01", Basis: "abc",
		Subject: model.Target{Key: drifted().Key, Declaration: "shop", Verdict: model.Changed},
		Reason:  "sale", Owner: "team-shop", By: "alice", At: now(), Via: "command line", Until: now().Add(timeparse.Day)}
	forever, ack := want, want
	forever.Until = time.Time{}
	ack.Kind, ack.Reason, ack.Owner = model.Acknowledge, "", ""
	for name, tc := range map[string]struct {
		reason   string
		findings []model.Finding
		request  func(r *decide.Request)
		want     []model.Decision
	}{
		"accept":  {"a decision pins what the finding shows", []model.Finding{drifted()}, func(*decide.Request) {}, []model.Decision{want}},
		"forever": {"only when it was said", []model.Finding{drifted()}, func(r *decide.Request) { r.Until = "forever" }, []model.Decision{forever}},
		"twice":   {"naming one finding twice decides once", []model.Finding{drifted(), drifted()}, func(*decide.Request) {}, []model.Decision{want}},
		"acknowledge": {"who is on it need not say for how long", []model.Finding{drifted()},
			func(r *decide.Request) {
				*r = decide.Request{Kind: model.Acknowledge, By: "alice", Via: "command line"}
			}, []model.Decision{ack}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := accept
			tc.request(&r)
			got, err := decide.Make(tc.findings, r, now(), random())
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if f := drifted(); !got[0].Holds(&f, now()) {
				t.Errorf("the decision does not hold for the finding that it was made about")
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	resolved, old := drifted(), drifted()
	resolved.Resolved, old.Basis = now(), ""
	accept := decide.Request{Kind: model.Accept, Reason: "sale", Owner: "team-shop", By: "alice", Until: "1d"}
	snooze := decide.Request{Kind: model.Snooze, By: "alice", Until: "1h"}
	for name, tc := range map[string]struct {
		reason   string
		request  decide.Request
		change   func(r *decide.Request)
		findings []model.Finding
		want     string
	}{
		"kind":           {reason: "the kinds are a closed list", request: accept, change: func(r *decide.Request) { r.Kind = "mute" }, want: `unknown decision "mute"`},
		"nobody":         {reason: "somebody decides", request: accept, change: func(r *decide.Request) { r.By = "" }, want: "nobody is named"},
		"reason":         {reason: "nothing is accepted without a word", request: accept, change: func(r *decide.Request) { r.Reason = " \n" }, want: "wants a reason"},
		"placeholder":    {reason: "a copied command is no decision", request: accept, change: func(r *decide.Request) { r.Reason = " … " }, want: "the reason is a placeholder: …"},
		"no one":         {reason: "a copied command is no decision", request: accept, change: func(r *decide.Request) { r.Owner = "OWNER" }, want: "the owner is a placeholder: OWNER"},
		"snoozed":        {reason: "a copied command is no decision", request: accept, change: func(r *decide.Request) { r.Kind, r.Reason = model.Snooze, "..." }, want: "the reason is a placeholder: ..."},
		"owner":          {reason: "somebody answers for it", request: accept, change: func(r *decide.Request) { r.Owner = "" }, want: "wants an owner"},
		"long":           {reason: "a reason is no book", request: accept, change: func(r *decide.Request) { r.Reason = strings.Repeat("x", 2001) }, want: "too long"},
		"no end":         {reason: "nothing is forever unsaid", request: accept, change: func(r *decide.Request) { r.Until = " " }, want: "wants an end"},
		"no time":        {reason: "christmas is whose?", request: accept, change: func(r *decide.Request) { r.Until = "christmas" }, want: `until "christmas": want a date`},
		"no length":      {reason: "time does not run backwards, and forever is no way out", request: snooze, change: func(r *decide.Request) { r.Until = "-1h" }, want: "want a date such as 2026-12-24, or how long as in 30d or 4h"},
		"past":           {reason: "an end that was", request: accept, change: func(r *decide.Request) { r.Until = now().Format(time.RFC3339) }, want: "ended already"},
		"far":            {reason: "a mistyped year", request: accept, change: func(r *decide.Request) { r.Until = "2226-11-20" }, want: "over 5 years away"},
		"snooze end":     {reason: "a snooze wants one", request: snooze, change: func(r *decide.Request) { r.Until = "" }, want: "a snooze wants an end"},
		"snooze forever": {reason: "that would be an acceptance", request: snooze, change: func(r *decide.Request) { r.Until = "forever" }, want: "only an acceptance"},
		"long snooze":    {reason: "that would be an acceptance", request: snooze, change: func(r *decide.Request) { r.Until = "91d" }, want: "at most 90 days"},
		"resolved":       {reason: "what is over needs no decision", request: accept, findings: []model.Finding{drifted(), resolved}, want: "f00d01 is over since 2026-11-20T09:00:00Z"},
		"no basis":       {reason: "nothing would pin it", request: accept, findings: []model.Finding{old}, want: "older driftd"},
		"nothing":        {reason: "it must be about something", request: accept, findings: []model.Finding{}, want: "no finding is named"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if tc.findings == nil {
				tc.findings = []model.Finding{drifted()}
			}
			if tc.change != nil {
				tc.change(&tc.request)
			}
			made, err := decide.Make(tc.findings, tc.request, now(), random())
			var refusal *decide.Refusal
			if !errors.As(err, &refusal) || !strings.Contains(err.Error(), tc.want) || refusal.Hint == "" || made != nil {
				t.Errorf("%s: Make() = %v, %v; want a refusal with %q and a hint", tc.reason, made, err, tc.want)
			}
		})
	}
}

func TestNoRandomness(t *testing.T) {
	t.Parallel()
	r := decide.Request{Kind: model.Acknowledge, By: "alice"}
	if _, err := decide.Make([]model.Finding{drifted()}, r, now(), strings.NewReader("abc")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("Make() without randomness: %v, want an error", err)
	}
}

// TestEndsOverSummerTime holds that an end does not depend on the place of who decides, nor
// on what its clocks do: days have 24 hours, and dates end in UTC.
func TestEndsOverSummerTime(t *testing.T) {
	t.Parallel()
	for zone, at := range map[string]time.Time{
		"Europe/Berlin":       time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC),
		"America/New_York":    time.Date(2026, 10, 31, 12, 0, 0, 0, time.UTC),
		"Australia/Lord_Howe": time.Date(2026, 4, 4, 12, 0, 0, 0, time.UTC),
	} {
		place, err := time.LoadLocation(zone)
		if err != nil {
			t.Fatal(err)
		}
		date := at.Add(timeparse.Day).Format(time.DateOnly)
		for text, want := range map[string]time.Time{"1d": at.Add(timeparse.Day), date: at.Truncate(timeparse.Day).Add(2*timeparse.Day - 1)} {
			end, err := decide.ParseUntil(text, at.In(place))
			if err != nil || !end.Equal(want) {
				t.Errorf("%s: %q ends at %s, want %s: %v", zone, text, end, want, err)
			}
		}
	}
}

func TestParseUntil(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 12, 24, 23, 59, 59, 999999999, time.UTC)
	for name, tc := range map[string]struct {
		reason, text string
		want         time.Time
		fails, file  bool
	}{
		"date":     {reason: "the day itself still counts", text: "2026-12-24", want: day, file: true},
		"time":     {reason: "in any zone", text: "2026-12-24T18:00:00+01:00", want: time.Date(2026, 12, 24, 17, 0, 0, 0, time.UTC), file: true},
		"forever":  {reason: "said in words", text: "forever", file: true},
		"days":     {reason: "from now on", text: " 30d ", want: now().Add(30 * timeparse.Day)},
		"hours":    {reason: "from now on", text: "4h", want: now().Add(4 * time.Hour)},
		"empty":    {reason: "silence is not forever", text: "", fails: true},
		"past":     {reason: "time goes on", text: "-4h", fails: true},
		"zero":     {reason: "now is no end", text: "0", fails: true},
		"year one": {reason: "the zero time means never", text: "0001-01-01T00:00:00Z", fails: true},
		"word":     {reason: "christmas is whose?", text: "christmas", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := decide.ParseUntil(tc.text, now())
			if (err != nil) != tc.fails || !got.Equal(tc.want) {
				t.Errorf("%s: ParseUntil(%q) = %v, %v", tc.reason, tc.text, got, err)
			}
			end, err := decide.ParseEnd(tc.text)
			if (err == nil) != tc.file {
				t.Errorf("ParseEnd(%q) = %v, want it read: %v", tc.text, err, tc.file)
			}
			if again, _ := decide.ParseEnd(decide.FormatEnd(end)); tc.file && !again.Equal(end) {
				t.Errorf("%q is written as %s, and read as %v", tc.text, decide.FormatEnd(end), again)
			}
		})
	}
}

func TestIsPlaceholder(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{"…": true, " ...": true, "REASON": true, "<reason>": true, "OWNER": true, "...…": true,
		"": false, "owner": false, "see …": false, "the reason": false, "v1.2": false, "reason": false, "-": false} {
		if got := decide.IsPlaceholder(text); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}
