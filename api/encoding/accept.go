package encoding

import (
	"net/http"
	"slices"
	"strings"
)

// CheckAccept returns the 406 of kube-apiserver's router if the Accept header contains none of the
// types that a path produces. Parameters are ignored, and the only wildcard is */*.
func CheckAccept(r *http.Request, produced ...string) error {
	header := r.Header.Get("Accept")
	if header == "" {
		return nil
	}
	for clause := range strings.SplitSeq(header, ",") {
		mediaType, _, _ := strings.Cut(clause, ";")
		mediaType = strings.TrimSpace(mediaType)
		if mediaType == "*/*" || slices.Contains(produced, mediaType) {
			return nil
		}
	}
	text := "406: Not Acceptable\n\nAvailable representations: " + strings.Join(produced, ", ")
	return GenericError(http.StatusNotAcceptable, text)
}

// CheckAccept is the function of that name for a path that serves objects.
func (c *Codec) CheckAccept(r *http.Request) error { return CheckAccept(r, c.types()...) }

// CheckAcceptWatch is CheckAccept for a path that also serves watches.
func (c *Codec) CheckAcceptWatch(r *http.Request) error {
	return CheckAccept(r, append(c.types(), c.watchTypes()...)...)
}
