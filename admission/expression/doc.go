// Package expression evaluates the CEL expressions of webhooks and policies
// with kube-apiserver's own libraries, which a process sets up when it meets
// the first expression: that takes some ten milliseconds.
//
// An Input is what the expressions see of a request. Conditions are expressions
// that have to be true.
package expression
