package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Type is the first part of the names of the kinds.
const Type = "aws"

// The kinds. Each part of a bucket that has its own API call is a kind. Its name is that of
// the type that the part's property has in CloudFormation.
const (
	Bucket         = Type + "/AWS::S3::Bucket"
	BucketPolicy   = Type + "/AWS::S3::BucketPolicy"
	Versioning     = Bucket + ".VersioningConfiguration"
	Encryption     = Bucket + ".BucketEncryption"
	PublicAccess   = Bucket + ".PublicAccessBlockConfiguration"
	Ownership      = Bucket + ".OwnershipControls"
	Lifecycle      = Bucket + ".LifecycleConfiguration"
	CORS           = Bucket + ".CorsConfiguration"
	Logging        = Bucket + ".LoggingConfiguration"
	ObjectLock     = Bucket + ".ObjectLockConfiguration"
	Accelerate     = Bucket + ".AccelerateConfiguration"
	Website        = Bucket + ".WebsiteConfiguration"
	Notification   = Bucket + ".NotificationConfiguration"
	AccessControl  = Bucket + ".AccessControlPolicy"
	RequestPayment = Bucket + ".RequestPaymentConfiguration"
)

// A Kind is a part of a bucket that is read with one API call.
type Kind struct {
	// Name is the kind's name, as in model.Key.
	Name string
	// Action is the IAM action that allows to read it.
	Action string
	// Root is the name of the answer's root element; "" if the answer is a JSON policy.
	Root string
	// UnsetCodes are the codes of the errors that report that nothing is configured. Without
	// codes, the server always returns a document.
	UnsetCodes []string

	fields table.Fields
	// derived are fields that are computed from other fields.
	derived    table.Fields
	defaults   []defaultState
	severities []model.SeverityRule
}

// A defaultState is a state that a part has by default, so that no declaration is expected.
type defaultState struct {
	reason string
	where  []model.Condition
}

// Kinds returns every kind, the bucket first.
func Kinds() []*Kind {
	kinds := catalogue()
	all := make([]*Kind, len(kinds))
	for i := range kinds {
		all[i] = &kinds[i]
	}
	return all
}

// IsUnset reports whether an error with this code means that nothing is configured.
func (k *Kind) IsUnset(code string) bool { return slices.Contains(k.UnsetCodes, code) }

// Decode returns the fields of an answer. It fails with an *UnexpectedAnswerError if the
// answer has another format.
func (k *Kind) Decode(body []byte) (model.Value, error) {
	if k.Root == "" {
		return decodePolicy(body)
	}
	return decodeXML(body, k.Root, k.fields)
}

// Schemas returns the schemas and severities of all kinds, by name.
func Schemas() map[string]*model.Kind {
	all := map[string]*model.Kind{}
	for _, k := range Kinds() {
		all[k.Name] = &model.Kind{Name: k.Name, Schema: table.Join(k.fields, k.derived).Schema(), Severities: k.severities, Exposed: exposed(k.Name), WriterUnknown: WriterUnknown}
	}
	all[Bucket].Labels = "Tags"
	return all
}

// WriterUnknown is the reason why the author of a change is not known.
const WriterUnknown = "S3 does not record who changed a bucket, and CloudTrail is not read: see the setting audit"

// derived returns fields that are not part of an answer.
func derived(names string) table.Fields { return table.Absent().Volatile().Of(names) }
