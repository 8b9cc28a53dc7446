// Package podspec fills in what a client left out of a pod spec, wherever one
// is: in a pod, in the templates of the workloads, in a PodTemplate. What a pod
// spec is made of and what other kinds have too (claims, persistent volumes,
// lists of resources) is here as well.
//
// The functions write into what they are given, leave alone what is set, and
// allocate only for what they fill in. Where a pod differs from a template,
// as in requests that follow from limits, kinds/core knows.
package podspec
