// Package reconcile puts live resources back to their declared state, if a rule allows it and no guard
// refuses it.
//
// An action is proposed for a finding, approved by a person or by an automatic rule, checked again, and
// recorded as armed. Only then its request is sent, and afterwards the resource is read again. Therefore it
// is known after a crash whether a request may have been sent; preconditions in the request ensure that it
// takes effect at most once.
//
// Rules, guards and the history of actions are pure: time and state are parameters. Only an Actuator writes
// to a system.
package reconcile
