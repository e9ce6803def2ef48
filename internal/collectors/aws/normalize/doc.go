// Package normalize describes the kinds of AWS resources: the answer that each is decoded
// from, and its fields. The names are those of CloudFormation, which Cloud Control also uses.
// The package sends no requests.
package normalize
