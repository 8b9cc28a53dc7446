package storage_test

import (
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/miniapi/miniapi/storage"
)

func TestPreconditions(t *testing.T) {
	pod := redPod()
	pod.UID, pod.ResourceVersion = "u1", "7"
	entry := storage.NewEntry("/pods/a", 7, func() (runtime.Object, error) { return pod, nil })
	uid := func(s string) *types.UID { u := types.UID(s); return &u }
	rv := func(s string) *string { return &s }
	cases := []struct {
		name          string
		preconditions *storage.Preconditions
		message       string // "" if they hold
	}{
		{"none", nil, ""},
		{"empty", &storage.Preconditions{}, ""},
		{"the UID", &storage.Preconditions{UID: uid("u1")}, ""},
		{"the version", &storage.Preconditions{ResourceVersion: rv("7")}, ""},
		{"both", &storage.Preconditions{UID: uid("u1"), ResourceVersion: rv("7")}, ""},
		{"another UID", &storage.Preconditions{UID: uid("u2")},
			"Precondition failed: UID in precondition: u2, UID in object meta: u1"},
		{"an empty UID", &storage.Preconditions{UID: uid("")},
			"Precondition failed: UID in precondition: , UID in object meta: u1"},
		{"another version", &storage.Preconditions{ResourceVersion: rv("8")},
			"Precondition failed: ResourceVersion in precondition: 8, ResourceVersion in object meta: 7"},
		{"the first that fails is named", &storage.Preconditions{UID: uid("u2"), ResourceVersion: rv("8")},
			"Precondition failed: UID in precondition: u2, UID in object meta: u1"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			err := c.preconditions.Check(t.Context(), entry)
			if c.message == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if !errors.Is(err, storage.ErrPrecondition) || err.Error() != c.message {
				t.Errorf("error is %v, want %s", err, c.message)
			}
		})
	}
}

func TestPreconditionsReturnDecodeErrors(t *testing.T) {
	entry := storage.NewEntry("/pods/a", 7, func() (runtime.Object, error) { return nil, storage.ErrCorrupt })
	if err := (&storage.Preconditions{}).Check(t.Context(), entry); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("error is %v", err)
	}
}
