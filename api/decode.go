package api

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"reflect"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/registry"
)

// maxBody is how many bytes a request may carry.
const maxBody = 3 << 20

// schemeName is what kube-apiserver's scheme is called in its errors.
const schemeName = "pkg/runtime/scheme.go:111"

// readBody reads the body, for which the client has as long as for the whole
// request. What goes wrong is the client's doing.
func (c *call) readBody() ([]byte, error) {
	if c.r.Body == http.NoBody {
		return nil, nil
	}
	setDeadline := http.NewResponseController(c.w).SetReadDeadline
	if deadline, ok := c.r.Context().Deadline(); ok {
		_ = setDeadline(deadline)
	}
	release := c.server.cutOnShutdown(setDeadline, lastRead)
	var body bytes.Buffer
	body.Grow(roomFor(c.r.ContentLength))
	_, err := body.ReadFrom(http.MaxBytesReader(c.w, c.r.Body, maxBody))
	release()
	if err == nil {
		// From here on the connection is read to find out whether the client is
		// still there, for as long as it takes.
		_ = setDeadline(time.Time{})
		return body.Bytes(), nil
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", tooLarge.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, apierrors.NewTimeoutError("the body of the request did not arrive in time", 0)
	}
	return nil, apierrors.NewBadRequest(fmt.Sprintf("read the body: %v", err))
}

// roomFor is how much room to make for a body of an announced length, which
// the client may not keep.
func roomFor(announced int64) int {
	const believed = 64 << 10
	return int(min(max(announced, 0), believed)) + bytes.MinRead
}

// decodeBody reads the object in a request's body and returns it in the hub
// version. Unknown and duplicate fields are ignored, warned of or refused.
func (c *call) decodeBody(validation string) (runtime.Object, error) {
	m, err := c.server.codec.ofContentType(c.r.Header.Get("Content-Type"))
	if err != nil {
		return nil, err
	}
	data, err := c.readBody()
	if err != nil {
		return nil, err
	}
	if err := checkDepth(data); err != nil {
		return nil, err
	}
	want := c.kind()
	obj, got, err := decode(m, data, c.decodeOptions(validation))
	if err != nil {
		if strict, ok := runtime.AsStrictDecodingError(err); !ok || obj == nil || validation != metav1.FieldValidationWarn {
			return nil, decodeError(err, got, want, data)
		} else {
			c.warnOfFields(strict.Errors())
		}
	}
	if got.GroupVersion() != want.GroupVersion() {
		text := "the API version in the data (%s) does not match the expected API version (%s)"
		return nil, apierrors.NewBadRequest(fmt.Sprintf(text, got.GroupVersion(), want.GroupVersion()))
	}
	registry.ClearKind(obj)
	return c.toHub(obj)
}

// warnOfFields tells the client which fields were ignored.
func (c *call) warnOfFields(faults []error) {
	for _, fault := range faults {
		for _, text := range fieldWarnings(fault) {
			registry.AddWarning(c.r.Context(), text)
		}
	}
}

// fieldWarnings splits the report of a YAML decoder into its lines.
func fieldWarnings(fault error) []string {
	text := fault.Error()
	_, lines, found := strings.Cut(text, "yaml: unmarshal errors:\n")
	if !found {
		return []string{text}
	}
	var texts []string
	for line := range strings.SplitSeq(lines, "\n") {
		texts = append(texts, strings.TrimSpace(line))
	}
	return texts
}

type decodeOptions struct {
	// want is the kind of a body that does not name one itself.
	want       schema.GroupVersionKind
	into       runtime.Object
	validation string
	// prune drops what decoding leaves of unknown fields; nil: that is nothing.
	prune func(obj runtime.Object) (unknown []string, err error)
}

// decodeOptions are those for a body of the call.
func (c *call) decodeOptions(validation string) decodeOptions {
	o := decodeOptions{want: c.kind(), into: c.newBody(), validation: validation}
	if c.resourceKind() {
		o.prune = c.version.Prune
	}
	return o
}

// decode decodes data. Next to a strict decoding error the object is returned
// all the same.
func decode(m *media, data []byte, o decodeOptions) (runtime.Object, schema.GroupVersionKind, error) {
	serializer := m.strict
	if o.validation == metav1.FieldValidationIgnore {
		serializer = m.lax
	}
	obj, kind, err := serializer.Decode(data, &o.want, o.into)
	if kind == nil {
		kind = &schema.GroupVersionKind{}
	}
	switch {
	case runtime.IsNotRegisteredError(err):
		return nil, *kind, runtime.NewNotRegisteredErrForKind(schemeName, *kind)
	case err != nil && !runtime.IsStrictDecodingError(err):
		return nil, *kind, err
	case obj != o.into && kind.Kind != o.want.Kind:
		return nil, *kind, fmt.Errorf("converting (%s) to (%s.%s): unknown conversion",
			strings.TrimPrefix(reflect.TypeOf(obj).String(), "*"), internalPackage(o.want.Group), o.want.Kind)
	case o.prune != nil && kind.GroupKind() == o.want.GroupKind():
		err = o.dropUnknown(obj, err)
	}
	return obj, *kind, err
}

// dropUnknown adds the fields that were dropped to what decoding found odd.
func (o decodeOptions) dropUnknown(obj runtime.Object, found error) error {
	unknown, err := o.prune(obj)
	if err != nil {
		return err
	}
	if o.validation == metav1.FieldValidationIgnore {
		return found
	}
	var odd []error
	if strict, ok := runtime.AsStrictDecodingError(found); ok {
		odd = strict.Errors()
	}
	for _, path := range unknown {
		odd = append(odd, fmt.Errorf("unknown field %q", path))
	}
	if len(odd) == 0 {
		return nil
	}
	return runtime.NewStrictDecodingError(odd)
}

// internalPackage is the name of the package that kube-apiserver converts the
// kinds of a group to, which shows in its errors.
func internalPackage(group string) string {
	if group == "" {
		return "core"
	}
	name, _, _ := strings.Cut(group, ".")
	return name
}

// decodeError is the 400 for a body that cannot be decoded.
func decodeError(err error, got, want schema.GroupVersionKind, data []byte) error {
	if got.Kind != "" {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", got.Kind, got.Version, want.Kind, err))
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the object provided is unrecognized (must be of type %s): %v (%s)", want.Kind, err, summary(data)))
}

// summary shows the beginning of a body in an error.
func summary(data []byte) string {
	const most = 30
	if len(data) == 0 {
		return "<empty>"
	}
	shown, more := data, ""
	if len(data) > most {
		shown, more = data[:most], " ..."
	}
	if data[0] == '{' {
		return string(shown) + more
	}
	return hex.EncodeToString(shown) + more
}
