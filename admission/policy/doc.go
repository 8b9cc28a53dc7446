// Package policy applies ValidatingAdmissionPolicies and
// MutatingAdmissionPolicies to writes, as kube-apiserver does: Policies has a
// step of admission for each kind.
//
// A policy counts where a binding names it. Of each binding whose policy and
// whose own criteria are met (package match) the parameters are looked up; the
// policy's expressions (package expression) are evaluated for each of them: an
// application is a policy, a binding and a parameter. Policies and bindings are
// those that exist when the request comes, compiled on first use and kept until
// they change.
//
// [Policies.Hooks] has what happens to a ValidatingAdmissionPolicy when it is
// written: its expressions are held against the types of the objects that it is
// about (check.go), and its status says what does not fit.
//
// The texts of errors are those of k8s.io/apiserver.
package policy
