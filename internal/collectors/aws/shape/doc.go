// Package shape knows what of AWS is read, and what it means: which kinds there
// are, what answer each is read from, and what that says in the words of
// CloudFormation, whose resource types and properties Cloud Control has as well.
// It talks to nobody.
package shape
