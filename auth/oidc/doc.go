// Package oidc authenticates JSON Web Tokens of OpenID Connect issuers.
//
// [Config] names an AuthenticationConfiguration, or one issuer by the flags --oidc-* of
// kube-apiserver. [Authenticator] verifies tokens by the plugin of k8s.io/apiserver, so that
// claims, CEL expressions and errors are as in kube-apiserver. The file is loaded again when it
// changes.
//
// Nothing is sent to an issuer before a token of it arrives. The first token starts the discovery
// of its keys and waits for them, and a failed discovery is repeated by later tokens.
package oidc
