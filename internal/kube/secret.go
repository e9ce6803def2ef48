package kube

import (
	"encoding/base64"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/model"
)

var secretKind = KindName("v1", "Secret")

// plainSecret folds a Secret's stringData into its data, as the API server
// does.
func plainSecret(kind string, object model.Value) model.Value {
	plain, ok := object.Get("stringData")
	if kind != secretKind || !ok {
		return object
	}
	fields := slices.Clone(object.At("data").Fields())
	for _, f := range plain.Fields() {
		encoded := base64.StdEncoding.EncodeToString([]byte(f.Value.Text()))
		fields = append(fields, model.Field{Name: f.Name, Value: model.StringOf(encoded)})
	}
	return object.Without("stringData").With("data", model.MapOf(fields...))
}

// seal replaces what is sensitive in an object's content by digests: the data
// of a Secret, by what it decodes to, and the values of environment variables
// that are named like one.
func seal(kind string, content model.Value, sealer model.Sealer) model.Value {
	if kind != secretKind {
		sealed, _ := sealEnv(content, sealer)
		return sealed
	}
	for _, field := range []string{"data", "stringData"} {
		data, ok := content.Get(field)
		if !ok {
			continue
		}
		fields := make([]model.Field, 0, len(data.Fields()))
		for _, f := range data.Fields() {
			fields = append(fields, model.Field{Name: f.Name, Value: sealData(f.Value, sealer)})
		}
		content = content.With(field, model.MapOf(fields...))
	}
	return content
}

// sealData digests what a base64 text decodes to, so that two encodings of one
// content are equal.
func sealData(v model.Value, sealer model.Sealer) model.Value {
	if v.IsNull() {
		return v
	}
	plain, err := base64.StdEncoding.DecodeString(strings.TrimSpace(v.Text()))
	if err != nil {
		return sealer.SealTree(v)
	}
	return sealer.Seal(string(plain))
}

// sealEnv seals what is sensitive anywhere below fields named env, args and
// command. It returns the tree itself where nothing is.
func sealEnv(v model.Value, sealer model.Sealer) (model.Value, bool) {
	switch v.Kind() {
	case model.List:
		return sealItems(v, func(item model.Value) (model.Value, bool) { return sealEnv(item, sealer) })
	case model.Map:
		changed := false
		for _, f := range v.Fields() {
			if below, ok := sealField(f, sealer); ok {
				v, changed = v.With(f.Name, below), true
			}
		}
		return v, changed
	}
	return v, false
}

func sealField(f model.Field, sealer model.Sealer) (model.Value, bool) {
	switch f.Name {
	case "env":
		return sealItems(f.Value, func(v model.Value) (model.Value, bool) { return sealVariable(v, sealer) })
	case "args", "command":
		return sealItems(f.Value, func(v model.Value) (model.Value, bool) { return sealArgument(v, sealer) })
	}
	return sealEnv(f.Value, sealer)
}

// sealItems seals the elements of a list; it copies the list only when it must.
func sealItems(list model.Value, seal func(model.Value) (model.Value, bool)) (model.Value, bool) {
	var items []model.Value
	for i, item := range list.Items() {
		if sealed, ok := seal(item); ok {
			if items == nil {
				items = slices.Clone(list.Items())
			}
			items[i] = sealed
		}
	}
	if items == nil {
		return list, false
	}
	return model.ListOf(items...), true
}

func sealVariable(variable model.Value, sealer model.Sealer) (model.Value, bool) {
	value := variable.At("value").Str()
	if value == "" || strings.HasPrefix(value, "$(") || !sensitiveName(variable.At("name").Str()) && !hasPassword(value) {
		return variable, false
	}
	return variable.With("value", sealer.Seal(value)), true
}

// sealArgument seals an argument that carries a secret: --token=x, a URL with a
// password in it.
func sealArgument(v model.Value, sealer model.Sealer) (model.Value, bool) {
	text := v.Str()
	name, value, ok := strings.Cut(text, "=")
	if ok && strings.HasPrefix(name, "-") && value != "" && !strings.HasPrefix(value, "$(") && sensitiveName(name) || hasPassword(text) {
		return sealer.Seal(text), true
	}
	return v, false
}

// hasPassword tells whether a URL in the text holds a password.
func hasPassword(text string) bool {
	_, rest, ok := strings.Cut(text, "://")
	if !ok {
		return false
	}
	authority, _, _ := strings.Cut(rest, "/")
	user, _, ok := strings.Cut(authority, "@")
	_, password, colon := strings.Cut(user, ":")
	return ok && colon && password != "" && !strings.HasPrefix(password, "$(")
}

// sensitiveName tells whether a variable or a flag is named like a secret:
// DB_PASSWORD, MYSQL_PWD, apiToken, aws_secret_access_key, SIGNING_KEY; but not
// what is said about one: TOKEN_TTL, SECRET_NAME, PUBLIC_KEY.
func sensitiveName(name string) bool {
	words := nameWords(name)
	if len(words) == 0 {
		return false
	}
	last := words[len(words)-1]
	if slices.Contains(aboutSecrets, last) {
		return false
	}
	if last == "KEY" || last == "KEYS" {
		return len(words) > 1 && !slices.Contains(openKeys, words[len(words)-2])
	}
	return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(secretWords, w) })
}

// nameWords splits a name at what is no letter or digit and where capitals
// begin.
func nameWords(name string) []string {
	var b strings.Builder
	lower := false
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z' && lower:
			b.WriteByte(' ')
			b.WriteRune(r)
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			b.WriteRune(r)
		default:
			b.WriteByte(' ')
		}
		lower = r >= 'a' && r <= 'z'
	}
	return strings.Fields(strings.ToUpper(b.String()))
}

var (
	secretWords = []string{"PASS", "PASSWORD", "PASSWORDS", "PASSWD", "PASSPHRASE", "PWD", "PGPASSWORD", "SECRET", "SECRETS",
		"TOKEN", "TOKENS", "APIKEY", "CREDENTIAL", "CREDENTIALS", "WEBHOOK", "PRIVATEKEY", "ACCESSKEY", "SECRETKEY"}
	aboutSecrets = []string{"TTL", "EXPIRY", "LIFETIME", "DURATION", "PATH", "FILE", "DIR", "NAME", "NAMESPACE", "ENDPOINT", "ISSUER",
		"AUDIENCE", "COUNT", "LIMIT", "LENGTH", "ENABLED", "TIMEOUT", "HEADER", "ID", "TYPE", "POLICY", "PORT", "HOST", "VERSION",
		"ALGORITHM", "REFRESH", "INTERVAL", "MODE", "REF", "VERIFY"}
	openKeys = []string{"PUBLIC", "PRIMARY", "FOREIGN", "SORT", "PARTITION", "CACHE", "ROUTING", "PROJECT", "ORDER", "TOPOLOGY"}
)
