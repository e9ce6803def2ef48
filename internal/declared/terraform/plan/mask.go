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

// minMasked is the minimum length of secrets that are masked in messages. Shorter ones occur in too
// many words.
const minMasked = 5

// maxMessage bounds a stored message, in bytes.
const maxMessage = 2000

// A mask hides secrets in messages: known secrets, and texts that look like secrets.
type mask struct {
	known *strings.Replacer
	// assigned matches values that are assigned to a secret name, named values that follow such a
	// name, and inURL the password in a URL.
	assigned, named, inURL *regexp.Regexp
}

// newMask returns a mask that hides the secrets and replaces the first of each pair with the
// second.
func newMask(secrets []string, pairs ...string) mask {
	// A secret may contain a shorter one, so longer ones come first.
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

// hide returns the text without secrets, truncated to maxMessage.
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

// sensitiveValues returns the sensitive marks of an object in the state.
func sensitiveValues(s *tfjson.StateResource) any {
	var marked any
	if len(s.SensitiveValues) == 0 || json.Unmarshal(s.SensitiveValues, &marked) != nil {
		return nil
	}
	return marked
}
