package access

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func testPeople() *People {
	return NewPeople([]Person{
		{Name: "alice", Unix: "alice", Login: "al", OIDC: "alice@example.org", Slack: "U012345"},
		{Name: "bob", Unix: "1002"},
		{Name: "carol", Unix: "carol"},
		{Name: "dave", Unix: "1003"},
	})
}

func TestRecognize(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		ids    []Identity
		want   Visitor
	}{
		"unix name":      {"a user is listed by name", UnixIdentities(1001, "alice"), Visitor{Person: "alice"}},
		"user ID":        {"a user is listed by user ID", UnixIdentities(1002, "robert"), Visitor{Person: "bob"}},
		"no name":        {"a user of a directory service has no name in /etc/passwd", UnixIdentities(1002, ""), Visitor{Person: "bob"}},
		"numeric name":   {"a user who is called 1002 is not the user with this ID", UnixIdentities(1009, "1002"), Visitor{Unmapped: "unix:1009"}},
		"two persons":    {"name and ID belong to different persons", UnixIdentities(1003, "carol"), Visitor{Unmapped: "unix:carol"}},
		"unlisted":       {"the user has the name of a person, but is not listed", UnixIdentities(1004, "bob"), Visitor{Unmapped: "unix:bob"}},
		"unknown":        {"a user without a name keeps the ID", UnixIdentities(1004, ""), Visitor{Unmapped: "unix:1004"}},
		"root":           {"root is several people", UnixIdentities(0, "root"), Visitor{Unmapped: "unix:root"}},
		"toor":           {"so is a second name of root", UnixIdentities(0, "alice"), Visitor{Unmapped: "unix:root"}},
		"overflow":       {"the kernel reports it for each user that it cannot map", UnixIdentities(65534, "alice"), Visitor{Unmapped: "unix:65534"}},
		"invalid":        {"no user has this ID", UnixIdentities(4294967295, "alice"), Visitor{Unmapped: "unix:4294967295"}},
		"login":          {"the name of a login", []Identity{{LoginName, "al"}}, Visitor{Person: "alice"}},
		"another login":  {"a person's name is no login", []Identity{{LoginName, "alice"}}, Visitor{Unmapped: "login:alice"}},
		"OpenID":         {"the name from the provider", []Identity{{OIDCName, "alice@example.org"}}, Visitor{Person: "alice"}},
		"another kind":   {"a name counts for its kind only", []Identity{{LoginName, "alice@example.org"}}, Visitor{Unmapped: "login:alice@example.org"}},
		"case":           {"names are compared exactly", []Identity{{OIDCName, "Alice@example.org"}}, Visitor{Unmapped: "oidc:Alice@example.org"}},
		"Slack":          {"the ID of the member", []Identity{{SlackMember, "U012345"}}, Visitor{Person: "alice"}},
		"unlisted Slack": {"another member", []Identity{{SlackMember, "U0"}}, Visitor{Unmapped: "slack:U0"}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tt.want, testPeople().Recognize(Visitor{}, tt.ids...)); diff != "" {
				t.Errorf("%s: Recognize() (-want +got):\n%s", tt.reason, diff)
			}
			for reason, empty := range map[string]*People{"nil": nil, "no entries": NewPeople(nil)} {
				if got := empty.Recognize(Visitor{Name: "x"}, tt.ids...); got != (Visitor{Name: "x"}) {
					t.Errorf("%s: Recognize() = %+v, want no change", reason, got)
				}
			}
		})
	}
}

func TestAuthor(t *testing.T) {
	t.Parallel()
	for want, v := range map[string]Visitor{
		"alice":     {Name: "al", Person: "alice"},
		"unix:root": {Name: "root", Unmapped: "unix:root"},
		"root":      {Name: "root"},
	} {
		if got := v.Author(); got != want {
			t.Errorf("Author() of %+v = %q, want %q", v, got, want)
		}
	}
}

func TestCheckIdentity(t *testing.T) {
	t.Parallel()
	tests := map[Identity]string{
		{UnixUser, "alice"}:           "",
		{UnixUser, "1001"}:            "",
		{UnixUser, "65533"}:           "",
		{UnixUser, "root"}:            "root is not one person",
		{UnixUser, "nobody"}:          "nobody is not one person",
		{UnixUser, "0"}:               "user ID 0 is not one person",
		{UnixUser, "65534"}:           "user ID 65534 is not one person",
		{UnixUser, "4294967295"}:      "user ID 4294967295 is not one person",
		{UnixUser, "4294967296"}:      "without leading zeros",
		{UnixUser, "01001"}:           "without leading zeros",
		{UnixUser, " alice"}:          "printable text",
		{LoginName, "root"}:           "",
		{LoginName, "a\nb"}:           "printable text",
		{OIDCName, "a@example.org"}:   "",
		{SlackMember, "U0123456789"}:  "",
		{SlackMember, "W0123456789"}:  "",
		{SlackMember, "alice"}:        "want a member ID",
		{SlackMember, "C0123456789"}:  "want a member ID",
		{SlackMember, "U01234-56789"}: "want a member ID",
		{ProxmoxUser, "alice@pam"}:    "",
		{ProxmoxUser, "a@b.org@ldap"}: "",
		{ProxmoxUser, "alice"}:        "with the realm",
		{ProxmoxUser, "@pam"}:         "with the realm",
		{ProxmoxUser, "alice@"}:       "with the realm",
		{ProxmoxUser, "alice@pam!ci"}: "without the name of a token",
	}
	for id, want := range tests {
		err := id.Check()
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Check() of %q = %v, want %q", id, err, want)
		}
	}
	for name, ok := range map[string]bool{"alice": true, "Alice Müller": true, "": false, "unix:root": false, "Alice (U0)": false, " alice": false, "root": false, "driftd": false, "somebody on this host": false, "a\u202eb": false} {
		if err := CheckPersonName(name); (err == nil) != ok {
			t.Errorf("CheckPersonName(%q) = %v", name, err)
		}
	}
}

// TestPeopleOfGate checks which identity each authentication method uses, and that roles go by the
// name and not by the person.
func TestPeopleOfGate(t *testing.T) {
	t.Parallel()
	people := NewPeople([]Person{{Name: "Alice", Login: "alice", OIDC: "alice@example.org"}})
	h := withUsers(t, Options{Roles: Roles{Operator: []string{"alice"}, Approver: []string{"Alice"}}, People: func() *People { return people },
		Proxy: ReverseProxy{Trusted: []string{"10.0.0.0/8"}, UserHeader: "X-User", GroupsHeader: "X-Groups", GroupsSeparator: ","}})
	cookie := named(t, h.login(get(), "alice", "open sesame"), sessionCookie)
	if got, _ := h.who(get(cookie), false); got != (Visitor{Name: "alice", Role: Operator, Via: Session, Person: "Alice"}) {
		t.Errorf("a session = %+v", got)
	}
	if seen := h.identified(get(cookie)); !h.Still(seen.Context()) {
		t.Error("the session of a person ended")
	}
	basic := get()
	basic.SetBasicAuth("alice", "open sesame")
	if got, _ := h.who(basic, false); got != (Visitor{Name: "alice", Role: Operator, Via: Password, Person: "Alice"}) {
		t.Errorf("a password = %+v", got)
	}
	if seen := h.identified(basic); !h.Still(seen.Context()) {
		t.Error("the password of a person became invalid")
	}
	proxied := request("GET", "/", "10.0.0.7:1", []string{"X-User: bob"})
	if got, _ := h.who(proxied, false); got != (Visitor{Name: "bob", Role: Nobody, Via: Proxy, Unmapped: "login:bob"}) {
		t.Errorf("a proxy = %+v", got)
	}
	w := httptest.NewRecorder()
	h.begin(w, get(), session{name: "alice@example.org"})
	if got, _ := h.who(get(named(t, kept(w), sessionCookie)), false); got != (Visitor{Name: "alice@example.org", Role: Nobody, Via: Session, Person: "Alice"}) {
		t.Errorf("a session from the OpenID provider = %+v", got)
	}
	people = NewPeople(nil)
	if got, _ := h.who(get(cookie), false); got.Person != "" || got.Unmapped != "" {
		t.Errorf("after a reload without people a session = %+v", got)
	}
}
