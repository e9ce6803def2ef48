// Package secret finds secret values in everything that driftd reads, and seals them.
//
// A value is secret by its name (the key of a map, a variable, an argument, a
// header) or by its form (a URL with a password, a private key, a token of a known
// form). The names and forms are tables: words.go, tokens.go, commands.go. Values that a
// schema marks as sensitive are sealed by the package of the schema.
//
// A whole value becomes a keyed digest (model.Secret). In a longer text only the
// secret parts are replaced, each by a mark with a short keyed digest, so that the
// rest stays readable and comparable. Text that already looks like a mark when it is read is
// sealed itself, so that no text from outside can equal a mark.
package secret
