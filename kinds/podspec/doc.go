// Package podspec holds the defaults, the validation and the warnings of pod specs, for pods and
// for the templates of workloads, and of types that other kinds share with them: claims, persistent
// volumes and lists of resources. Each file covers one part of a spec: <part>_defaults.go,
// <part>_validation.go and <part>_warnings.go.
//
// The defaulting functions write to their arguments, keep fields that are set, and allocate only
// for fields that they set. Package core has the defaults of pods that templates do not have, such
// as requests that derive from limits.
//
// The validation functions expect defaulted objects. They return the errors of kube-apiserver, in
// its order, with its fields and its texts. That includes its mistakes: some fields have other
// names in messages, and some errors name a list instead of one of its items.
package podspec
