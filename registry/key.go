package registry

import (
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validation/path"
)

// key returns the key of an object. No input of a client addresses keys of another resource.
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
	if errs := path.IsValidPathSegmentName(name); len(errs) > 0 {
		return "", invalidParameter("Name", name, errs)
	}
	return root + name, nil
}

// root returns the common prefix of the keys.
func (s *Store) root() string { return "/" + s.resource.StoragePath + "/" }

// rootKey returns the prefix of the keys of all objects, or of the objects in a namespace.
func (s *Store) rootKey(namespace string) (string, error) {
	root := s.root()
	if !s.resource.Namespaced || namespace == "" {
		return root, nil
	}
	if errs := path.IsValidPathSegmentName(namespace); len(errs) > 0 {
		return "", invalidParameter("Namespace", namespace, errs)
	}
	return root + namespace + "/", nil
}

func invalidParameter(parameter, value string, errs []string) error {
	return apierrors.NewBadRequest(fmt.Sprintf("%s parameter invalid: %q: %s", parameter, value, strings.Join(errs, ";")))
}
