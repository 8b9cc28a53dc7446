package registry

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/miniapi/miniapi/storage"
)

// UnsafeDelete deletes an object that cannot be decoded. Preconditions, finalizers, admission and
// hooks do not apply, since they need the object. The options of the request are ignored. The
// caller must authorize the user for the verb unsafe-delete-ignore-read-errors first.
func (s *Store) UnsafeDelete(ctx context.Context, req DeleteRequest) error {
	if err := s.checkWritable(req.Name); err != nil {
		return err
	}
	key, err := s.key(req.Namespace, req.Name)
	if err != nil {
		return err
	}
	defer s.writes.Add(1)
	_, err = s.storage.Delete(ctx, key, storage.DeleteOptions{OnlyCorrupt: true})
	if errors.Is(err, storage.ErrNotCorrupt) || errors.Is(err, storage.ErrNotFound) {
		return s.notCorrupt(req.Name)
	}
	return s.call("delete", req.Name, key).interpret(err)
}

// notCorrupt returns an error whose kind is the name of the resource, as in kube-apiserver.
func (s *Store) notCorrupt(name string) error {
	named := schema.GroupKind{Group: s.resource.Group, Kind: s.resource.Name}
	return apierrors.NewInvalid(named, name, field.ErrorList{field.Invalid(
		field.NewPath("ignoreStoreReadErrorWithClusterBreakingPotential"), true,
		"is exclusively used to delete corrupt object(s), try again by removing this option",
	)})
}

// corruptError returns the Status for objects that cannot be decoded.
func corruptError(c call, err error) error {
	var list *storage.CorruptListError
	var deleted *storage.CorruptDeletedError
	switch {
	case errors.As(err, &list):
		return corruptListError(c, list)
	case errors.As(err, &deleted):
		text := (&storage.CorruptDeletedError{Err: errors.New(corruptText(deleted.Err))}).Error()
		return storeReadError(metav1.Status{Reason: metav1.StatusReasonStoreReadError, Message: text})
	case c.verb == "update" && isTransformError(err):
		return apierrors.NewInternalError(errors.New(corruptText(err)))
	case c.verb == "update": // without a reason, as in kube-apiserver
		return storeReadError(metav1.Status{Message: corruptText(err)})
	}
	return apierrors.NewInternalError(errors.New(corruptObjectText(keyOf(err), err)))
}

// CorruptError returns the Status for an error that wraps storage.ErrCorrupt, and any other error
// unchanged.
func CorruptError(err error) error {
	if errors.Is(err, storage.ErrCorrupt) {
		return corruptError(call{}, err)
	}
	return err
}

// corruptListError returns a Status with one cause for each corrupt object.
func corruptListError(c call, err *storage.CorruptListError) error {
	var causes []metav1.StatusCause
	for _, object := range err.Objects {
		key := "/registry" + object.Key
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeUnexpectedServerResponse, Field: key, Message: corruptObjectText(key, object),
		})
	}
	if err.Truncated {
		causes = append(causes, metav1.StatusCause{
			Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated",
		})
	}
	return storeReadError(metav1.Status{
		Reason:  metav1.StatusReasonStoreReadError,
		Message: fmt.Sprintf("failed to read one or more %s from the storage", c.resource.String()),
		Details: &metav1.StatusDetails{Group: c.resource.Group, Kind: c.resource.Resource, Name: "list", Causes: causes},
	})
}

func storeReadError(status metav1.Status) error {
	status.Status, status.Code = metav1.StatusFailure, http.StatusInternalServerError
	return &apierrors.StatusError{ErrStatus: status}
}

// corruptObjectText returns the text that kube-apiserver has for a corrupt object.
func corruptObjectText(key string, err error) string {
	return fmt.Sprintf("StorageError: corrupt object, Code: 7, Key: %s, ResourceVersion: 0, AdditionalErrorMsg: %s", key, corruptText(err))
}

func corruptText(err error) string {
	keyed := cmp.Or(decodeError(err), &storage.KeyError{Err: err})
	text := "object not decodable"
	if isTransformError(err) {
		text = "data from the storage is not transformable"
	}
	cause := strings.TrimPrefix(keyed.Err.Error(), storage.ErrCorrupt.Error()+": ")
	return fmt.Sprintf("%s revision=%d: %s", text, keyed.Revision, cause)
}

// isTransformError reports whether the transformer could not read the stored bytes.
func isTransformError(err error) bool {
	keyed := decodeError(err)
	return keyed != nil && keyed.Op == "transform"
}

func keyOf(err error) string {
	if keyed := decodeError(err); keyed != nil {
		return keyed.Key
	}
	return ""
}

// decodeError returns the innermost KeyError, which the decoder or the transformer made, or nil.
func decodeError(err error) *storage.KeyError {
	var found *storage.KeyError
	if !errors.As(err, &found) {
		return nil
	}
	return cmp.Or(decodeError(found.Err), found)
}
