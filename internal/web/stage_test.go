package web

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/access"
)

// stage is a Stage with two acts.
type stage struct {
	mu   sync.Mutex
	done bool
}

func (s *stage) Acts() []Act {
	s.mu.Lock()
	defer s.mu.Unlock()
	return []Act{{ID: "firewall", Title: "Somebody opens the firewall", Detail: "carol@pve lets everybody reach the database.", Done: s.done},
		{ID: "broken", Title: "Something that fails", Detail: "<script>"}}
}

func (s *stage) Do(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id == "broken" {
		return errors.New("it fails")
	}
	s.done = !s.done
	return nil
}

func (s *stage) Messages() []Message {
	return []Message{
		{At: earlier(time.Minute), Channel: "#oncall", Reply: true, Edited: true, Parts: []Part{{Kind: Section, Text: "_resolved_"}}},
		{At: earlier(3 * time.Minute), Channel: "#oncall", Parts: []Part{
			{Kind: Header, Text: "1 critical: qemu 104 (db-01) &lt;changed&gt;"},
			{Kind: Section, Text: "*critical* `firewall-rules` <http://localhost:9797/findings/f17e0a11|qemu/104> <javascript:alert(1)|click>\n```a\n<script>```"},
			{Kind: Divider}, {Kind: Buttons, Buttons: []string{"Acknowledge", "<script>"}}}},
	}
}

func TestStage(t *testing.T) {
	t.Parallel()
	h := stagedHouse(t)
	token := url.Values{"csrf": {"t0ken"}}
	for _, tc := range []struct {
		reason, act string
		role        access.Role
		form        url.Values
		status      int
		done        bool
	}{
		{"a viewer breaks nothing", "firewall", access.Viewer, token, http.StatusForbidden, false},
		{"nor does a page of somebody else", "firewall", access.Operator, url.Values{}, http.StatusForbidden, false},
		{"an act is done", "firewall", access.Operator, token, http.StatusSeeOther, true},
		{"there is no other", "nothing", access.Operator, token, http.StatusNotFound, true},
		{"one that fails says so", "broken", access.Operator, token, http.StatusInternalServerError, true},
		{"and is undone", "firewall", access.Operator, token, http.StatusSeeOther, false},
	} {
		answer := h.ask(t, tc.role, http.MethodPost, "/stage/"+tc.act, tc.form)
		if answer.StatusCode != tc.status || h.Stage.Acts()[0].Done != tc.done {
			t.Errorf("%s: %s, done %v", tc.reason, answer.Status, h.Stage.Acts()[0].Done)
		}
	}
	if !strings.Contains(h.page(t, "/"), "driftd simulates Proxmox") {
		t.Error("a page lacks the notice that the systems are stand-ins")
	}
	if bare := newHouse(t, filled(t), nil); bare.ask(t, access.Approver, http.MethodGet, "/stage", nil).StatusCode != http.StatusNotFound {
		t.Error("a real estate has a stage")
	}
}

func TestReadMarks(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, text string
		want         []bit
	}{
		"bold":        {"a mark stands beside what is no word", "a *b* c", []bit{{Text: "a "}, {Text: "b", Bold: true}, {Text: " c"}}},
		"in a word":   {"within a word it is a character", "snake_case_name 2*3*4", []bit{{Text: "snake_case_name 2*3*4"}}},
		"never ended": {"what does not end does not begin", "*a b", []bit{{Text: "*a b"}}},
		"nested":      {"styles add up", "*a _b_*", []bit{{Text: "a ", Bold: true}, {Text: "b", Bold: true, Italic: true}}},
		"strike":      {"what is over", "~a~", []bit{{Text: "a", Strike: true}}},
		"code":        {"nothing counts in code", "`*a* <b>`", []bit{{Text: "*a* <b>", Code: true}}},
		"block":       {"nor in a block", "```\n*a*\n&lt;b\n```", []bit{{Text: "*a*\n<b", Pre: true}}},
		"lines":       {"lines end where they do", "a\nb", []bit{{Text: "a"}, {Break: true}, {Text: "b"}}},
		"link":        {"a link leads over http", "<https://example.org/?a=1&amp;b=2|here>", []bit{{Text: "here", URL: "https://example.org/?a=1&b=2"}}},
		"bare link":   {"an address may stand for itself", "<http://example.org>", []bit{{Text: "http://example.org", URL: "http://example.org"}}},
		"page":        {"or to a page of ours", "</findings/1|one>", []bit{{Text: "one", URL: "/findings/1"}}},
		"script":      {"and nowhere else", "<javascript:alert(1)|one> <//evil.example.org|two> <data:text/html,x|three>", []bit{{Text: "one"}, {Text: " "}, {Text: "two"}, {Text: " "}, {Text: "three"}}},
		"date":        {"a date is written out", "<!date^1763607600^{date_short} {time}|then>", []bit{{Text: "20 Nov 2025 03:00 UTC"}}},
		"bad date":    {"one that is none is its words", "<!date^x^y|then>", []bit{{Text: "then"}}},
		"mention":     {"a mention is text", "<!here> <@U1|bob>", []bit{{Text: "!here"}, {Text: " "}, {Text: "bob"}}},
		"entities":    {"three characters are escaped", "&lt;&gt;&amp;lt;", []bit{{Text: "<>&lt;"}}},
		"emoji":       {"a few emoji are known", ":warning: :nothing: 10:30", []bit{{Text: "⚠ :nothing: 10:30"}}},
		"hostile":     {"what does not show is written out", "a\u202eb", []bit{{Text: `a\u202eb`}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, readMarks(tc.text, now())); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

// FuzzReadMarks verifies that links lead only to http, https or a page of this site, and that no
// text is lost except markup.
func FuzzReadMarks(f *testing.F) {
	for _, s := range []string{"*a* _b_ ~c~ `d` ```e```", "<a|b>", "<!date^1^{time}|x>", "&lt;:x:", "<//a|b>", "</\\a>", "*\n*", "```"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, b := range readMarks(s, now()) {
			if b.URL != "" && !strings.HasPrefix(b.URL, "http://") && !strings.HasPrefix(b.URL, "https://") && (!strings.HasPrefix(b.URL, "/") || access.LocalPath(b.URL) != b.URL) {
				t.Errorf("%q leads to %q", s, b.URL)
			}
			if strings.ContainsAny(b.Text, "\u202e\x00\x1b") {
				t.Errorf("%q shows %q", s, b.Text)
			}
		}
	})
}
