package normalize

import (
	"slices"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/model"
)

// Type is the first part of the kinds' names.
const Type = "aws"

// The kinds. What people set of a bucket part by part, with a call of its own, is
// a kind of its own, named as CloudFormation names the type of that property.
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

// A Kind is what one call tells of a bucket.
type Kind struct {
	// Name is the kind as in model.Key.
	Name string
	// Action is what IAM calls the right to read it.
	Action string
	// Root is the element that the answer must be; "" where it is a policy.
	Root string
	// Absent are the codes of the errors that say that nothing is set; without any
	// there is always an answer.
	Absent []string

	fields table.Fields
	// derived are fields that are made of the others.
	derived table.Fields
	usual   []usual
	rates   []model.SeverityRule
}

// A usual is what a bucket has that nobody set, so that nobody is expected to
// declare it: why, and what holds of it.
type usual struct {
	why   string
	where []model.Condition
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

// Unset tells whether an error with this code says that nothing is set.
func (k *Kind) Unset(code string) bool { return slices.Contains(k.Absent, code) }

// Decode returns what an answer says. It fails for an answer to another question.
func (k *Kind) Decode(body []byte) (model.Value, error) {
	if k.Root == "" {
		return decodePolicy(body)
	}
	return decodeXML(body, k.Root, k.fields)
}

// Schemas returns how every kind is compared, by name.
func Schemas() map[string]*model.Kind {
	all := map[string]*model.Kind{}
	for _, k := range Kinds() {
		all[k.Name] = &model.Kind{Name: k.Name, Schema: table.Join(k.fields, k.derived).Schema(), Severities: k.rates, Exposed: exposed(k.Name), WriterUnknown: Unsigned}
	}
	all[Bucket].Labels = "Tags"
	return all
}

// Unsigned says why nobody is named.
const Unsigned = "S3 keeps no record of who changed a bucket; CloudTrail may, which driftd does not read"

// derived returns fields that an answer does not have.
func derived(names string) table.Fields { return table.Absent().Volatile().Of(names) }
