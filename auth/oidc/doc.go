// Package oidc authenticates JSON Web Tokens of OpenID Connect issuers.
//
// [Config] names an AuthenticationConfiguration, or one issuer by the flags --oidc-* of
// kube-apiserver. [Authenticator] verifies tokens by the plugin of k8s.io/apiserver, so that
// claims, CEL expressions and errors are as in kube-apiserver. The file is loaded again when it
// changes.
//
// The server sends no request to an issuer before the first token of that issuer arrives. This
// token starts the discovery of the keys and waits for it. Later tokens repeat a failed discovery.
package oidc
