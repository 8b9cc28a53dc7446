// Package authz combines authorizers.
//
// [Chain] tries several authorizers in order, as kube-apiserver does with the list of
// --authorization-mode. Package rbac has the authorizer of roles. This package has the authorizers
// without state: [Masters], [AlwaysDeny] and [Node]. Package registry has AlwaysAllow.
package authz
