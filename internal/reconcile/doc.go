// Package reconcile puts live resources back to what is declared, where a rule allows it and no
// guard refuses it.
//
// An action is proposed for a finding, approved by a person or by an automatic rule, checked
// again, recorded as armed, and only then sent. Afterwards the resource is read again. So after a
// crash at any point it is known whether a request may have been sent; the preconditions in the
// request make it take effect once at most.
//
// Rules, guards and the history of actions are pure: time and state come in as values. An
// Actuator is the only code that writes to a system.
package reconcile
