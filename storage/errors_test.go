package storage_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/miniapi/miniapi/storage"
)

func TestKeyErrorText(t *testing.T) {
	cases := []struct {
		err  *storage.KeyError
		want string
	}{
		{&storage.KeyError{Op: "get", Key: "/pods/ns1/a", Err: storage.ErrNotFound}, "get /pods/ns1/a: not found"},
		{&storage.KeyError{Op: "list", Key: "/pods/", Revision: 7, Err: storage.ErrCompacted},
			"list /pods/ at revision 7: the revision has been compacted"},
	}
	for _, c := range cases {
		if got := c.err.Error(); got != c.want {
			t.Errorf("text is %q, want %q", got, c.want)
		}
	}
}

func TestKeyErrorUnwraps(t *testing.T) {
	cause := errors.New("lease expired")
	err := fmt.Errorf("registry: %w", &storage.KeyError{
		Op: "update", Key: "/pods/ns1/a", Err: fmt.Errorf("%w: %w", storage.ErrUnknownOutcome, cause),
	})
	if !errors.Is(err, storage.ErrUnknownOutcome) || !errors.Is(err, cause) || errors.Is(err, storage.ErrNotFound) {
		t.Errorf("%v does not wrap its causes", err)
	}
	var keyErr *storage.KeyError
	if !errors.As(err, &keyErr) || keyErr.Op != "update" {
		t.Errorf("%v has no KeyError", err)
	}
}

func TestFutureRevisionErrorText(t *testing.T) {
	var err error = &storage.KeyError{Op: "get", Key: "/pods/a", Err: &storage.FutureRevisionError{Requested: 9, Current: 7}}
	if !errors.Is(err, storage.ErrFutureRevision) {
		t.Errorf("%v is not %v", err, storage.ErrFutureRevision)
	}
	var future *storage.FutureRevisionError
	if !errors.As(err, &future) || future.Error() != "Too large resource version: 9, current: 7" {
		t.Errorf("the numbers are %+v", future)
	}
}
