// Package podspec fills in what a client left out of a pod spec, and validates
// it, wherever one is: in a pod, in the templates of the workloads, in a
// PodTemplate. What a pod spec is made of and what other kinds have too
// (claims, persistent volumes, lists of resources) is here as well.
//
// The functions that fill in write into what they are given, leave alone what
// is set, and allocate only for what they fill in. Where a pod differs from a
// template, as in requests that follow from limits, kinds/core knows.
//
// The functions that validate expect defaults to be there. They report what
// kube-apiserver would, in its order, under its fields and in its words, with
// its mistakes: some fields have other names in messages, some lists are
// reported where one of their items is meant. A file has one part of a spec.
package podspec
