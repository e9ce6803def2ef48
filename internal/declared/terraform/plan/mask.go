package plan

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"

	"github.com/driftd/driftd/internal/model"
)

// minMasked is the length from which a secret is looked for in messages:
// shorter ones stand in too many words.
const minMasked = 5

// maxMessage bounds what is kept of a message.
const maxMessage = 2000

// A mask hides secrets in text that is shown: the ones that are known, and
// what looks like one.
type mask struct {
	known *strings.Replacer
	// assigned finds what is set to a secret name, named what only follows one,
	// inURL the password of a URL's user.
	assigned, named, inURL *regexp.Regexp
}

// newMask hides secrets, and renames what comes in pairs.
func newMask(secrets []string, pairs ...string) mask {
	// Longer ones first: a secret may hold another.
	secrets = slices.Clone(secrets)
	slices.SortFunc(secrets, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	for _, s := range slices.Compact(secrets) {
		if len(s) >= minMasked {
			pairs = append(pairs, s, model.SecretText)
		}
	}
	return mask{
		known:    strings.NewReplacer(pairs...),
		assigned: regexp.MustCompile(`(?i)((?:passw(?:or)?d|secret|token|api[_-]?key|access[_-]?key|authorization)["']?\s*(?:[:=]\s*["']?|is\s+["'])(?:bearer\s+|basic\s+)?)(?:\(secret\)|[^\s"',;)]+)`),
		named:    regexp.MustCompile(`(?i)((?:passw(?:or)?d|secret|token|key|bearer)\s+(?:is\s+)?["']?)([^\s"',;)]*[0-9][^\s"',;)]*)`),
		inURL:    regexp.MustCompile(`(://[^\s/:@]*:)[^\s/@]+@`),
	}
}

// hide returns the text without secrets, in bounded length.
func (m mask) hide(text string) string {
	text = m.known.Replace(text)
	text = m.assigned.ReplaceAllString(text, "${1}"+model.SecretText)
	text = m.named.ReplaceAllString(text, "${1}"+model.SecretText)
	text = m.inURL.ReplaceAllString(text, "${1}"+model.SecretText+"@")
	if len(text) > maxMessage {
		text = strings.ToValidUTF8(text[:maxMessage], "") + " …"
	}
	return text
}

// oneLine joins the lines of a message.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// sensitiveValues returns the marks of an object of the state.
func sensitiveValues(s *tfjson.StateResource) any {
	var marked any
	if len(s.SensitiveValues) == 0 || json.Unmarshal(s.SensitiveValues, &marked) != nil {
		return nil
	}
	return marked
}
