package registry

import (
	"context"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
)

const (
	maxNameLength    = 63
	nameSuffixLength = 5

	duplicateOwnersText = ".metadata.ownerReferences contains duplicate entries%s; API server dedups owner references in 1.20+, " +
		"and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: %v"
	afterAdmission = " after mutating admission happens"
)

// appendSuffix returns a name with a random suffix, at most 63 characters long.
func appendSuffix(base string) string {
	return base[:min(len(base), maxNameLength-nameSuffixLength)] + rand.String(nameSuffixLength)
}

// wipeSystemFields clears the fields that only the server sets.
func wipeSystemFields(obj metav1.Object) {
	obj.SetCreationTimestamp(metav1.Time{})
	obj.SetUID("")
	obj.SetDeletionTimestamp(nil)
	obj.SetDeletionGracePeriodSeconds(nil)
	obj.SetSelfLink("")
}

// setSystemFields sets the fields that the server sets on a new object.
func setSystemFields(obj metav1.Object, now time.Time) {
	obj.SetCreationTimestamp(metav1.NewTime(now))
	obj.SetUID(uuid.NewUUID())
}

// CheckNamespace returns an error if the namespace of an object differs from the namespace of the
// URL. It sets the namespace of an object without one, and clears it for cluster-scoped
// resources.
func (r *Resource) CheckNamespace(obj metav1.Object, namespace string) error {
	if !r.Namespaced {
		namespace = ""
	}
	current := obj.GetNamespace()
	if current != "" && namespace != "" && current != namespace {
		return apierrors.NewBadRequest("the namespace of the provided object does not match the namespace sent on the request")
	}
	obj.SetNamespace(namespace)
	return nil
}

// CheckName returns an error if the name of an object differs from the name of the URL.
func CheckName(obj metav1.Object, name string) error {
	switch current := obj.GetName(); current {
	case name:
		return nil
	case "":
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", name))
	default:
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", current, name))
	}
}

// dropDuplicateOwners removes duplicates among the owner references and adds a warning. when is
// the part of the warning about the time of the check.
func dropDuplicateOwners(ctx context.Context, obj metav1.Object, when string) {
	refs := obj.GetOwnerReferences()
	var kept []metav1.OwnerReference
	var duplicates []string
	taken := make(map[ownerKey]bool, len(refs))
	for i := range refs {
		key := keyOfOwner(&refs[i])
		if taken[key] {
			duplicates = append(duplicates, string(refs[i].UID))
			continue
		}
		taken[key] = true
		kept = append(kept, refs[i])
	}
	if len(duplicates) == 0 {
		return
	}
	AddWarning(ctx, fmt.Sprintf(duplicateOwnersText, when, strings.Join(duplicates, ", ")))
	obj.SetOwnerReferences(kept)
}

// ownerKey has the values of an owner reference.
type ownerKey struct {
	metav1.OwnerReference // without pointers
	controller, blocks    triState
}

// triState is the value of a *bool: nil, false or true.
type triState struct{ set, value bool }

func keyOfOwner(ref *metav1.OwnerReference) ownerKey {
	key := ownerKey{*ref, triStateOf(ref.Controller), triStateOf(ref.BlockOwnerDeletion)}
	key.Controller, key.BlockOwnerDeletion = nil, nil
	return key
}

func triStateOf(p *bool) triState { return triState{p != nil, p != nil && *p} }
