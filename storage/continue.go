package storage

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path"
	"strings"
)

// continueToken has the format of kube-apiserver, so that a list that begins on one server can
// continue on the other. kube-apiserver writes a slash before the start key if it answers from its
// cache, as it nearly always does, and none if it answers from etcd.
type continueToken struct {
	APIVersion      string `json:"v"`
	ResourceVersion int64  `json:"rv"`
	StartKey        string `json:"start"`
}

const continueVersion = "meta.k8s.io/v1"

// EncodeContinue returns the token of the page after lastKey, a key below prefix, in the list read
// at revision.
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

// DecodeContinue returns the first key of the page that a token stands for, and the revision to
// read it at. A negative revision means the latest. Errors wrap ErrInvalidContinue.
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
	// The token comes from a client, so the key is checked to be below the prefix.
	start := "/" + strings.TrimPrefix(c.StartKey, "/")
	if path.Clean(start) != start {
		return "", 0, fmt.Errorf("%w: %v", ErrInvalidContinue, c.StartKey)
	}
	return prefix + start[1:], c.ResourceVersion, nil
}
