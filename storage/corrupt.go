package storage

import (
	"errors"
	"fmt"
)

// maxCorrupt is the number of corrupt objects after which a list stops, as in kube-apiserver.
const maxCorrupt = 100

// CorruptListError is the error of a list with objects that cannot be decoded.
// errors.Is(err, ErrCorrupt) is true.
type CorruptListError struct {
	// Objects has the errors of these objects in the order of their keys.
	Objects []*KeyError
	// Truncated is set if the list stopped at the maximum number of corrupt objects.
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

// CorruptObjects collects the corrupt objects of a list. The zero value is ready for use.
type CorruptObjects struct{ list CorruptListError }

// Add adds the error of an object. It returns nil if the list can continue, and otherwise the
// error of the list: err itself if it is no ErrCorrupt, or a truncated CorruptListError.
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

// Err returns the error of a complete list, nil without corrupt objects.
func (c *CorruptObjects) Err() error {
	if len(c.list.Objects) == 0 {
		return nil
	}
	return &c.list
}

// CorruptDeletedError is the Err of a watch event for the deletion of an object that cannot be
// decoded. errors.Is(err, ErrCorrupt) is true.
type CorruptDeletedError struct{ Err error }

func (e *CorruptDeletedError) Error() string {
	return "saw a DELETED event, but object data is corrupt - " + e.Err.Error()
}

// Unwrap returns the error of the object.
func (e *CorruptDeletedError) Unwrap() error { return e.Err }
