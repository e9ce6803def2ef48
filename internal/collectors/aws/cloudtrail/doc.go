// Package cloudtrail reads who changed the resources of an account from CloudTrail's event
// history, and from copies of its events in a trail in S3 and in a queue of SQS. A table has the operations whose effect is certain: the kind and the ID of the
// changed resource, and the changed fields. An event of any other operation attributes
// nothing.
package cloudtrail
