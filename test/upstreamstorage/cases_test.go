package upstreamstorage

import (
	"context"
	"errors"
	"testing"

	suite "k8s.io/apiserver/pkg/storage/testing"
)

// testCase is one call of the suite.
type testCase struct {
	name string
	run  func(ctx context.Context, t *testing.T, f *fixture)
}

// plain returns a case that needs only the store.
func plain(name string, run func(context.Context, *testing.T, *adapter)) testCase {
	return testCase{name, func(ctx context.Context, t *testing.T, f *fixture) { run(ctx, t, f.adapter) }}
}

// waitForBookmarks are the names of the cases that need bookmarks of the progress.
var waitForBookmarks = map[string]bool{
	"ProgressNotify": true, "WatchDispatchBookmarkEvents": true, "WatchBookmarksWithCorrectResourceVersion": true,
}

// errCorrupt is the error of the suite's transformer for a corrupt object.
var errCorrupt = errors.New("bits flipped")

// cases returns the calls in etcd3/store_test.go, etcd3/watcher_test.go and cacher/cacher_test.go.
// Each case runs with a new store.
func cases(cached bool) []testCase {
	all := append(writeCases(), readCases(cached)...)
	all = append(all, watchCases()...)
	all = append(all, corruptCases()...)
	if cached {
		return append(all, cachedCases()...)
	}
	return append(all, uncachedCases()...)
}

func writeCases() []testCase {
	return []testCase{
		{"Create", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunTestCreate(ctx, t, f.adapter, f.checkStored)
		}},
		plain("CreateWithTTL", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestCreateWithTTL(ctx, t, a) }),
		plain("CreateWithKeyExist", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestCreateWithKeyExist(ctx, t, a) }),
		plain("UnconditionalDelete", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestUnconditionalDelete(ctx, t, a) }),
		plain("ConditionalDelete", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestConditionalDelete(ctx, t, a) }),
		plain("DeleteWithSuggestion", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestDeleteWithSuggestion(ctx, t, a) }),
		plain("DeleteWithSuggestionAndConflict", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestDeleteWithSuggestionAndConflict(ctx, t, a)
		}),
		plain("DeleteWithSuggestionOfDeletedObject", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestDeleteWithSuggestionOfDeletedObject(ctx, t, a)
		}),
		plain("ValidateDeletionWithSuggestion", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestValidateDeletionWithSuggestion(ctx, t, a)
		}),
		plain("ValidateDeletionWithOnlySuggestionValid", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestValidateDeletionWithOnlySuggestionValid(ctx, t, a)
		}),
		plain("DeleteWithConflict", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestDeleteWithConflict(ctx, t, a) }),
		plain("PreconditionalDeleteWithSuggestion", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestPreconditionalDeleteWithSuggestion(ctx, t, a)
		}),
		plain("PreconditionalDeleteWithSuggestionPass", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestPreconditionalDeleteWithOnlySuggestionPass(ctx, t, a)
		}),
		{"GuaranteedUpdate", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunTestGuaranteedUpdate(ctx, t, f.adapter, f.checkStored)
		}},
		plain("GuaranteedUpdateWithTTL", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestGuaranteedUpdateWithTTL(ctx, t, a) }),
		plain("GuaranteedUpdateChecksStoredData", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestGuaranteedUpdateChecksStoredData(ctx, t, a)
		}),
		plain("GuaranteedUpdateWithConflict", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestGuaranteedUpdateWithConflict(ctx, t, a)
		}),
		plain("GuaranteedUpdateWithSuggestionAndConflict", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestGuaranteedUpdateWithSuggestionAndConflict(ctx, t, a)
		}),
	}
}

func readCases(cached bool) []testCase {
	return []testCase{
		plain("Get", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestGet(ctx, t, a) }),
		plain("KeySchema", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestKeySchema(ctx, t, a) }),
		{"List", func(ctx context.Context, t *testing.T, f *fixture) {
			// The suite can check the requests that a cacher sends to etcd; they are not compared.
			suite.RunTestList(ctx, t, f.adapter, f.compact, false, nil)
		}},
		{"ConsistentList", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunTestConsistentList(ctx, t, f.adapter, f.increaseRevision, cached, true, true)
		}},
		{"GetListNonRecursive", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunTestGetListNonRecursive(ctx, t, f.increaseRevision, f.adapter)
		}},
		plain("GetListRecursivePrefix", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestGetListRecursivePrefix(ctx, t, a) }),
		plain("ListPaging", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestListPaging(ctx, t, a) }),
		plain("ListContinuation", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestListContinuation(ctx, t, a, ignoreCalls)
		}),
		plain("ListPaginationRareObject", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestListPaginationRareObject(ctx, t, a, ignoreCalls)
		}),
		plain("ListContinuationWithFilter", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestListContinuationWithFilter(ctx, t, a, ignoreCalls)
		}),
		{"ListInconsistentContinuation", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunTestListInconsistentContinuation(ctx, t, f.adapter, f.compact)
		}},
		plain("ListResourceVersionMatch", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestListResourceVersionMatch(ctx, t, a)
		}),
		plain("NamespaceScopedList", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestNamespaceScopedList(ctx, t, a) }),
		{"CompactRevision", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunTestCompactRevision(ctx, t, f.adapter, f.increaseRevision, f.compact)
		}},
		plain("Stats", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestStats(ctx, t, a, a.codec.codec, a.transformer.get(), false)
		}),
	}
}

// ignoreCalls: how many reads of etcd a list takes is not a matter of contract.
func ignoreCalls(*testing.T, uint64, uint64) {}

func watchCases() []testCase {
	return []testCase{
		plain("Watch", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestWatch(ctx, t, a) }),
		{"WatchFromZero", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunTestWatchFromZero(ctx, t, f.adapter, f.compact)
		}},
		plain("DeleteTriggerWatch", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestDeleteTriggerWatch(ctx, t, a) }),
		plain("WatchFromNonZero", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestWatchFromNonZero(ctx, t, a) }),
		plain("DelayedWatchDelivery", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestDelayedWatchDelivery(ctx, t, a) }),
		plain("WatchContextCancel", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestWatchContextCancel(ctx, t, a) }),
		plain("WatcherTimeout", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestWatcherTimeout(ctx, t, a) }),
		plain("WatchDeleteEventObjectHaveLatestRV", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestWatchDeleteEventObjectHaveLatestRV(ctx, t, a)
		}),
		plain("ClusterScopedWatch", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestClusterScopedWatch(ctx, t, a) }),
		plain("NamespaceScopedWatch", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestNamespaceScopedWatch(ctx, t, a) }),
		{"ProgressNotify", func(ctx context.Context, t *testing.T, f *fixture) {
			suite.RunOptionalTestProgressNotify(ctx, t, f.adapter, f.increaseRevision)
		}},
		plain("WatchDispatchBookmarkEvents", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestWatchDispatchBookmarkEvents(ctx, t, a, true)
		}),
		plain("SendInitialEventsBackwardCompatibility", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunSendInitialEventsBackwardCompatibility(ctx, t, a)
		}),
		plain("WatchSemantics", func(ctx context.Context, t *testing.T, a *adapter) {
			a.delivers = true
			suite.RunWatchSemantics(ctx, t, a)
		}),
		plain("WatchSemanticInitialEventsExtended", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunWatchSemanticInitialEventsExtended(ctx, t, a)
		}),
		plain("WatchListMatchSingle", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunWatchListMatchSingle(ctx, t, a) }),
	}
}

// corruptCases delete objects that cannot be decoded.
func corruptCases() []testCase {
	return []testCase{
		plain("DeleteWithConflictAndMissingExpectedTransformError", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(ctx, t, a, a.transformer.failing.Store)
		}),
		plain("DeleteWithConflictAndMissingExpectedDecodeError", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(ctx, t, a, a.codec.failing.Store)
		}),
		plain("DeleteWithConflictAndExpectedTransformError", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, a, a.transformer.failing.Store)
		}),
		plain("DeleteWithConflictAndExpectedDecodeError", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, a, a.codec.failing.Store)
		}),
		plain("DeleteWithSuggestionAndMissingExpectedTransformOrDecodeError", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, a)
		}),
	}
}

// cachedCases returns the cases of kube-apiserver's cache.
func cachedCases() []testCase {
	return []testCase{
		plain("WatchBookmarksWithCorrectResourceVersion", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestOptionalWatchBookmarksWithCorrectResourceVersion(ctx, t, a)
		}),
	}
}

// uncachedCases returns the cases that corrupt stored objects, which a cache would have read
// before.
func uncachedCases() []testCase {
	return []testCase{
		plain("TransformationFailure", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestTransformationFailure(ctx, t, a) }),
		plain("WatchError", func(ctx context.Context, t *testing.T, a *adapter) { suite.RunTestWatchError(ctx, t, a) }),
		plain("WatchErrorEventIsBlockingFurtherEvent", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunWatchErrorIsBlockingFurtherEvents(ctx, t, a)
		}),
		plain("GetListWithErrorAggregation", func(ctx context.Context, t *testing.T, a *adapter) {
			a.aggregates = true
			suite.RunTestGetListWithErrorAggregation(ctx, t, a, errCorrupt)
		}),
		plain("GetListWithoutErrorAggregation", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestGetListWithoutErrorAggregation(ctx, t, a, errCorrupt)
		}),
		plain("WatchWithUnsafeDelete", func(ctx context.Context, t *testing.T, a *adapter) {
			suite.RunTestWatchWithUnsafeDelete(ctx, t, a, errCorrupt)
		}),
	}
}
