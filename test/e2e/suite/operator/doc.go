// Package operator is an operator as kubebuilder makes them: a kind of its own in
// two versions, webhooks that default, validate and convert it, and a controller
// with a finalizer and a status. e2e/operator_test.go runs it with envtest and in
// the process of a test.
package operator
