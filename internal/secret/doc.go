// Package secret decides what is secret in anything that driftd reads, and seals it.
//
// A value is secret by its name (the key of a map, a variable, an argument, a
// header) or by its form (a URL with a password, a private key, a token of a known
// shape). The names and forms are tables: words.go, tokens.go, commands.go. What a
// schema marks as sensitive is sealed by the package that knows the schema.
//
// A whole value becomes a keyed digest (model.Secret). In a longer text only the
// secret parts are replaced, each by a mark with a short keyed digest, so that the
// rest stays readable and comparable. Text that looks like a mark when it is read is
// sealed itself: no foreign text can equal a mark.
package secret
