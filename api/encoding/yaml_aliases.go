package encoding

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// maxExpandedYAML limits the strings of a YAML body in which each alias counts as a copy of its
// value. It is the limit of a body: the JSON form of 200 KB with aliases can have gigabytes.
const maxExpandedYAML = 3 << 20

// checkYAMLBody checks the nesting and the aliases of a YAML body.
func checkYAMLBody(data []byte) error {
	if err := CheckDepth(data); err != nil {
		return err
	}
	return CheckAliases(data)
}

// CheckAliases returns a 413 for a YAML body that is too large when its aliases are replaced by
// their values. Other malformed bodies pass.
func CheckAliases(data []byte) error {
	if bytes.IndexByte(data, '&') < 0 || bytes.IndexByte(data, '*') < 0 {
		return nil
	}
	var value any
	if yaml.Unmarshal(data, &value) != nil {
		return nil
	}
	if expandedSize(value, maxExpandedYAML) > maxExpandedYAML {
		return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", maxExpandedYAML))
	}
	return nil
}

// expandedSize returns the size of the strings in a value, with one byte for each other value. It
// stops after limit.
func expandedSize(value any, limit int) int {
	size := 1
	switch v := value.(type) {
	case string:
		size += len(v)
	case []any:
		for i := 0; i < len(v) && size <= limit; i++ {
			size += expandedSize(v[i], limit-size)
		}
	case map[any]any:
		for key, member := range v {
			if size > limit {
				break
			}
			size += expandedSize(key, limit-size) + expandedSize(member, limit-size)
		}
	}
	return size
}
