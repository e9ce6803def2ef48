// Package awsapi sends signed requests to the services of AWS. The five protocols of the
// services become one: a Call has a map of parameters, and its answer is a tree of values,
// whether the service sent XML or JSON. The package decides neither what is read nor what
// the answers mean.
package awsapi
