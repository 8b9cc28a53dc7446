package upstreamstorage

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	upstream "k8s.io/apiserver/pkg/storage"

	"github.com/miniapi/miniapi/storage"
)

// translate returns upstream's error for one of ours.
func (a *adapter) translate(key string, err error) error {
	var future *storage.FutureRevisionError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, storage.ErrNotFound):
		return upstream.NewKeyNotFoundError(key, 0)
	case errors.Is(err, storage.ErrExists):
		return upstream.NewKeyExistsError(key, 0)
	case errors.Is(err, storage.ErrPrecondition), errors.Is(err, storage.ErrNotCorrupt):
		return upstream.NewInvalidObjError(key, err.Error())
	case errors.As(err, &future):
		return upstream.NewTooLargeResourceVersionError(uint64(future.Requested), uint64(future.Current), 0)
	case errors.Is(err, storage.ErrCorrupt):
		return upstream.NewInternalError(err)
	case strings.Contains(err.Error(), upstream.ErrResourceVersionSetOnCreate.Error()):
		return upstream.ErrResourceVersionSetOnCreate
	default:
		return err
	}
}

// translateList is translate for GetList.
func (a *adapter) translateList(key string, opts upstream.ListOptions, err error) error {
	var corrupt *storage.CorruptListError
	switch {
	case errors.As(err, &corrupt) && a.aggregates:
		return corruptStatus(corrupt)
	case errors.Is(err, storage.ErrInvalidContinue):
		return apierrors.NewBadRequest("invalid continue token: " + err.Error())
	case !errors.Is(err, storage.ErrCompacted):
		return a.translate(key, err)
	case opts.Predicate.Continue == "":
		return apierrors.NewResourceExpired("The resourceVersion for the provided list is too old.")
	}
	return a.continueExpired(key, opts.Predicate.Continue)
}

// continueExpired returns the error 410 with a token that continues at the latest revision.
func (a *adapter) continueExpired(key, token string) error {
	prefix := strings.TrimSuffix(key, "/") + "/"
	from, _, err := storage.DecodeContinue(token, prefix)
	if err != nil {
		return err
	}
	expired := apierrors.NewResourceExpired("The provided continue parameter is too old to display a consistent list result.")
	expired.ErrStatus.ListMeta.Continue, err = storage.EncodeContinue(strings.TrimSuffix(from, "\x00"), prefix, -1)
	if err != nil {
		return err
	}
	return expired
}

// corruptStatus has a cause for each object.
func corruptStatus(err *storage.CorruptListError) error {
	status := apierrors.NewInternalError(err)
	status.ErrStatus.Details.Causes = nil
	for _, object := range err.Objects {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes,
			metav1.StatusCause{Type: metav1.CauseTypeUnexpectedServerResponse, Field: object.Key, Message: object.Error()})
	}
	if err.Truncated {
		status.ErrStatus.Details.Causes = append(status.ErrStatus.Details.Causes,
			metav1.StatusCause{Type: metav1.CauseTypeTooMany, Message: "too many errors, the list is truncated"})
	}
	return status
}
