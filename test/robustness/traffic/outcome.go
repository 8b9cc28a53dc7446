package traffic

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"syscall"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/storage/storagetest/model"
)

// refusals are the codes with which a server rejects a request before it has any effect.
var refusals = []int32{
	http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusMethodNotAllowed,
	http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity,
	http.StatusTooManyRequests,
}

// outcomeOf returns the outcome of an operation with an error.
func outcomeOf(err error) Outcome {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return OK
	case errors.Is(err, syscall.ECONNREFUSED): // nothing was sent
		return Refused
	case errors.As(err, &status) && slices.Contains(refusals, status.Status().Code):
		return Refused
	case apierrors.IsServerTimeout(err), strings.Contains(err.Error(), storage.ErrNoSpace.Error()):
		return Refused // servers promise that nothing was written
	}
	return Unknown
}

// sawBy returns what an error shows of the object with a name.
func sawBy(err error, name string, base int64) model.Visibility {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return ""
	}
	details := status.Status().Details
	if details == nil || details.Name != name { // the resource is not served
		return ""
	}
	switch {
	case apierrors.IsNotFound(err):
		return model.SawNothing
	case apierrors.IsAlreadyExists(err):
		return model.SawAny
	case apierrors.IsConflict(err) && base > 0:
		return model.SawOther
	}
	return ""
}
