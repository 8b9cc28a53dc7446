// Package authn authenticates requests.
//
// An [Authenticator] is a function. [Chain] tries several in order. [Certificates] authenticates
// client certificates, [Bearer] bearer tokens of several kinds, each a [TokenFunc]: [StaticTokens],
// for example of a token file, and [ServiceAccounts]. [RequestHeaders] authenticates the users
// that a front proxy names. [Credentials] combines them for a server.
//
// [ServiceAccounts] also issues tokens. [Tokens] implements registry.Tokens with them, which serves
// TokenRequest and TokenReview. [OpenID] holds the documents with which other parties verify these
// tokens.
//
// Users (groups, extra, credential ids) and the errors that clients see are those of
// kube-apiserver.
package authn
