package registry

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
)

// key returns where an object is stored. Nothing that a client sends may
// address another resource's keys.
func (s *Store) key(namespace, name string) (string, error) {
	root, err := s.rootKey(namespace)
	if err != nil {
		return "", err
	}
	if s.resource.Namespaced && namespace == "" {
		return "", apierrors.NewBadRequest("Namespace parameter required.")
	}
	if name == "" {
		return "", apierrors.NewBadRequest("Name parameter required.")
	}
	if faults := path.IsValidPathSegmentName(name); len(faults) > 0 {
		return "", invalidParameter("Name", name, faults)
	}
	return root + name, nil
}

// root is what the keys of all objects begin with.
func (s *Store) root() string { return "/" + s.resource.StoragePath + "/" }

// rootKey returns what the keys of all objects begin with, or of those in one
// namespace.
func (s *Store) rootKey(namespace string) (string, error) {
	root := s.root()
	if !s.resource.Namespaced || namespace == "" {
		return root, nil
	}
	if faults := path.IsValidPathSegmentName(namespace); len(faults) > 0 {
		return "", invalidParameter("Namespace", namespace, faults)
	}
	return root + namespace + "/", nil
}

func invalidParameter(parameter, value string, faults []string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s parameter invalid: %q: %s", parameter, value, strings.Join(faults, ";")))
}
