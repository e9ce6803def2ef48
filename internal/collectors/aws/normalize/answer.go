package normalize

import (
	"time"

	"github.com/driftd/driftd/internal/collectors/table"
	"github.com/driftd/driftd/internal/decode"
)

// A Listed is a bucket in a list of them.
type Listed struct {
	Name string
	// Region is where it lies, "" where the server does not say.
	Region string
	// Created is zero where the server does not say.
	Created time.Time
}

// A Page is a part of the list of buckets.
type Page struct {
	Buckets []Listed
	// Owner is the id of the account that they belong to, as S3 knows it.
	Owner string
	// Next asks for the page behind this one; "" at the end.
	Next string
}

// DecodePage reads an answer to ListBuckets.
func DecodePage(body []byte) (Page, error) {
	v, err := decodeXML(body, "ListAllMyBucketsResult", table.Join(
		mark().Of("Buckets>Listed"), many(block(text().Of("Name BucketRegion CreationDate"))).Of("Buckets.Bucket>Buckets"),
		block(text().Of("ID")).Of("Owner"), text().Of("ContinuationToken>Next")))
	if err != nil {
		return Page{}, err
	}
	if v.At("Listed").IsNull() {
		return Page{}, &NotAnswerError{"the answer has no list of buckets"}
	}
	p := Page{Owner: v.At("Owner", "ID").Str(), Next: v.At("Next").Str()}
	for _, b := range v.At("Buckets").Items() {
		listed := Listed{Name: b.At("Name").Str(), Region: b.At("BucketRegion").Str()}
		if listed.Name == "" {
			return Page{}, &NotAnswerError{"the answer has a bucket without a name"}
		}
		// A time that cannot be read is one that is not known.
		listed.Created = decode.Time(b.At("CreationDate").Str(), time.RFC3339)
		p.Buckets = append(p.Buckets, listed)
	}
	return p, nil
}

// A Refusal is what an error of S3 says.
type Refusal struct {
	Code, Message string
	// Region is where the bucket lies instead, "" where the error does not say.
	Region string
}

// DecodeError reads an error of S3; what is none says nothing.
func DecodeError(body []byte) Refusal {
	v, err := decodeXML(body, "Error", text().Of("Code Message Region"))
	if err != nil {
		return Refusal{}
	}
	return Refusal{Code: v.At("Code").Str(), Message: v.At("Message").Str(), Region: v.At("Region").Str()}
}
