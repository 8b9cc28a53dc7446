// Package authz combines authorizers.
//
// [Chain] tries several authorizers in order, as kube-apiserver does with the list of
// --authorization-mode. Package rbac has the authorizer of roles, package node the authorizer of
// kubelets. This package has [Masters] and [AlwaysDeny]. Package registry has AlwaysAllow.
package authz
