package registry

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Tokens issues the tokens of service accounts and finds out whose a token is.
// Implementations are safe for concurrent use.
type Tokens interface {
	// Audiences are those of the server itself, which hold where a request for
	// a token, or a review of one, names none.
	Audiences() []string
	// Issue returns a signed token.
	Issue(ctx context.Context, claims TokenClaims) (string, error)
	// Identify checks a token that should be meant for one of the audiences. An
	// error says why it is good for nothing.
	Identify(ctx context.Context, token string, audiences []string) (*TokenIdentity, error)
}

// TokenClaims is what a service account's token says.
type TokenClaims struct {
	Namespace string
	Account   TokenObject
	// Pod, Node and Secret are what the token is bound to; nil: to the account
	// alone. It loses its validity with them.
	Pod, Node, Secret *TokenObject
	Audiences         []string
	IssuedAt          time.Time
	Lifetime          time.Duration
}

// TokenObject names one incarnation of an object.
type TokenObject struct {
	Name string
	UID  string
}

// TokenIdentity is whose a token is, and which of the audiences asked for it is
// meant for.
type TokenIdentity struct {
	User      *authenticationv1.UserInfo
	Audiences []string
}
