package storage

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// continueToken is kube-apiserver's, so that a list which was begun on one can
// be continued on the other. The start key begins with a slash where
// kube-apiserver answers from its cache, which is nearly always, and has none
// where it answers from etcd.
type continueToken struct {
	APIVersion      string `json:"v"`
	ResourceVersion int64  `json:"rv"`
	StartKey        string `json:"start"`
}

const continueVersion = "meta.k8s.io/v1"

// EncodeContinue returns the token of the page that begins after lastKey, a key
// below prefix, in the list read at revision.
func EncodeContinue(lastKey, prefix string, revision int64) (string, error) {
	rest, ok := strings.CutPrefix(lastKey, prefix)
	if !ok {
		return "", fmt.Errorf("key %q is not below %q", lastKey, prefix)
	}
	token := continueToken{APIVersion: continueVersion, ResourceVersion: revision, StartKey: "/" + rest + "\x00"}
	data, err := json.Marshal(token)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(data), nil
}

// DecodeContinue returns the first key of the page after a token, and the
// revision to read it at: a negative one means the latest. Errors wrap
// ErrInvalidContinue.
func DecodeContinue(token, prefix string) (fromKey string, revision int64, err error) {
	data, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return "", 0, fmt.Errorf("%w: %w", ErrInvalidContinue, err)
	}
	var c continueToken
	if err := json.Unmarshal(data, &c); err != nil {
		return "", 0, fmt.Errorf("%w: %w", ErrInvalidContinue, err)
	}
	if c.APIVersion != continueVersion {
		return "", 0, fmt.Errorf("%w: server does not recognize this encoded version %v", ErrInvalidContinue, c.APIVersion)
	}
	if c.ResourceVersion == 0 {
		return "", 0, fmt.Errorf("%w: incorrect encoded start resourceVersion (version meta.k8s.io/v1)", ErrInvalidContinue)
	}
	if c.StartKey == "" {
		return "", 0, fmt.Errorf("%w: encoded start key empty (version meta.k8s.io/v1)", ErrInvalidContinue)
	}
	// The key must stay below the prefix: a token is data from a client.
	start := "/" + strings.TrimPrefix(c.StartKey, "/")
	if path.Clean(start) != start {
		return "", 0, fmt.Errorf("%w: %v", ErrInvalidContinue, c.StartKey)
	}
	return prefix + start[1:], c.ResourceVersion, nil
}
