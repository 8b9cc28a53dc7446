package storage

import (
	"fmt"
	"strings"
)

// CheckKey returns an error for a key that is empty, has no leading slash, or contains the segments
// "." or "..", which could point outside its resource.
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
