package awsapi

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// An Error is an answer other than success. One of a proxy may have no code.
type Error struct {
	Status        int
	Code, Message string
}

// Error returns the code and the message.
func (e *Error) Error() string {
	text := fmt.Sprintf("%d %s", e.Status, cmp.Or(e.Code, http.StatusText(e.Status)))
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// CodeOf returns the code of an Error, or "".
func CodeOf(err error) string {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Code
	}
	return ""
}

// StatusOf returns the status of an Error, or 0.
func StatusOf(err error) int {
	if refused, ok := errors.AsType[*Error](err); ok {
		return refused.Status
	}
	return 0
}

// Throttled reports whether a service asked for fewer requests.
func Throttled(err error) bool {
	switch CodeOf(err) {
	case "Throttling", "ThrottlingException", "ThrottledException", "RequestLimitExceeded", "TooManyRequestsException", "RequestThrottled",
		"RequestThrottledException", "ProvisionedThroughputExceededException", "PriorRequestNotComplete", "SlowDown", "BandwidthLimitExceeded", "LimitExceededException":
		return true
	}
	return false
}

// Denied reports whether the credentials lack the right to the request.
func Denied(err error) bool {
	switch CodeOf(err) {
	case "AccessDenied", "AccessDeniedException", "UnauthorizedOperation", "AuthorizationError", "AuthorizationErrorException", "NotAuthorized":
		return true
	}
	return false
}

// Off reports whether a region is not switched on in the account. Of the codes, only the
// first one has no other meaning: if other regions accept the credentials, they have this one, too.
func Off(err error) bool {
	return slices.Contains([]string{"OptInRequired", "UnrecognizedClientException", "AuthFailure", "InvalidClientTokenId", "SubscriptionRequiredException"}, CodeOf(err))
}

// DeniedByOrganization reports whether a policy of the organization denies the request.
func DeniedByOrganization(err error) bool {
	refused, ok := errors.AsType[*Error](err)
	return ok && Denied(err) && strings.Contains(refused.Message, "service control policy")
}

// expiredToken reports whether a token of the next page is no longer valid.
func expiredToken(err error) bool {
	code := CodeOf(err)
	return strings.Contains(code, "NextToken") || strings.Contains(code, "PaginationToken") || code == "InvalidMarker" || code == "InvalidMarkerException"
}

// decodeError returns the error of an unsuccessful answer. A body in another format gives
// no code.
func decodeError(status int, header http.Header, body []byte) *Error {
	e := &Error{Status: status, Code: header.Get("X-Amzn-Errortype")}
	if v, err := decode.JSON(body); err == nil {
		e.Code = cmp.Or(v.At("__type").Str(), e.Code, v.At("code").Str(), v.At("Code").Str())
		e.Message = cmp.Or(v.At("message").Str(), v.At("Message").Str())
	} else if root, v, err := decodeXML(body, ""); err == nil {
		at := errorIn(root, v)
		e.Code, e.Message = at.At("Code").Str(), at.At("Message").Str()
	}
	// "com.amazonaws.sqs#QueueDoesNotExist", "NotFoundException:http://internal/…".
	e.Code = e.Code[strings.LastIndexByte(e.Code, '#')+1:]
	e.Code, _, _ = strings.Cut(e.Code, ":")
	// EC2 appends a long text that only another request decodes.
	e.Message, _, _ = strings.Cut(e.Message, " Encoded authorization failure message:")
	return e
}

// errorIn returns the element with the code of an error: <Error> of S3, <ErrorResponse> of
// most services, and <Response> of EC2.
func errorIn(root string, v model.Value) model.Value {
	switch root {
	case "ErrorResponse":
		return v.At("Error")
	case "Response":
		return v.At("Errors", "Error")
	case "Error":
		return v
	}
	return model.Value{}
}
