package authn

import (
	"context"
	"crypto/sha256"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/miniapi/miniapi/registry"
)

// Users knows users by tokens that say nothing by themselves. The zero value
// knows nobody. Safe for concurrent use.
type Users struct {
	mu      sync.RWMutex // guards byToken
	byToken map[[sha256.Size]byte]*authenticationv1.UserInfo
}

// Add makes a token that of user; one that was added before is replaced.
func (u *Users) Add(token string, user authenticationv1.UserInfo) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.byToken == nil {
		u.byToken = map[[sha256.Size]byte]*authenticationv1.UserInfo{}
	}
	u.byToken[sha256.Sum256([]byte(token))] = user.DeepCopy()
}

// Identify is a TokenFunc. These tokens are meant for every audience.
func (u *Users) Identify(_ context.Context, token string, audiences []string) (*registry.TokenIdentity, error) {
	u.mu.RLock()
	defer u.mu.RUnlock()
	user, ok := u.byToken[sha256.Sum256([]byte(token))]
	if !ok {
		return nil, nil
	}
	return &registry.TokenIdentity{User: user.DeepCopy(), Audiences: audiences}, nil
}

// AddFile adds the tokens of a file as kube-apiserver reads it: lines of token,
// user name, uid and, as one quoted column, the groups.
func (u *Users) AddFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	defer file.Close()
	reader := csv.NewReader(file)
	reader.FieldsPerRecord = -1
	for {
		record, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("token file %s: %w", path, err)
		}
		if len(record) < 3 {
			return fmt.Errorf("token file '%s' must have at least 3 columns (token, user name, user uid), found %d", path, len(record))
		}
		if record[0] == "" {
			line, _ := reader.FieldPos(0)
			return fmt.Errorf("token file %s: line %d has an empty token", path, line)
		}
		user := authenticationv1.UserInfo{Username: record[1], UID: record[2]}
		if len(record) >= 4 {
			user.Groups = strings.Split(record[3], ",")
		}
		u.Add(record[0], user)
	}
}
