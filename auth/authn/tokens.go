package authn

import (
	"context"

	"github.com/miniapi/miniapi/registry"
)

// Tokens is the registry's view of tokens: service accounts issue them, and
// those of all kinds can be reviewed.
type Tokens struct {
	*ServiceAccounts
	// Any checks tokens of all kinds.
	Any TokenFunc
}

var _ registry.Tokens = Tokens{}

// Audiences implements registry.Tokens: this server's names.
func (t Tokens) Audiences() []string { return t.config.Issuers }

// Identify implements registry.Tokens.
func (t Tokens) Identify(ctx context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	return t.Any(ctx, token, audiences)
}
