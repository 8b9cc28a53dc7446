// Package policy applies ValidatingAdmissionPolicies and MutatingAdmissionPolicies to writes, as
// kube-apiserver does. Policies has an admission step for each kind.
//
// A policy takes effect where a binding refers to it. If a request matches the criteria of the
// policy and of the binding (package match), the params of the binding are looked up, and the
// expressions of the policy (package expression) are evaluated for each of them. An invocation is
// a policy, a binding and a param. Each request uses the policies and bindings that exist when it
// arrives. They are compiled on first use and kept until they change.
//
// [Policies.Hooks] type-checks the expressions of a ValidatingAdmissionPolicy when it is written
// (typechecking.go), and authorizes the use of params (params_authz.go).
//
// The error texts are copied from k8s.io/apiserver.
package policy
