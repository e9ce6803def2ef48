package aws

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"github.com/driftd/driftd/internal/awsapi"
	"github.com/driftd/driftd/internal/collectors"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/httpclient"
	"github.com/driftd/driftd/internal/printable"
)

// asError returns the error of an unsuccessful answer, or of a request without an answer. hide
// removes secrets from texts of the server.
func (a *answer) asError(err error, hide func(string) string) error {
	if a.code != 0 {
		refusal := normalize.DecodeError(a.body)
		return &awsapi.Error{Status: a.code, Code: printable.Text(hide(refusal.Code)), Message: printable.Text(hide(refusal.Message))}
	}
	var sent *smithyhttp.RequestSendError
	if errors.As(err, &sent) {
		return httpclient.WithoutURL(sent.Err)
	}
	return &awsapi.SettingError{Err: fmt.Errorf("find AWS credentials: %w", err)}
}

// A codeHint is the next step after errors with some codes.
type codeHint struct {
	codes []string
	hint  string
}

// codeHints returns the next steps for codes of S3 errors. The first two are about the credentials.
func codeHints() []codeHint {
	return []codeHint{
		{[]string{"ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"}, "the credentials have expired: renew them, or let driftd use a role or a profile that renews itself"},
		{[]string{"InvalidAccessKeyId", "XAdminUserNotFound", "SignatureDoesNotMatch", "InvalidToken", "InvalidSecurity", "InvalidClientTokenId", "UnrecognizedClientException", "AuthFailure"}, "the credentials are refused: check profile and credentials_file; an opt-in region accepts no session token of the global endpoint"},
		{[]string{"RequestTimeTooSkewed", "RequestExpired"}, "set this machine's clock"},
		{[]string{"SlowDown", "ServiceUnavailable", "TooManyRequests", "RequestLimitExceeded"}, "the server asks to slow down: set rate, or concurrency lower"},
		{[]string{"PermanentRedirect", "AuthorizationHeaderMalformed", "IllegalLocationConstraintException", "TemporaryRedirect"}, "the bucket is in another region: set region, or configure another source for it"},
		{[]string{"AllAccessDisabled", "NotSignedUp", "OptInRequired", "InvalidPayer"}, "see the state of the account"},
	}
}

// refusesCredentials reports whether the server did not accept the credentials.
func refusesCredentials(err error) bool {
	return slices.ContainsFunc(codeHints()[:2], func(h codeHint) bool { return slices.Contains(h.codes, awsapi.CodeOf(err)) })
}

// hint returns the next step after an error, or "".
func hint(err error) string {
	code := awsapi.CodeOf(err)
	for _, a := range codeHints() {
		if slices.Contains(a.codes, code) {
			return a.hint
		}
	}
	var (
		large  *httpclient.TooLarge
		answer *normalize.UnexpectedAnswerError
		local  *awsapi.SettingError
	)
	switch status := awsapi.StatusOf(err); {
	case errors.As(err, &local):
		return settingHint(local)
	case errors.As(err, &large):
		return "raise max_body"
	case errors.As(err, &answer):
		return "the server does not support this request, or a proxy answered: exclude the kind with exclude_kinds, or check endpoint"
	case status == http.StatusMethodNotAllowed:
		return "the bucket belongs to another account, or the server does not support this: exclude the kind with exclude_kinds"
	case status == http.StatusTooManyRequests, status == http.StatusServiceUnavailable:
		return "the server asks to slow down: set rate, or concurrency lower"
	case status >= 300 && status < 400:
		return "the address redirects, and driftd sends credentials to no other address: set endpoint and region to those of the store itself"
	case status == http.StatusProxyAuthRequired:
		return "a proxy requires a password: see HTTP_PROXY, HTTPS_PROXY and NO_PROXY in driftd's environment"
	case status >= 500:
		return "the server failed: see its log"
	case status != 0 && code == "":
		return "not an answer of the service: check endpoint, and let driftd bypass any login page"
	}
	words := httpclient.Words{Server: "the server", Address: "endpoint and region",
		Authority: "set ca_file to the certificate of the authority that signed the server's",
		Expired:   "renew the certificate, or set this machine's clock",
		Host:      "use an address that the certificate names, or set path_style: true",
	}
	return words.Hint(err)
}

// settingHint returns the next step after an error of the settings or of the credentials.
func settingHint(err error) string {
	if role, ok := errors.AsType[*smithy.OperationError](err); ok && role.OperationName == "AssumeRole" {
		return "let the credentials call sts:AssumeRole on the role, name them in its trust policy, and check external_id"
	}
	return "set region, profile, credentials_file or config_file; docs/aws.md lists what else the AWS SDK reads"
}

// fail returns the error of a scan that failed as a whole.
func (c Config) fail(ctx context.Context, server string, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("read %s: %w", server, ctx.Err())
	}
	if other := (*accountError)(nil); errors.As(err, &other) {
		return &httpclient.Error{Server: server, Err: err, Hint: other.Hint()}
	}
	next := hint(err)
	if code := awsapi.CodeOf(err); next == "" && awsapi.StatusOf(err) == http.StatusForbidden {
		next = "grant s3:ListAllMyBuckets to the credentials, or name the buckets under buckets (" + code + ")"
	}
	return &httpclient.Error{Server: server, Err: err, Hint: cmp.Or(next, "see the log of the server")}
}

// bucketsReason returns why the buckets were not listed, and the next step.
func bucketsReason(err error) string {
	if ended := collectors.Ended(err); ended != "" {
		return ended
	}
	next := hint(err)
	if next == "" && awsapi.StatusOf(err) == http.StatusForbidden {
		next = "grant s3:ListAllMyBuckets to the credentials, or name the buckets under buckets"
	}
	return advised(err, next)
}

// advised returns the text of an error with the next step. They are not joined by a colon: an answer that
// ends with "credentials" would make the next step look like a secret.
func advised(err error, next string) string {
	return strings.TrimSuffix(printable.Text(err.Error())+"; "+next, "; ")
}

// gapReason returns why a part of a bucket was not read, and the next step. The same cause has
// the same text, so that reports can group them.
func gapReason(k *normalize.Kind, err error) string {
	if ended := collectors.Ended(err); ended != "" {
		return ended
	}
	next := hint(err)
	if next == "" && awsapi.StatusOf(err) == http.StatusForbidden {
		next = "grant " + k.Action
	}
	return advised(err, next)
}
