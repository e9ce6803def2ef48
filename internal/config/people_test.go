package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/config"
)

func TestLoadPeople(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, minimal+`people:
- {name: alice, unix: alice, login: al, oidc: alice@example.org, slack: U0123456789, kubernetes: "oidc:alice", proxmox: alice@pam}
- {name: Bob Müller, unix: "1002"}
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Person{
		{Name: "alice", Unix: "alice", Login: "al", OIDC: "alice@example.org", Slack: "U0123456789", Kubernetes: "oidc:alice", Proxmox: "alice@pam"},
		{Name: "Bob Müller", Unix: "1002"},
	}
	if diff := cmp.Diff(want, c.People); diff != "" {
		t.Errorf("people (-want +got):\n%s", diff)
	}
}

func TestPeopleProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, people string
		want           []string
	}{
		"two persons": {
			reason: "one identity is one person",
			people: "- {name: alice, login: al}\n- {name: bob, unix: bob}\n- {name: carol, login: al, unix: bob}\n",
			want: []string{
				`5: login "al" belongs to two persons: line 3 has it already, keep one`,
				`5: unix "bob" belongs to two persons: line 4 has it already, keep one`,
			},
		},
		"same name": {
			reason: "one person has one entry",
			people: "- {name: alice, login: al}\n- {name: alice, unix: alice}\n",
			want:   []string{`4: duplicate person name "alice": line 3 has it already`},
		},
		"different kinds": {
			reason: "a login and a Unix user of one name may belong to different people",
			people: "- {name: alice, login: ops}\n- {name: bob, unix: ops, login: 3}\n",
			want:   []string{`4: login: want text (put it in quotes), got a whole number`},
		},
		"no person": {
			reason: "root is several people, and nobody is none",
			people: "- {name: alice, unix: root}\n- {name: bob, unix: nobody}\n- {name: carol, unix: \"0\"}\n- {name: dave, unix: \"65534\"}\n",
			want: []string{
				`3: unix of person "alice": root is not one person: name the user who logs in, sudo keeps it`,
				`4: unix of person "bob": nobody is not one person: name the user who logs in, sudo keeps it`,
				`5: unix of person "carol": the user ID 0 is not one person: name the user who logs in, sudo keeps it`,
				`6: unix of person "dave": the user ID 65534 is not one person: name the user who logs in, sudo keeps it`,
			},
		},
		"no identity": {
			reason: "an entry without an identity has no effect",
			people: "- {name: alice}\n- {unix: bob}\n- {nam: carol, unix: carol}\n",
			want: []string{
				`3: person "alice" without an identity: set one of unix, login, oidc, slack, kubernetes, proxmox`,
				`4: a person without a name: give it one, decisions record it`,
				`5: unknown key "nam": did you mean "name"?`,
			},
		},
		"proxmox": {
			reason: "a user is compared with the log without the name of a token, and has a realm",
			people: "- {name: alice, proxmox: alice}\n- {name: bob, proxmox: \"bob@pve!cli\"}\n",
			want: []string{
				`3: proxmox of person "alice": want a user with the realm, such as alice@pam`,
				`4: proxmox of person "bob": want a user, such as alice@pam, without the name of a token: the tokens of a user count as the user`,
			},
		},
		"names": {
			reason: "colons and parentheses mark identities that belong to no person",
			people: "- {name: \"unix:root\", login: a}\n- {name: carol, slack: carol}\n",
			want: []string{
				`3: person name "unix:root": want at most 200 bytes of printable text without colons and parentheses`,
				`4: slack of person "carol": want a member ID, such as U0123456789; use "Copy member ID" in a member's profile`,
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, minimal+"people:\n"+tt.people)
			_, err := config.Load(file, nil)
			checkProblems(t, tt.reason, file, err, tt.want)
		})
	}
}
