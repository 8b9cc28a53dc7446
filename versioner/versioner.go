package versioner

import (
	"errors"
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ErrInvalidVersion is wrapped by every error about a malformed resourceVersion.
// The request is invalid (400); the version is never read as 0.
var ErrInvalidVersion = errors.New("invalid resource version")

// Versioner reads and writes the resourceVersion of objects and lists. Revisions
// are etcd revisions: positive, or 0 if none is set.
type Versioner interface {
	// UpdateObject stamps obj with the ModRevision of its key. Revision 0
	// clears the version, as on the answer to a dry-run create.
	UpdateObject(obj runtime.Object, revision int64) error

	// UpdateList stamps a list with the revision it was read at, the token of
	// its next page ("" on the last page), and the number of objects on later
	// pages (nil if unknown).
	UpdateList(list runtime.Object, revision int64, continueToken string, remaining *int64) error

	// PrepareObjectForStorage removes the fields that are never stored: the
	// resourceVersion and the selfLink.
	PrepareObjectForStorage(obj runtime.Object) error

	// ObjectResourceVersion returns the revision of obj, 0 if it has none. A malformed version is
	// an error that wraps ErrInvalidVersion.
	ObjectResourceVersion(obj runtime.Object) (int64, error)

	// ParseResourceVersion parses the resourceVersion of a request. The empty
	// string and "0" both return 0; a caller that distinguishes "most recent" from
	// "any" compares the string. A malformed version is an error that wraps
	// ErrInvalidVersion.
	ParseResourceVersion(version string) (int64, error)
}

// APIObjectVersioner implements Versioner for all types with ObjectMeta or ListMeta.
type APIObjectVersioner struct{}

var _ Versioner = APIObjectVersioner{}

// UpdateObject implements Versioner.
func (APIObjectVersioner) UpdateObject(obj runtime.Object, revision int64) error {
	if revision < 0 {
		return fmt.Errorf("negative revision %d", revision)
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	version := ""
	if revision > 0 {
		version = Format(revision)
	}
	accessor.SetResourceVersion(version)
	return nil
}

// UpdateList implements Versioner.
func (APIObjectVersioner) UpdateList(list runtime.Object, revision int64, continueToken string, remaining *int64) error {
	if revision <= 0 {
		return fmt.Errorf("a list needs the revision it was read at, got %d", revision)
	}
	accessor, err := meta.ListAccessor(list)
	if err != nil {
		return err
	}
	accessor.SetResourceVersion(Format(revision))
	accessor.SetContinue(continueToken)
	accessor.SetRemainingItemCount(remaining)
	return nil
}

// PrepareObjectForStorage implements Versioner.
func (APIObjectVersioner) PrepareObjectForStorage(obj runtime.Object) error {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return err
	}
	accessor.SetResourceVersion("")
	accessor.SetSelfLink("")
	return nil
}

// ObjectResourceVersion implements Versioner.
func (v APIObjectVersioner) ObjectResourceVersion(obj runtime.Object) (int64, error) {
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return 0, err
	}
	return v.ParseResourceVersion(accessor.GetResourceVersion())
}

// ParseResourceVersion implements Versioner. The error has the text of kube-apiserver. Versions of
// more than 63 bits are malformed, because etcd has no such revisions.
func (APIObjectVersioner) ParseResourceVersion(version string) (int64, error) {
	if version == "" {
		return 0, nil
	}
	revision, err := strconv.ParseUint(version, 10, 63)
	if err != nil {
		invalid := field.Invalid(field.NewPath("resourceVersion"), version, err.Error())
		return 0, fmt.Errorf("%w: %w", ErrInvalidVersion, invalid)
	}
	return int64(revision), nil
}

// Format returns the resourceVersion of a revision.
func Format(revision int64) string { return strconv.FormatInt(revision, 10) }

// AppendFormat appends the resourceVersion of a revision to dst.
func AppendFormat(dst []byte, revision int64) []byte { return strconv.AppendInt(dst, revision, 10) }
