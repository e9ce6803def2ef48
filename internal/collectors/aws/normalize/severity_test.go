package normalize_test

import (
	"testing"

	"github.com/driftd/driftd/internal/classify"
	"github.com/driftd/driftd/internal/collectors/aws/normalize"
	"github.com/driftd/driftd/internal/decode"
	"github.com/driftd/driftd/internal/model"
)

// TestSeverities checks the severity of drift by the live value of a bucket.
func TestSeverities(t *testing.T) {
	t.Parallel()
	kinds := normalize.Schemas()
	for reason, tc := range map[string]struct {
		kind, live     string // live is "" for a removed part
		path           string
		declared, seen bool
		want           model.Severity
	}{
		"a public bucket":              {normalize.Bucket, `{"Public":["policy"]}`, "", false, false, model.Critical},
		"a bucket with a public list":  {normalize.Bucket, `{"Public":["acl"]}`, "", false, false, model.Critical},
		"a bucket":                     {normalize.Bucket, `{"BucketName":"x"}`, "", false, false, model.Low},
		"a public policy":              {normalize.BucketPolicy, `{"Public":true}`, "", false, false, model.Critical},
		"a policy":                     {normalize.BucketPolicy, `{}`, "", false, false, model.High},
		"a public list":                {normalize.AccessControl, `{"Public":true}`, "", false, false, model.Critical},
		"a removed block":              {normalize.PublicAccess, "", "", false, false, model.Critical},
		"a block that was turned off":  {normalize.PublicAccess, `{"BlockPublicAcls":true,"BlockPublicPolicy":false}`, "BlockPublicPolicy", true, false, model.Critical},
		"a block that was turned on":   {normalize.PublicAccess, `{"BlockPublicAcls":false,"BlockPublicPolicy":true}`, "BlockPublicPolicy", false, true, model.Medium},
		"an undeclared block":          {normalize.PublicAccess, `{"BlockPublicAcls":false}`, "", false, false, model.High},
		"an undeclared complete block": {normalize.PublicAccess, `{"BlockPublicAcls":true,"BlockPublicPolicy":true,"IgnorePublicAcls":true,"RestrictPublicBuckets":true}`, "", false, false, model.Low},
		"suspended versioning":         {normalize.Versioning, `{"Status":"Suspended"}`, "", false, false, model.High},
	} {
		t.Run(reason, func(t *testing.T) {
			t.Parallel()
			s := &model.Subject{Key: model.Key{Source: "s3", Kind: tc.kind, ID: "logs"}, Kind: kinds[tc.kind]}
			out := model.Outcome{Verdict: model.Missing}
			if tc.live != "" {
				live, err := decode.JSON([]byte(tc.live))
				if err != nil {
					t.Fatal(err)
				}
				s.Live, out.Verdict = &model.Resource{Key: s.Key, Value: live}, model.Unmanaged
			}
			if tc.path != "" {
				declared, seen := model.BoolOf(tc.declared), model.BoolOf(tc.seen)
				out = model.Outcome{Verdict: model.Changed, Changes: []model.Change{{Path: "x", LivePath: tc.path, Declared: &declared, Live: &seen}}}
			}
			f := classify.Findings(classify.Input{Judged: []model.Judged{{Subject: s, Outcomes: []model.Outcome{out}}}}).Current[0]
			if f.Severity != tc.want {
				t.Errorf("%s because %q, want %s", f.Severity, f.Reason, tc.want)
			}
		})
	}
}
