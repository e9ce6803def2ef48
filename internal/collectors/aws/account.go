package aws

import "fmt"

// An accountError is the error of credentials of another account than the configured one, or the one
// that was read before.
type accountError struct {
	want, got, arn string
	// configured reports whether want is the setting account.
	configured bool
}

func (e *accountError) Error() string {
	expected := "the last scan read account " + e.want
	if e.configured {
		expected = "the setting account is " + e.want
	}
	return fmt.Sprintf("the credentials are those of account %s (%s), and %s", e.got, e.arn, expected)
}

// Hint returns the next step.
func (e *accountError) Hint() string {
	if e.configured {
		return "set profile, credentials_file or assume_role to credentials of that account, or correct account"
	}
	return "set profile, credentials_file or assume_role to credentials of that account, or set account to the one that is to be read"
}
