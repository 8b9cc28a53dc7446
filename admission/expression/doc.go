// Package expression evaluates the CEL expressions of webhooks and policies with
// kube-apiserver's own libraries. A process sets them up for the first expression, which takes
// about ten milliseconds.
//
// An Input holds the variables of a request. Conditions are expressions that must be true.
package expression
