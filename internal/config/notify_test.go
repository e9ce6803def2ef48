package config_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/driftd/driftd/internal/config"
)

// notifying is a configuration with a declaration and two receivers; further lines of the
// notify section begin at line 5.
const notifying = minimal + "declarations: [{name: shop, type: manifests, governs: [prod]}]\nnotify:\n  receivers: [{name: ops, type: slack}, {name: mail, type: shoutrrr}]\n"

func TestNotifyProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason, content string
		want            []string
	}{
		"owners": {
			reason:  "somebody answers, and who comes first counts",
			content: minimal + "owners:\n- {match: {source: prod}}\n- {match: {owner: a}, owner: b}\n- {owner: c}\n- {match: {kind: Job.batch}, owner: d}\n",
			want: []string{
				`3: an owner rule without an owner: add one, as in owner: team-shop`,
				`4: an owner rule cannot match owners: remove owner from its match`,
				`6: this owner rule is never reached: the one on line 5 matches everything, move that to the end`,
			},
		},
		"match": {
			reason:  "a typo in a match would tell nobody",
			content: notifying + "  routes:\n  - match:\n      source: prdo\n      declaration: [shp, \"s*\"]\n      verdict: [chnged, in-sync]\n      severity: Critical\n      owner: team-sohp\n      kind: [\"\"]\n      resource: 'a\\'\n      lable: {a: b}\n    receivers: [ops]\nowners: [{match: {label: {a.b/c: \"[\"}}, owner: team-shop}]\n",
			want: []string{
				`4: receiver "mail" gets no notifications: add it to a route or remove it`,
				`7: match of an unknown source "prdo": did you mean "prod"?`,
				`8: match of an unknown declaration "shp": did you mean "shop"?`,
				`9: unknown verdict "chnged": did you mean "changed"?`,
				`9: unknown verdict "in-sync": want one of conflict, missing, changed, bypassed, disputed, undeclared, unmanaged, moved, nondeterministic, violated, pending-restart, pending, codified, unchecked`,
				`10: unknown severity "Critical": did you mean "critical"?`,
				`11: match of an unknown owner "team-sohp": did you mean "team-shop"?`,
				`12: an empty pattern: fill it or remove it`,
				`13: pattern "a\\": the brackets do not close, or the end is a backslash`,
				`14: unknown key "lable": did you mean "label"?`,
				`16: pattern "[": the brackets do not close, or the end is a backslash`,
			},
		},
		"severity rules": {
			reason: "a rule that can never fit, or that says nothing, is a mistake",
			content: minimal + "severity:\n- {match: {source: prdo}, set: low, reason: r}\n- {match: {source: prod}, set: lwo, reason: r}\n- {set: low, reason: r}\n" +
				"- {match: {kind: Job.batch}, set: low}\n- {match: {kind: Job.batch}, reason: r}\n- {match: {label: {a: b}, source: prod}, set: low, reason: r}\n" +
				"- {match: {path: x, verdict: [missing, unmanaged]}, set: low, reason: r}\n- {match: {verdict: gone, actor: \"\", labels: {a: \"[\"}, path: ['a\\']}, set: low, reason: r}\n" +
				"- {match: {source: \"*\"}, set: low, reason: r}\n- {match: {kind: Job.batch, path: x, actor: [a, b], namespace: n}, set: info, reason: r}\n" +
				"- {match: {check: [flux/suspended, \"[\"], older_than: -1h}, set: high, reason: r}\n",
			want: []string{
				`3: match of an unknown source "prdo": did you mean "prod"?`,
				`4: unknown severity "lwo": did you mean "low"?`,
				`5: a severity rule without a match would apply to everything: give it a source, kind, namespace, labels, path, verdict, actor, check or older_than`,
				`6: a severity rule without a reason: add one, as in reason: a sandbox`,
				`7: a severity rule without a severity: name it, as in set: low`,
				`8: unknown key "label": did you mean "labels"?`,
				`9: this rule can never match, because findings with the verdict missing or unmanaged have no fields: remove the path`,
				`10: an empty pattern: fill it or remove it`,
				`10: pattern "[": the brackets do not close, or the end is a backslash`,
				`10: pattern "a\\": the brackets do not close, or the end is a backslash`,
				`10: unknown verdict "gone": want one of conflict, missing, changed, bypassed, disputed, undeclared, unmanaged, moved, nondeterministic, violated, pending-restart, pending, codified, unchecked`,
				`12: this severity rule is never reached: the one on line 11 matches everything, move that to the end`,
				`13: older_than: want a duration that is not negative`,
				`13: pattern "[": the brackets do not close, or the end is a backslash`,
				`13: this severity rule is never reached: the one on line 11 matches everything, move that to the end`,
			},
		},
		"types of a match": {
			reason:  "a text is a list of one, and nothing else is",
			content: notifying + "  routes:\n  - {match: {source: prod}, receivers: [ops]}\n  - {match: prod, receivers: [ops]}\n  - {match: {source: 5, label: [a]}, receivers: [ops]}\n",
			want: []string{
				`4: receiver "mail" gets no notifications: add it to a route or remove it`,
				`7: match: want keys and values, got text`,
				`8: label: want keys and values, got a list`,
				`8: source: want a list, got a whole number`,
				`8: this route is never reached: the one on line 7 matches everything, move that to the end`,
			},
		},
		"routes": {
			reason:  "a route leads somewhere",
			content: notifying + "  routes:\n  - {match: {source: prod}}\n  - {match: {kind: \"*\"}, receivers: [osp, ops, ops], continue: true, repeat: -1h}\n  - {match: {source: \"*\", owner: [\"*\"]}, receivers: [ops], group_by: [cuase, kind]}\n  - {match: {severity: high}, receivers: [mail]}\n  -\n",
			want: []string{
				`6: a route without receivers: name them, as in receivers: [ops]`,
				`7: receiver "ops" twice: name it once`,
				`7: repeat: want a duration that is not negative`,
				`7: unknown receiver "osp": did you mean "ops"?`,
				`8: unknown group_by "cuase": did you mean "cause"?`,
				`9: this route is never reached: the one on line 8 matches everything, move that to the end`,
				`10: a route without receivers: name them, as in receivers: [ops]`,
				`10: an empty list item: fill it or remove the dash`,
				`10: this route is never reached: the one on line 8 matches everything, move that to the end`,
			},
		},
		"receivers": {
			reason:  "receivers have names, as sources do",
			content: minimal + "notify:\n  receivers:\n  - {name: ops, type: slack}\n  - {name: ops, type: slack}\n  - {name: mail}\n  - {type: webhook}\n  - {name: a b, type: webhook, setings: {}}\n",
			want: []string{
				`5: duplicate receiver name "ops": line 4 has it already`,
				`6: receiver "mail" has no type: add one, as in type: slack`,
				`7: a receiver without a name: give it one`,
				`8: receiver name "a b": want letters, digits, dots, dashes and underscores, a letter or digit first, at most 100`,
				`8: unknown key "setings": did you mean "settings"?`,
			},
		},
		"pace": {
			reason:  "times of day, timezones and rates are real ones",
			content: minimal + "notify:\n  receivers:\n  - name: ops\n    type: slack\n    rate: {messages: -1, per: 0}\n    timezone: Europe/Berln\n    digest: 9:00\n    quiet_hours:\n      from: \"24:00\"\n      to: seven\n      days: [monday, mno]\n      except: [worst]\n",
			want: []string{
				`6: messages: want a number from 0, which means no limit`,
				`6: per: want a duration above zero, such as 10m`,
				`7: unknown timezone "Europe/Berln": want a name such as Europe/Berlin or UTC`,
				`8: time of day "9:00": want one from 00:00 to 23:59, such as 09:00`,
				`10: time of day "24:00": want one from 00:00 to 23:59, such as 09:00`,
				`11: time of day "seven": want one from 00:00 to 23:59, such as 09:00`,
				`12: unknown day "mno": did you mean "mon"?`,
				`12: unknown day "monday": want one of sun, mon, tue, wed, thu, fri, sat`,
				`13: unknown severity "worst": want one of critical, high, medium, low, info`,
			},
		},
		"quiet hours": {
			reason:  "half of them, or none of the day, is a mistake",
			content: minimal + "notify:\n  receivers:\n  - {name: a, type: t, quiet_hours: {from: \"22:00\"}}\n  - {name: b, type: t, quiet_hours: {from: \"07:00\", to: \"07:00\"}}\n  - {name: c, type: t, quiet_hours: {except: [high]}}\n",
			want: []string{
				`4: quiet_hours: add the times, as in from: "22:00" and to: "07:00"`,
				`5: quiet hours from 07:00 to 07:00: the times must differ: change one, or remove quiet_hours`,
				`6: quiet_hours: add the times, as in from: "22:00" and to: "07:00"`,
			},
		},
		"notify": {
			reason:  "links go to people's browsers, and show no password",
			content: minimal + "notify: {url: \"https://ops:hunter2@driftd.example.org\", unchecked_after: -1m, group_window: -1m}\n",
			want: []string{
				`2: group_window: want a duration that is not negative`,
				`2: unchecked_after: want a duration that is not negative`,
				`2: url: want an address such as https://driftd.example.org, without a password and a query`,
			},
		},
		"triggers": {
			reason:  "a trigger without a secret is everybody's",
			content: notifying + "triggers:\n- {name: push, type: githb, secret_file: a, sources: [prdo], declarations: [shop, shop]}\n- {name: push, type: gitlab, secret: hunter2, min_interval: -1s}\n- {}\n",
			want: []string{
				`6: declaration "shop" twice: name it once`,
				`6: unknown source "prdo": did you mean "prod"?`,
				`6: unknown type "githb": did you mean "github"?`,
				`7: duplicate trigger name "push": line 6 has it already`,
				`7: min_interval: want a duration that is not negative`,
				`7: unknown key "secret": secrets do not belong in this file, write it to a file of its own and name that in "secret_file"`,
				`8: a trigger without a name and a type: give it both`,
				`8: a trigger without secret_file: name the file of its secret, unsigned requests are not accepted`,
			},
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := write(t, tt.content)
			_, err := config.Load(file, nil)
			if err == nil {
				t.Fatalf("%s: Load() gives no error", tt.reason)
			}
			checkProblems(t, tt.reason, file, err, tt.want)
		})
	}
}

// TestBrokenRoute calls a method on the configuration of a broken file, as config check does
// to report all problems at once.
func TestBrokenRoute(t *testing.T) {
	t.Parallel()
	c, err := config.Load(write(t, notifying+"  routes: [3, ~]\n"), nil)
	if err == nil || c == nil {
		t.Fatalf("Load() = %v, %v; want both", c, err)
	}
	for i, r := range c.Notify.Routes {
		if r.Repeat == nil {
			t.Errorf("route %d has no time to repeat", i)
		}
	}
}

func TestReceiverSettings(t *testing.T) {
	t.Parallel()
	c := load(t, minimal+"notify:\n  receivers:\n  - name: ops\n    type: slak\n    settings:\n      ulr: x\n")
	r := c.Notify.Receivers[0]
	if got := r.Where(); got != c.File+":4" {
		t.Errorf("Where() = %q", got)
	}
	var problems *config.Error
	if err := r.Decode(&settings{}); !errors.As(err, &problems) || err.Error() != c.File+`:7: unknown key "ulr": did you mean "url"?` {
		t.Errorf("Decode() = %v", err)
	}
	if err := r.UnknownType(r.Type, []string{"slack", "webhook"}); err == nil || err.Error() != c.File+`:5: unknown type "slak": did you mean "slack"?` {
		t.Errorf("UnknownType() = %v", err)
	}
}

func TestTimeOfDay(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want time.Duration
		ok   bool
	}{
		"00:00": {0, true}, "09:05": {9*time.Hour + 5*time.Minute, true}, "23:59": {24*time.Hour - time.Minute, true},
		"24:00": {}, "9:00": {}, "09:5": {}, "09:00:00": {}, "": {}, "0９:00": {}, "-9:00": {},
	}
	for text, tt := range tests {
		got, err := config.TimeOfDay(text)
		if got != tt.want || (err == nil) != tt.ok {
			t.Errorf("TimeOfDay(%q) = %v, %v", text, got, err)
		}
	}
}

func TestWeekdays(t *testing.T) {
	t.Parallel()
	q := config.QuietHours{Days: []string{"mon", "sun", "nyd", "sat"}}
	if diff := cmp.Diff([]time.Weekday{time.Monday, time.Sunday, time.Saturday}, q.Weekdays()); diff != "" {
		t.Errorf("Weekdays() (-want +got):\n%s", diff)
	}
}

func TestLocation(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want string
		ok   bool
	}{"": {time.Local.String(), true}, "UTC": {"UTC", true}, "Asia/Kathmandu": {"Asia/Kathmandu", true}, "../../etc/passwd": {}, "berlin": {}}
	for name, tt := range tests {
		r := config.Receiver{Timezone: name}
		got, err := r.Location()
		if (err == nil) != tt.ok || tt.ok && got.String() != tt.want {
			t.Errorf("Location() of %q = %v, %v", name, got, err)
		}
	}
}
