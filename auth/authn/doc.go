// Package authn finds out who makes a request.
//
// An [Authenticator] is a function; [Chain] asks several in order. There is
// one for client certificates ([Certificates]), one for bearer tokens
// ([Bearer]) of whatever kinds a [TokenFunc] knows ([Users], which a token
// file fills, and [ServiceAccounts]), and [OrAnonymous] for requests without credentials.
//
// [ServiceAccounts] also issues tokens: [Tokens] puts both sides together as
// the registry.Tokens which TokenRequest and TokenReview are answered by. What
// others need to check these tokens is [OpenID].
//
// What users look like (groups, extra, the credential's id) and what clients
// see of failures is that of kube-apiserver.
package authn
