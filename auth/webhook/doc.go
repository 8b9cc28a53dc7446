// Package webhook authenticates tokens and authorizes requests by webhooks.
//
// [Tokens] sends TokenReviews, [Authorizer] sends SubjectAccessReviews; both cache the answers.
// They call the server of a kubeconfig through a [Client]. The requests, retries and decisions are
// the ones of kube-apiserver, except that responses are limited and redirects are not followed.
package webhook
