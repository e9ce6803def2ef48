// Package catalogue describes the kinds of AWS resources that are read with list calls: the
// call of each, where its resources are in the answers, what identifies them, and the few
// fields by which an unmanaged one is rated. The names of kinds are those of CloudFormation.
// The names of fields are those of the Terraform provider, because a plan compares the
// resources, and its values stand in for the ones of this package. The package sends no
// requests.
package catalogue
