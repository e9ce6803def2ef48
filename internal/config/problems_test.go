package config_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/driftd/driftd/internal/config"
)

func TestProblems(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		content string
		// want are the lines of the error, each without the file's name.
		want []string
	}{
		"unknown key": {
			reason:  "a typo is found with the nearest right key",
			content: minimal + "shedule: {every: 5m}\n",
			want:    []string{`2: unknown key "shedule": did you mean "schedule"?`},
		},
		"sizes": {
			reason: "a scan has a minimum of memory, and a maximum of the total",
			content: "max_memory: 256MiB\nschedule: {max_memory: 1KiB}\nsources:\n- {name: a, type: kubernetes, max_memory: 1GiB}\n" +
				"- {name: b, type: kubernetes, max_memory: lots}\n- {name: c, type: kubernetes, max_memory: -5}\n",
			want: []string{
				"2: max_memory: want 16 MiB or more",
				"4: max_memory: 1.0 GiB is more than the total of 256 MiB that max_memory at the top of the file allows: raise that too",
				"5: max_memory: want a size such as 512MiB, or a number of bytes",
				"6: max_memory: want 16 MiB or more",
			},
		},
		"links": {
			reason: "addresses of web pages have placeholders that exist, and lead nowhere else",
			content: "sources:\n- name: cloud\n  type: openstack\n  links:\n  - {kind: '[', url: 'https://x.example.org/{id}'}\n  - {url: 'javascript:alert({id})'}\n" +
				"declarations:\n- {name: shop, type: manifests, governs: [cloud], link: 'https://x.example.org/{id}'}\n",
			want: []string{"5: [: not a pattern", "6: javascript:alert({id}): want an address that begins with https:// and a host",
				"8: https://x.example.org/{id}: unknown placeholder {id}: want {commit}, {path}, {line}"},
		},
		"unknown key far off": {
			reason:  "without a near key all of them are named",
			content: minimal + "log: {destination: red}\n",
			want:    []string{`2: unknown key "destination": want one of format, level`},
		},
		"upper case": {
			reason:  "keys are case-sensitive",
			content: minimal + "State_Dir: x\n",
			want:    []string{`2: unknown key "State_Dir": did you mean "state_dir"?`},
		},
		"unknown key without a value": {
			reason:  "an unknown key without a value is reported as well",
			content: minimal + "shedule:\n",
			want:    []string{`2: unknown key "shedule": did you mean "schedule"?`},
		},
		"deep unknown keys": {
			reason:  "keys within lists are checked, and all problems are reported at once",
			content: "sources:\n- name: prod\n  type: kubernetes\n  evry: 5m\n- name: edge\n  typ: kubernetes\n",
			want: []string{
				`4: unknown key "evry": did you mean "every"?`,
				`6: unknown key "typ": did you mean "type"?`,
			},
		},
		"misspelt name": {
			reason:  "references to the name are not reported",
			content: "sources:\n- {nam: prod, type: kubernetes}\ndeclarations:\n- {name: shop, type: manifests, governs: [prod]}\nignore:\n- {source: prod, reason: r}\n",
			want:    []string{`2: unknown key "nam": did you mean "name"?`},
		},
		"malformed name": {
			reason:  "references to the intended name are not reported",
			content: "sources:\n- {name: p rod, type: kubernetes}\nowners:\n- {match: {source: [prod]}, owner: a}\n",
			want:    []string{`2: source name "p rod": want letters, digits, dots, dashes and underscores, a letter or digit first, at most 100`},
		},
		"misspelt list": {
			reason:  "the names in it are unknown",
			content: "surces:\n- {name: prod, type: kubernetes}\ndeclarations:\n- {name: shop, type: manifests, governs: [prod]}\n",
			want:    []string{`1: unknown key "surces": did you mean "sources"?`},
		},
		"misspelt receiver": {
			reason:  "a route that names it is not reported",
			content: minimal + "notify:\n  receivers: [{nam: ops, type: slack}]\n  routes: [{receivers: [ops]}]\n",
			want:    []string{`3: unknown key "nam": did you mean "name"?`},
		},
		"misspelt owner": {
			reason:  "a route for the owner is not reported",
			content: minimal + "owners: [{ownr: shop}]\nnotify:\n  receivers: [{name: ops, type: slack}]\n  routes: [{match: {owner: [shop]}, receivers: [ops]}]\n",
			want:    []string{`2: unknown key "ownr": did you mean "owner"?`},
		},
		"reconcile": {
			reason: "a rule that would do more than its author wants is refused",
			content: minimal + `reconcile:
  writers: [{source: prod}, {source: prod}, {source: nowhere}]
  rules:
    - {name: a, mode: auto}
    - {name: a, mode: aproove, changes: declared, match: {kind: kubernetes/*}}
    - {mode: approve, match: {kind: kubernetes/*}, approvals: 0, share: 101, max_age: 0}
  freezes:
    - {reason: x}
    - {from: "22:00", to: "06:00"}
    - {from: "22:00", to: "22:00", reason: x}
    - {from: "22:00", reason: x}
    - {from: "22:00", to: "6", days: [fry], timezone: Mars, sources: [prdo], reason: x}
`,
			want: []string{`3: a second writer of source "prod": keep one`, `3: writer of an unknown source "nowhere": want one of prod`,
				`5: a rule with mode auto that matches everything: give it a match`, `6: duplicate rule name "a"`,
				`6: this rule is never reached: the one on line 5 matches everything, move that to the end`,
				`6: unknown mode "aproove": did you mean "approve"?`, `6: unknown side "declared": want one of live, declaration`, `7: a rule without a name: give it one, actions record it`,
				`7: approvals: want a number from 1`, `7: max_age: want a duration above zero, such as 1h`,
				`7: share: want a percentage from 0 to 100`,
				`7: this rule is never reached: the one on line 5 matches everything, move that to the end`,
				`9: a freeze without times and days never ends: set them, or the mode of the rules to off`,
				`10: a freeze without a reason: give one, refusals have it`,
				`11: freeze from 22:00 to 22:00: the times must differ: change one, or remove freeze`,
				`12: freeze: add the times, as in from: "22:00" and to: "07:00"`,
				`13: time of day "6": want one from 00:00 to 23:59, such as 09:00`, `13: unknown day "fry": did you mean "fri"?`,
				`13: unknown source "prdo": did you mean "prod"?`, `13: unknown timezone "Mars": want a name such as Europe/Berlin or UTC`},
		},
		"useless rules": {
			reason: "a rule that allows no action is refused",
			content: minimal + `people: [{name: alice, login: alice}]
reconcile:
  rules:
    - {name: a, mode: approve, match: {kind: kubernetes/*}, approvals: 2}
    - {name: b, mode: auto, match: {verdict: [pending, changed]}, min_age: 2h, max_age: 1h}
    - {name: c, mode: suggest, match: {verdict: pending}}
`,
			want: []string{`5: a rule that needs the approval of 2 persons, and people has 1: add them to people`,
				`5: a rule with mode approve whose sources have no writer: add one to reconcile.writers, or set mode suggest`,
				`6: a rule with mode auto whose sources have no writer: add one to reconcile.writers, or set mode suggest`,
				`6: min_age 2h0m0s is not below max_age 1h0m0s: such a rule carries nothing out without a person`,
				`6: pending findings are never put back: want one of changed, undeclared, bypassed, missing, pending-restart`},
		},
		"deletions": {
			reason: "a rule deletes as a whole, and only if it has delete",
			content: minimal + `people: [{name: alice, login: alice}]
reconcile:
  writers: [{source: prod, settings: {kubeconfig: x}}]
  rules:
    - {name: a, mode: approve, match: {verdict: unmanaged}}
    - {name: b, mode: approve, match: {verdict: [unmanaged, changed], path: spec.image}, delete: true}
    - {name: c, mode: approve, match: {verdict: unmanaged, kind: kubernetes/*}, delete: true}
`,
			want: []string{`6: unmanaged findings are put back by deleting the resource: set delete: true, or remove the verdict`,
				`7: delete with match.path: a deletion concerns the whole resource, make two rules of it`},
		},
		"useless rules for a declaration": {
			reason: "a rule that writes into no declaration is refused",
			content: minimal + `people: [{name: alice, login: alice}]
reconcile:
  writers: [{source: prod, settings: {token_file: x}}]
  rules:
    - {name: a, mode: approve, changes: declaration, match: {source: prod, verdict: [missing, disputed]}, create: true}
`,
			want: []string{`6: a rule with mode approve whose declarations have no writer: add one to reconcile.writers, or set mode suggest`,
				`6: create with changes: declaration: driftd creates nothing in a declaration, remove it`,
				`6: missing findings are never written into a declaration: want one of changed, moved, disputed`},
		},
		"wrong types": {
			reason:  "types are not guessed",
			content: "state_dir: 7\nserver: {listen: [a]}\nsources: {name: prod}\nretention: {max_runs: 1.5}\n",
			want: []string{
				`1: state_dir: want text (put it in quotes), got a whole number`,
				`2: listen: want text, got a list`,
				`3: sources: want a list, got keys and values`,
				`4: max_runs: want a whole number, got a number`,
			},
		},
		"wrong parts": {
			reason:  "a part is a map",
			content: minimal + "schedule: often\nlog: [text]\n",
			want: []string{
				`2: schedule: want keys and values, got text`,
				`3: log: want keys and values, got a list`,
			},
		},
		"durations": {
			reason:  "a duration is not negative, and a number needs a unit",
			content: minimal + "schedule:\n  every: 0s\n  jitter: -1s\n  timeout: 30\nretention: {max_age: -1d}\n",
			want: []string{
				`3: every: want a duration above zero, such as 5m`,
				`4: jitter: want a duration that is not negative`,
				`5: timeout: want a duration such as 90s, 10m or 90d, got a whole number`,
				`6: max_age: want a duration that is not negative`,
			},
		},
		"retention": {
			reason:  "limits are not negative",
			content: minimal + "retention: {max_runs: -1, max_run_bytes: -1}\n",
			want: []string{
				`2: max_run_bytes: want a number of bytes from 0, which means all`,
				`2: max_runs: want a number from 0, which means all`,
			},
		},
		"durations of a source": {
			reason:  "the schedule of a source follows the same rules",
			content: "sources: [{name: prod, type: kubernetes, every: -1m}]\ndeclarations: [{name: d, type: manifests, governs: [prod], timeout: -1m}]\n",
			want: []string{
				`1: every: want a duration that is not negative`,
				`2: timeout: want a duration that is not negative`,
			},
		},
		"listen": {
			reason:  "an address needs a port",
			content: minimal + "server: {listen: localhost}\n",
			want:    []string{`2: listen address "localhost": want host:port, such as 127.0.0.1:9797 or :9797`},
		},
		"port": {
			reason:  "a port has a range",
			content: minimal + "server: {listen: \":65536\"}\n",
			want:    []string{`2: listen address ":65536": want host:port, such as 127.0.0.1:9797 or :9797`},
		},
		"log": {
			reason:  "formats and levels are closed lists",
			content: minimal + "log: {format: jsn, level: INFO+1}\n",
			want: []string{
				`2: level: want debug, info, warn or error`,
				`2: log format "jsn": did you mean "json"?`,
			},
		},
		"names": {
			reason:  "names become names of folders and labels",
			content: "sources:\n- {name: pr/od, type: t}\n- {name: .., type: t}\n- {name: prod, type: t}\n- {name: prod, type: t}\n- {type: t}\n- {}\n",
			want: []string{
				`2: source name "pr/od": want letters, digits, dots, dashes and underscores, a letter or digit first, at most 100`,
				`3: source name "..": want letters, digits, dots, dashes and underscores, a letter or digit first, at most 100`,
				`5: duplicate source name "prod": line 4 has it already`,
				`6: a source without a name: give it one`,
				`7: a source without a name and a type: give it both`,
			},
		},
		"governs": {
			reason:  "a declaration governs sources that exist",
			content: minimal + "declarations:\n- {name: a, type: t, governs: [prd]}\n- {name: b, type: t}\n- {name: c, type: t, governs: [prod, prod]}\n",
			want: []string{
				`3: declaration "a" governs an unknown source "prd": did you mean "prod"?`,
				`5: declaration "c" governs "prod" twice: name it once`,
			},
		},
		"ignore": {
			reason:  "a rule needs a pattern, a reason and a valid end",
			content: minimal + "ignore:\n- {reason: noise}\n- {source: prdo, reason: \" \"}\n- {source: \"p*\", reason: noise, expires: soon}\n- {value: \"[a\", reason: noise}\n",
			want: []string{
				`3: an ignore rule without a pattern would hide everything: give it a source, kind, resource, check, path or value`,
				`4: an ignore rule without a reason: add one, as in reason: scaled by hand during the sale`,
				`4: ignore rule of an unknown source "prdo": did you mean "prod"?`,
				`5: expires: want a date such as 2026-12-31 or a time such as 2026-12-31T18:00:00Z`,
				`6: pattern "[a": the brackets do not close, or the end is a backslash`,
			},
		},
		"controllers": {
			reason:  "an empty manager would match no writer",
			content: minimal + "kubernetes: {controllers: [\"\"]}\n",
			want:    []string{`2: controllers: name the writer, a field manager or a user of the audit log`},
		},
		"empty file": {
			reason:  "an empty file is a mistake",
			content: "",
			want:    []string{`the file is empty: name at least one source under sources: (config.example.yaml shows how)`},
		},
		"comments only": {
			reason:  "a file of comments is empty",
			content: "# nothing\n---\n",
			want:    []string{`the file is empty: name at least one source under sources: (config.example.yaml shows how)`},
		},
		"no sources": {
			reason:  "a configuration needs a source or a declaration",
			content: "state_dir: /var/lib/driftd\n",
			want:    []string{`no sources and no declarations: name at least one live system`},
		},
		"empty sources": {
			reason:  "an empty list has no source",
			content: "sources: []\n",
			want:    []string{`1: no sources and no declarations: name at least one live system`},
		},
		"list": {
			reason:  "the file is a map",
			content: "- a\n- b\n",
			want:    []string{`1: want keys and values, such as state_dir: /var/lib/driftd`},
		},
		"tab": {
			reason:  "the YAML parser's message for a tab is unclear",
			content: "sources:\n\t- name: prod\n",
			want:    []string{`2: a tab in the indentation: use spaces`},
		},
		"syntax": {
			reason:  "the parser's line is reported",
			content: minimal + "log:\n  level: 'info\n",
			want:    []string{`3: no valid YAML: found unexpected end of stream`},
		},
		"syntax without a line": {
			reason:  "the parser reports a line only for some errors",
			content: minimal + "log: *x\n",
			want:    []string{`no valid YAML: an alias (*) without an anchor (&): quote a value that begins with *`},
		},
		"not UTF-8": {
			reason:  "editors of old save Latin-1",
			content: minimal + "# caf\xe9\n",
			want:    []string{`2: not UTF-8: save the file as UTF-8`},
		},
		"duplicate keys": {
			reason:  "it is unclear which of the two is meant",
			content: minimal + "log:\n  level: info\n  format: text\n  level: debug\n",
			want:    []string{`5: duplicate key "level": line 3 has it already, keep one`},
		},
		"two documents": {
			reason:  "the second would be ignored",
			content: minimal + "---\nlog: {}\n",
			want:    []string{`2: a second document begins after ---: a configuration is one document`},
		},
		"merge keys": {
			reason:  "they add the keys of a section",
			content: "sources:\n- &a {name: a, type: t}\n- {<<: [*a, 3], name: b}\n",
			want:    []string{`3: << adds the keys of another section: name its anchor, as in <<: *defaults`},
		},
		"defaults with a name": {
			reason:  "the entries would all have it",
			content: minimal + "defaults: {sources: {kubernetes: {name: a, nope: 1}, proxmox: 3}}\n",
			want: []string{`2: defaults have no name: each of the sources has its own`,
				`2: unknown key "nope": want one of every, links, max_memory, name, settings, timeout, type`, `2: want keys and values, such as {every: 30m}`},
		},
		"odd keys": {
			reason:  "keys are plain text",
			content: minimal + "? [a]\n: b\n",
			want:    []string{`2: a key that is not plain text: write it on a line of its own, as in name: value`},
		},
		"tags": {
			reason:  "tags do not change types",
			content: minimal + "state_dir: !secret x\nlog: {level: !!int x}\n",
			want: []string{
				`2: the tag "!secret" is not supported: remove it`,
				`3: the value does not have the type of its tag !!int: remove the tag`,
			},
		},
		"empty item": {
			reason:  "an empty item is reported",
			content: "sources:\n- {name: prod, type: t}\n-\n",
			want: []string{
				`3: a source without a name and a type: give it both`,
				`3: an empty list item: fill it or remove the dash`,
			},
		},
		"anchors that explode": {
			reason:  "a small file can expand to a large tree",
			content: bomb(),
			want:    []string{"nested too deeply, or too large with its aliases: write it out, without anchors"},
		},
		"anchor in itself": {
			reason:  "the tree is infinite",
			content: minimal + "ignore: &a [*a]\n",
			want:    []string{"nested too deeply, or too large with its aliases: write it out, without anchors"},
		},
		"secret": {
			reason:  "a secret belongs in a file of its own, and is not in the error",
			content: minimal + "api_token: hunter2\n",
			want:    []string{`2: unknown key "api_token": secrets do not belong in this file, write it to a file of its own`},
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

// checkProblems compares the lines of an error with the wanted ones, which are without the
// file's name; the line of "nested too deeply" is not compared.
func checkProblems(t *testing.T, reason, file string, err error, want []string) {
	t.Helper()
	if !filepath.IsAbs(file) || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("%s: the error shows a secret: %v", reason, err)
	}
	got := strings.Split(err.Error(), "\n")
	if len(got) != len(want) {
		t.Fatalf("%s: Load() error =\n%v\nwant %d lines:\n%s", reason, err, len(want), strings.Join(want, "\n"))
	}
	for i := range want {
		line, ok := strings.CutPrefix(got[i], file+":")
		if !ok || strings.TrimPrefix(line, " ") != want[i] && !strings.HasSuffix(line, want[i]) {
			t.Errorf("%s: line %d =\n%s\nwant\n%s", reason, i, got[i], want[i])
		}
	}
}

// bomb returns ten lists of ten aliases each, which are 10¹⁰ nodes.
func bomb() string {
	var b strings.Builder
	b.WriteString("a: &a0 [x,x,x,x,x,x,x,x,x,x]\n")
	for i := range 9 {
		name, last := string(rune('b'+i)), "*a"+string(rune('0'+i))
		b.WriteString(name + ": &a" + string(rune('1'+i)) + " [" + strings.TrimSuffix(strings.Repeat(last+",", 10), ",") + "]\n")
	}
	return b.String()
}
