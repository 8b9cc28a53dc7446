package registry

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
)

// Tokens issues and verifies tokens of service accounts. Implementations are safe for concurrent
// use.
type Tokens interface {
	// Audiences returns the audiences of the server, the default of requests and reviews of
	// tokens.
	Audiences() []string
	// Issue returns a signed token.
	Issue(ctx context.Context, claims TokenClaims) (string, error)
	// Identify verifies a token for one of the audiences. It returns an error for an invalid
	// token.
	Identify(ctx context.Context, token string, audiences []string) (*TokenIdentity, error)
}

// TokenClaims are the claims of a token of a service account.
type TokenClaims struct {
	Namespace string
	Account   TokenObject
	// Pod, Node and Secret are the objects that the token is bound to, at most one of them. The
	// token becomes invalid with them.
	Pod, Node, Secret *TokenObject
	Audiences         []string
	IssuedAt          time.Time
	Lifetime          time.Duration
	// WarnAfter is the part of an extended lifetime that was requested. 0: it is not extended.
	WarnAfter time.Duration
}

// TokenObject identifies an object by name and UID.
type TokenObject struct {
	Name string
	UID  string
}

// TokenIdentity is the user of a token and the requested audiences for which the token is valid.
type TokenIdentity struct {
	User      *authenticationv1.UserInfo
	Audiences []string
}
