package decide

import "strings"

// IsPlaceholder reports whether a text is a placeholder: dots only, or a word from the syntax of a command.
// It prevents that a command which is copied without changes makes a decision.
func IsPlaceholder(text string) bool {
	text = strings.TrimSpace(text)
	switch strings.ToUpper(strings.Trim(text, `<>[]{}"'`)) {
	case "REASON", "OWNER":
		return text == strings.ToUpper(text) || strings.HasPrefix(text, "<")
	}
	return text != "" && strings.Trim(text, ".… ") == ""
}

// refusePlaceholder returns a *Refusal if one of the texts of a request is a placeholder.
func (r *Request) refusePlaceholder() error {
	switch {
	case IsPlaceholder(r.Reason):
		return &Refusal{"the reason is a placeholder: " + r.Reason, "write why the finding may stay as it is"}
	case IsPlaceholder(r.Owner):
		return &Refusal{"the owner is a placeholder: " + r.Owner, "write the person or the team that answers for it"}
	}
	return nil
}
