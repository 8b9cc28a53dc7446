package storage

import (
	"errors"
	"fmt"
)

// maxCorrupt is the number of corrupt objects after which a list stops, that of
// kube-apiserver.
const maxCorrupt = 100

// CorruptListError is the error of a list over objects that cannot be decoded.
// errors.Is(err, ErrCorrupt) is true.
type CorruptListError struct {
	// Objects has the error of each of them, in the order of keys.
	Objects []*KeyError
	// Truncated is set if the list stopped before its end.
	Truncated bool
}

func (e *CorruptListError) Error() string {
	text := fmt.Sprintf("%d objects cannot be decoded, the first: %v", len(e.Objects), e.Objects[0])
	if e.Truncated {
		text += "; the list is truncated"
	}
	return text
}

// Is makes errors.Is(err, ErrCorrupt) true.
func (e *CorruptListError) Is(target error) bool { return target == ErrCorrupt }

// CorruptObjects collects the corrupt objects that a list meets. The zero value is
// ready for use.
type CorruptObjects struct{ list CorruptListError }

// Add returns nil if the list can go on after err, and the error of the list
// otherwise: an error that is not about one object's bytes, or too many that are.
func (c *CorruptObjects) Add(err error) error {
	var keyed *KeyError
	if !errors.Is(err, ErrCorrupt) || !errors.As(err, &keyed) {
		return err
	}
	c.list.Objects = append(c.list.Objects, keyed)
	if len(c.list.Objects) < maxCorrupt {
		return nil
	}
	c.list.Truncated = true
	return &c.list
}

// Err returns the error of a list that has come to its end, nil if it met no
// corrupt object.
func (c *CorruptObjects) Err() error {
	if len(c.list.Objects) == 0 {
		return nil
	}
	return &c.list
}

// CorruptDeletedError is the Err of a watch event for the deletion of an object
// that cannot be decoded. errors.Is(err, ErrCorrupt) is true.
type CorruptDeletedError struct{ Err error }

func (e *CorruptDeletedError) Error() string {
	return "saw a DELETED event, but object data is corrupt - " + e.Err.Error()
}

// Unwrap returns the error of the object.
func (e *CorruptDeletedError) Unwrap() error { return e.Err }
