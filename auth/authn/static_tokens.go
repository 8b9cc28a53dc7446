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
)

// StaticTokens maps opaque tokens to users. The zero value is empty. It is safe for concurrent use.
type StaticTokens struct {
	mu      sync.RWMutex // guards byToken
	byToken map[[sha256.Size]byte]*authenticationv1.UserInfo
}

// Add maps a token to a user. It replaces an earlier entry of the token.
func (s *StaticTokens) Add(token string, user authenticationv1.UserInfo) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byToken == nil {
		s.byToken = map[[sha256.Size]byte]*authenticationv1.UserInfo{}
	}
	s.byToken[sha256.Sum256([]byte(token))] = user.DeepCopy()
}

// Identify returns the user of a token, nil for an unknown token.
func (s *StaticTokens) Identify(_ context.Context, token string) (*authenticationv1.UserInfo, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.byToken[sha256.Sum256([]byte(token))].DeepCopy(), nil
}

// AddFile adds the tokens of a CSV file in the format of kube-apiserver: token, user name, uid, and
// optionally the groups as one quoted column.
func (s *StaticTokens) AddFile(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("token file: %w", err)
	}
	defer file.Close()
	return s.addRecords(path, file)
}

// addRecords adds the tokens in the content of a file.
func (s *StaticTokens) addRecords(path string, content io.Reader) error {
	reader := csv.NewReader(content)
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
		s.Add(record[0], user)
	}
}
