// Package normalize lists what driftd reads of AWS: the kinds, the answer that each is read
// from, and its fields under the names of CloudFormation, whose resource types and
// properties Cloud Control has as well. It sends no requests.
package normalize
