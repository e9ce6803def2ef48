package secret

import (
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

// A certainty is the degree to which a name indicates that its value is secret.
type certainty uint8

const (
	// open is the certainty of a name that does not name a secret.
	open certainty = iota
	// described is the certainty of a name that describes a secret, such as secretName.
	described
	// basic is the certainty of a name whose value is secret if it is base64 of a user and a
	// password: auth.
	basic
	// place is the certainty of a name whose value is secret unless it is a path or a location:
	// TLS_KEY, GOOGLE_APPLICATION_CREDENTIALS, PWD.
	place
	// connection is the certainty of a name whose value contains a secret if it has a user or a
	// password: DSN.
	connection
	// hook is the certainty of a name whose value is a URL that is secret if a part of its path
	// is a token: SLACK_WEBHOOK_URL.
	hook
	// text is the certainty of a name whose value is secret if it is text.
	text
	// certain is the certainty of a name whose value is secret even if it is a number.
	certain
)

// Name reports whether a key, a variable, a flag or a header has the name of a secret, in any spelling:
// DB_PASSWORD, apiToken, aws.secret-access-key. It returns false for TOKEN_TTL, secretName and PUBLIC_KEY,
// which only describe secrets.
func Name(name string) bool { return rate(name, false) > described }

// maxName is the maximum length of a name, in bytes.
const maxName = 256

// isVariable reports whether a name is spelled like an environment variable.
func isVariable(name string) bool {
	return strings.Contains(name, "_") && strings.ToUpper(name) == name
}

// rate returns the certainty that the name is that of a secret. For a variable or a flag, any
// KEY counts that is not in openKeys.
func rate(name string, variable bool) certainty {
	if !hasStem(name) || len(name) > maxName || strings.Contains(name, "\n") || strings.Contains(name, "://") || Marked(name) {
		return open
	}
	return rateWords(name, words(name), variable || isVariable(name))
}

func rateWords(name string, words []string, variable bool) certainty {
	words = withoutNumbers(words)
	if len(words) == 0 {
		return open
	}
	last := words[len(words)-1]
	pair := ""
	if len(words) > 1 {
		pair = words[len(words)-2] + " " + last
	}
	switch {
	case isAbout(name, words, pair):
		return described
	case len(words) == 1 && last == "AUTH":
		return basic
	case last == "KEY" || last == "KEYS":
		return rateKey(words, variable)
	case lastCertainties[last] != open:
		return lastCertainties[last]
	case lastWords[last] || lastPairs[pair]:
		return text
	case last == "URL" || last == "URI" || last == "URLS":
		return rateURL(words)
	}
	found := open
	for _, w := range words {
		found = max(found, rateWord(strings.TrimRight(w, "0123456789")))
	}
	return found
}

// isAbout reports whether a name describes a secret but its value is not one.
func isAbout(name string, words []string, pair string) bool {
	return aboutLast[words[len(words)-1]] || len(words) > 1 && aboutFirst[words[0]] || slices.Contains(words, "ALLOW") ||
		referencePairs[pair] || strings.Contains(name, "/") && referenceAnnotations[strings.Join(words, " ")]
}

// rateURL rates the name of a URL. Only the URLs of webhooks are secret as a whole.
func rateURL(words []string) certainty {
	if slices.Contains(words, "WEBHOOK") || slices.Contains(words, "HOOK") {
		return hook
	}
	return described
}

func rateKey(words []string, variable bool) certainty {
	if len(words) < 2 {
		return open
	}
	before := words[len(words)-2]
	switch {
	case before == "PRIVATE" || before == "PRIV" || before == "CLIENT":
		return place
	case keyWords[before]:
		return text
	case secretWords[before] && before != "PASSWORD" && before != "PASS" && before != "TOKEN", variable && !openKeys[before]:
		return place
	}
	return open
}

// rateWord rates a word of a name, regardless of its position.
func rateWord(w string) certainty {
	ends := func(end string) bool { return strings.HasSuffix(w, end) }
	switch {
	case w == "PWD" || w == "CREDENTIAL" || w == "CREDENTIALS" || w == "CREDS":
		return place
	case certainWords[w] || slices.ContainsFunc(certainEndings, ends):
		return certain
	case secretWords[w] || slices.ContainsFunc(secretEndings, ends):
		return text
	}
	return open
}

// withoutNumbers removes trailing words of digits: PASSWORD_2.
func withoutNumbers(words []string) []string {
	for len(words) > 1 && strings.Trim(words[len(words)-1], "0123456789") == "" {
		words = words[:len(words)-1]
	}
	return words
}

// words splits a name where its case or its punctuation changes, and returns the
// words in capitals: dbPassword, DBPassword, db-password and db.password are DB
// PASSWORD. It ignores a domain before "/".
func words(name string) []string {
	name = name[strings.LastIndexByte(name, '/')+1:]
	var b strings.Builder
	b.Grow(len(name) + 4)
	for i := range len(name) {
		c := name[i]
		switch {
		case isUpper(c):
			if i > 0 && (isLower(name[i-1]) || isDigit(name[i-1])) ||
				i > 0 && isUpper(name[i-1]) && i+1 < len(name) && isLower(name[i+1]) && !isPlural(name[i+1:]) {
				b.WriteByte(' ')
			}
			b.WriteByte(c)
		case isLower(c):
			b.WriteByte(c - 'a' + 'A')
		case isDigit(c):
			b.WriteByte(c)
		default:
			b.WriteByte(' ')
		}
	}
	return strings.Fields(b.String())
}

// isPlural reports whether the rest of a name after a capital is the s of a plural:
// DNs, apiKEYs.
func isPlural(rest string) bool {
	return rest[0] == 's' && (len(rest) == 1 || !isLower(rest[1]))
}

func isUpper(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLower(c byte) bool { return c >= 'a' && c <= 'z' }
func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool { return isUpper(c) || isLower(c) || isDigit(c) }

// nameStems are substrings, one of which occurs in every name that rate considers secret.
var nameStems = []string{"pass", "pwd", "pw", "secret", "token", "key", "cred", "jwt", "psk", "bearer", "auth", "mnemonic", "pin", "otp", "cookie", "dsn", "community", "webhook"}

// nameStarts has a bit for the first two bytes of each stem, in any case.
var nameStarts = startsOf(nameStems)

func startsOf(stems []string) *[32]uint32 {
	starts := &[32]uint32{}
	for _, s := range stems {
		starts[s[0]&0x1f] |= 1 << (s[1] & 0x1f)
	}
	return starts
}

// hasStem reports whether a name may be that of a secret. It is a fast check before rate.
func hasStem(name string) bool {
	for i := 0; i+1 < len(name); i++ {
		if nameStarts[name[i]&0x1f]&(1<<(name[i+1]&0x1f)) == 0 {
			continue
		}
		for _, stem := range nameStems {
			if hasFold(name[i:], stem) {
				return true
			}
		}
	}
	return false
}

// hasFold reports whether s begins with a lower-case prefix, ignoring case.
func hasFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		c := s[i]
		if isUpper(c) {
			c += 'a' - 'A'
		}
		if c != prefix[i] {
			return false
		}
	}
	return true
}

// isContent reports whether the value of a name of this certainty is a secret, and not a
// reference to one, a switch or empty.
func isContent(value string, sure certainty) bool {
	value = strings.TrimSpace(value)
	switch {
	case value == "" || len(value) < 10 && isSwitch(value) || isReference(value) || isMask(value):
		return false
	case sure == basic:
		return isBasic(value)
	case sure == place:
		return !isPath(value)
	case sure == hook:
		return hasTokenSegment(value)
	case sure == text && isPlainPath(value):
		return false
	case sure == connection:
		return strings.ContainsAny(value, "@") || strings.Contains(strings.ToLower(value), "pass")
	}
	return sure > described
}

// isSwitch reports whether a text is a boolean or a word for the absence of a value.
func isSwitch(value string) bool {
	switch strings.ToLower(value) {
	case "true", "false", "yes", "no", "on", "off", "none", "null", "nil", "enabled", "disabled", "optional", "required", "~":
		return true
	}
	return false
}

// isReference reports whether a text refers to a value that is stored elsewhere: $(NAME),
// ${NAME}, {{ name }}, an ARN, a path in a vault.
func isReference(value string) bool {
	switch {
	case strings.HasPrefix(value, "$(") && strings.IndexByte(value, ')') == len(value)-1,
		strings.HasPrefix(value, "${") && strings.IndexByte(value, '}') == len(value)-1 && !strings.Contains(value, ":"),
		strings.HasPrefix(value, "{{") && strings.HasSuffix(value, "}}") && strings.Count(value, "{{") == 1,
		strings.HasPrefix(value, "${{") && strings.HasSuffix(value, "}}") && strings.Count(value, "{{") == 1,
		strings.HasPrefix(value, "arn:aws"), strings.HasPrefix(value, "<") && strings.HasSuffix(strings.TrimRight(value, ",;"), ">"):
		return true
	}
	return len(value) > 1 && value[0] == '$' && strings.Trim(value[1:], "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == ""
}

// isPath reports whether a text is the path of a file.
func isPath(value string) bool {
	if !strings.HasPrefix(value, "/") && !strings.HasPrefix(value, "./") && !strings.HasPrefix(value, "~/") && !strings.HasPrefix(value, "file:") {
		return false
	}
	return !strings.ContainsAny(value, "+=@:,; \n") || strings.HasPrefix(value, "file:")
}

// isPlainPath reports whether a text is the path of a file without capitals. Generated secrets
// do not have this form.
func isPlainPath(value string) bool {
	return isPath(value) && strings.Count(value, "/") > 1 && strings.ToLower(value) == value
}

// isMask reports whether a text is a placeholder for a secret: ****.
func isMask(value string) bool { return strings.Trim(value, "*") == "" || value == model.SecretText }

// hasTokenSegment reports whether a part of the path or the query of a URL is a token.
func hasTokenSegment(url string) bool {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return false
	}
	parts := strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/?&=", r) })
	return len(parts) > 0 && slices.ContainsFunc(parts[1:], func(p string) bool { return len(p) >= 8 && strings.ContainsAny(p, "0123456789") })
}
