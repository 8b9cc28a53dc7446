package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// versionName names a version of an object, the present one if the resourceVersion is 0.
type versionName struct {
	object          string
	resourceVersion int64
}

func (v versionName) String() string {
	if v.resourceVersion == 0 {
		return v.object
	}
	return fmt.Sprintf("%s@%d", v.object, v.resourceVersion)
}

// parseComparison returns the two versions that arguments name.
func parseComparison(args []string) ([2]versionName, error) {
	var compared [2]versionName
	if len(args) == 0 || len(args) > len(compared) {
		return compared, errComparison
	}
	for i, arg := range args {
		var ok bool
		if compared[i], ok = parseVersionName(arg); !ok {
			return compared, fmt.Errorf("%q: %w", arg, errComparison)
		}
	}
	if compared[1].object == "" {
		compared[1].object = compared[0].object
	}
	if !isObjectArgument(compared[0].object) || !isObjectArgument(compared[1].object) || compared[0] == compared[1] {
		return compared, errComparison
	}
	return compared, nil
}

var errComparison = errors.New("diff takes one or two different versions, such as deploy/web@120 @134")

// parseVersionName parses [TYPE/NAME][@VERSION]. A name may contain @.
func parseVersionName(arg string) (name versionName, ok bool) {
	i := strings.LastIndexByte(arg, '@')
	if i < 0 {
		return versionName{object: arg}, true
	}
	resourceVersion, err := strconv.ParseInt(arg[i+1:], 10, 64)
	if err != nil {
		return versionName{object: arg}, i > 0
	}
	return versionName{arg[:i], resourceVersion}, resourceVersion > 0
}

// compareVersions prints the difference between two versions, and reports whether there is one.
func compareVersions(ctx context.Context, access *serverAccess, compared [2]versionName, out io.Writer) (differ bool, err error) {
	client, err := access.open(ctx)
	if err != nil {
		return false, err
	}
	defer client.close()
	var sides [2]diffSide
	for i, version := range compared {
		path, err := client.pathOf(ctx, version.object, access.namespace)
		if err != nil {
			return false, err
		}
		if sides[i].object, err = client.version(ctx, path, &compared[i]); err != nil {
			return false, fmt.Errorf("diff of %s: %w", version, err)
		}
		sides[i].name = compared[i].String()
	}
	return printDiff(out, sides[0], sides[1])
}

// version returns a version of the object at a path, and sets the resourceVersion of the present
// one.
func (c *serverClient) version(ctx context.Context, path string, name *versionName) (*unstructured.Unstructured, error) {
	if name.resourceVersion > 0 {
		path += "?" + url.Values{
			"resourceVersion": {strconv.FormatInt(name.resourceVersion, 10)}, "resourceVersionMatch": {"Exact"},
		}.Encode()
	}
	body, err := c.get(ctx, path)
	if apierrors.IsNotFound(err) && name.resourceVersion > 0 {
		return nil, fmt.Errorf("the object did not exist at this resourceVersion (see miniapi history %s)", name.object)
	}
	if err != nil {
		return nil, err
	}
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(body); err != nil {
		return nil, err
	}
	found, err := strconv.ParseInt(object.GetResourceVersion(), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the object has no version that can be compared: resourceVersion %q", object.GetResourceVersion())
	}
	switch wanted := cmp.Or(name.resourceVersion, found); {
	case found > wanted:
		return nil, errors.New("the server ignores resourceVersionMatch=Exact: start it with --enable-test-apis")
	case found < wanted:
		return nil, fmt.Errorf("not a version of the object, which was at %d then (see miniapi history %s)", found, name.object)
	}
	name.resourceVersion = found
	return object, nil
}
