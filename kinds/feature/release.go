package feature

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Release is the minor version of a Kubernetes 1 release: 37 is 1.37.
type Release int

// The releases that can be emulated. Latest is the release of the libraries.
const (
	Oldest Release = 36
	Latest Release = 37
)

// String returns the release in the form 1.37.
func (r Release) String() string { return "1." + strconv.Itoa(int(r)) }

// parseRelease parses the value of --emulated-version: 1.36, v1.36 or kube=1.36. The empty string
// is the latest release. It returns the errors of kube-apiserver.
func parseRelease(text string) (Release, error) {
	if text == "" {
		return Latest, nil
	}
	if component, value, ok := strings.Cut(text, "="); ok {
		if component != "kube" {
			return 0, fmt.Errorf("component not registered: %s", component)
		}
		text = value
	}
	v, err := version.Parse(text)
	switch {
	case err != nil:
		return 0, errors.New(err.Error())
	case v.Patch() != 0:
		return 0, fmt.Errorf("patch version not allowed, got: kube=%s", v)
	case v.Major() != 1 || v.Minor() < uint(Oldest) || v.Minor() > uint(Latest):
		return 0, fmt.Errorf("emulation version %s is not between [%s, %s.0]", v, Oldest, Latest)
	}
	return Release(v.Minor()), nil
}
