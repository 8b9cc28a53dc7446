package storage

import (
	"fmt"
	"strings"
)

// CheckKey refuses keys that could mean something outside their place.
func CheckKey(key string) error {
	if key == "" || key == "/" {
		return fmt.Errorf("empty key: %q", key)
	}
	if !strings.HasPrefix(key, "/") {
		return fmt.Errorf("invalid key: %q does not begin with a slash", key)
	}
	for segment := range strings.SplitSeq(key, "/") {
		if segment == "." || segment == ".." {
			return fmt.Errorf("invalid key: %q", key)
		}
	}
	return nil
}
