package storage_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/miniapi/miniapi/storage"
	"github.com/miniapi/miniapi/versioner"
)

func TestListPlan(t *testing.T) {
	const (
		exact    = metav1.ResourceVersionMatchExact
		notOlder = metav1.ResourceVersionMatchNotOlderThan
	)
	key := "/pods/default/"
	token, err := storage.EncodeContinue("/pods/default/a", key, 5)
	if err != nil {
		t.Fatal(err)
	}
	latestToken, err := storage.EncodeContinue("/pods/default/a", key, -1)
	if err != nil {
		t.Fatal(err)
	}
	latest, atLeast7 := storage.Freshness{Latest: true}, storage.Freshness{Minimum: 7}
	cases := []struct {
		name string
		opts storage.ListOptions
		want storage.ReadPlan
		err  error
	}{
		{"unset reads the latest state", storage.ListOptions{}, storage.ReadPlan{Freshness: latest, From: key}, nil},
		{"0 reads any state", storage.ListOptions{ResourceVersion: "0"}, storage.ReadPlan{From: key}, nil},
		{"N reads a state not older", storage.ListOptions{ResourceVersion: "7"}, storage.ReadPlan{Freshness: atLeast7, From: key}, nil},
		{"Exact N reads the state at N", storage.ListOptions{ResourceVersion: "7", ResourceVersionMatch: exact}, storage.ReadPlan{Freshness: atLeast7, Exact: true, From: key}, nil},
		{"Exact 0 reads any state", storage.ListOptions{ResourceVersion: "0", ResourceVersionMatch: exact}, storage.ReadPlan{From: key}, nil},
		{"a limit makes N exact", storage.ListOptions{Recursive: true, ResourceVersion: "7", Limit: 2}, storage.ReadPlan{Freshness: atLeast7, Exact: true, From: key}, nil},
		{"a limit with NotOlderThan does not", storage.ListOptions{Recursive: true, ResourceVersion: "7", ResourceVersionMatch: notOlder, Limit: 2}, storage.ReadPlan{Freshness: atLeast7, From: key}, nil},
		{"a limit on one key does not", storage.ListOptions{ResourceVersion: "7", Limit: 2}, storage.ReadPlan{Freshness: atLeast7, From: key}, nil},
		{"a token reads the revision of its list", storage.ListOptions{Recursive: true, Continue: token}, storage.ReadPlan{Freshness: storage.Freshness{Minimum: 5}, Exact: true, From: "/pods/default/a\x00"}, nil},
		{"a token with a negative revision reads the latest state", storage.ListOptions{Recursive: true, Continue: latestToken, ResourceVersion: "0"}, storage.ReadPlan{Freshness: latest, From: "/pods/default/a\x00"}, nil},
		{"a token with a resourceVersion is rejected", storage.ListOptions{Recursive: true, Continue: token, ResourceVersion: "7"}, storage.ReadPlan{}, storage.ErrContinueWithVersion},
		{"a malformed token is rejected", storage.ListOptions{Recursive: true, Continue: "!"}, storage.ReadPlan{}, storage.ErrInvalidContinue},
		{"a malformed resourceVersion is rejected", storage.ListOptions{ResourceVersion: "x"}, storage.ReadPlan{}, versioner.ErrInvalidVersion},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := c.opts.Plan(versioner.APIObjectVersioner{}, key)
			if !errors.Is(err, c.err) {
				t.Fatalf("error is %v, want %v", err, c.err)
			}
			if c.err == nil && got != c.want {
				t.Error(cmp.Diff(c.want, got))
			}
		})
	}
	if _, err := (storage.ListOptions{ResourceVersionMatch: "x"}).Plan(versioner.APIObjectVersioner{}, key); err == nil {
		t.Error("an unknown match is accepted")
	}
}

func TestWatchPlan(t *testing.T) {
	latest := storage.Freshness{Latest: true}
	initial := func(fresh storage.Freshness) storage.WatchPlan {
		return storage.WatchPlan{Initial: true, Freshness: fresh}
	}
	for _, c := range []struct {
		resourceVersion string
		send            *bool
		want            storage.WatchPlan
	}{
		{"", nil, initial(latest)},
		{"", new(true), initial(latest)},
		{"", new(false), storage.WatchPlan{Freshness: latest}},
		{"0", nil, initial(storage.Freshness{})},
		{"0", new(true), initial(storage.Freshness{})},
		{"0", new(false), storage.WatchPlan{Freshness: latest}},
		{"7", nil, storage.WatchPlan{After: 7}},
		{"7", new(true), initial(storage.Freshness{Minimum: 7})},
		{"7", new(false), storage.WatchPlan{After: 7}},
	} {
		opts := storage.WatchOptions{ResourceVersion: c.resourceVersion, SendInitialEvents: c.send}
		got, err := opts.Plan(versioner.APIObjectVersioner{})
		if err != nil || got != c.want {
			t.Errorf("resourceVersion %q: %+v (%v), want %+v", c.resourceVersion, got, err, c.want)
		}
	}
}
