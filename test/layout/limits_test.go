package layout_test

import (
	"path"
	"regexp"
	"strings"
	"testing"
)

// limit is a row of docs/limits.md.
type limit struct {
	name  string
	value string // a part of the default
	file  string // that sets the default
	code  string // a part of the file
	test  string // FILE TestNAME, which exceeds the limit; a file without a folder is beside the code
}

// limits are the rows in the order of the document.
var limits = []limit{
	{"size of a body", "3 MiB", "api/request_body.go", "maxBodySize = 3 << 20", "request_body_test.go TestLargeBodiesAreRejected"},
	{"nesting of a JSON or CBOR body", "1,000 levels", "api/encoding/json_depth.go", "maxDepth = 1000", "api/request_body_test.go TestDeepJSONBodiesAreRejected"},
	{"nesting of a YAML or protobuf body", "10,000 levels", "api/encoding/protobuf_depth.go", "maxMessageDepth = 10000", "api/request_body_test.go TestDeepProtobufBodiesAreRejected"},
	{"size of a YAML body with its aliases replaced", "3 MiB", "api/encoding/yaml_aliases.go", "maxExpandedYAML = 3 << 20", "quantity_bound_test.go TestLargeAliasesAreRejected"},
	{"exponent of a quantity", "999", "api/encoding/quantity_bound.go", "maxExponentDigits  = 3", "quantity_bound_test.go TestLimitsOfQuantities"},
	{"digits of a quantity", "4,096", "api/encoding/quantity_bound.go", "maxQuantityDigits  = 4096", "quantity_bound_test.go TestLimitsOfQuantities"},
	{"operations of a JSON patch", "10,000", "api/patch_json_bounds.go", "maxOperations = 10000", "patch_test.go TestJSONPatchLimits"},
	{"bytes copied by a JSON patch", "3 MiB", "api/patch_json_bounds.go", "maxCopiedBytes = 3 << 20", "patch_json_bounds_test.go TestCopiedBytesAreLimited"},
	{"bytes of the documents that the copies of a JSON patch are applied to, one by one", "128 MiB", "api/patch_json_bounds.go", "maxEncodedBytes = 128 << 20", "patch_json_bounds_test.go TestDocumentsOfCopiesAreLimited"},
	{"nesting of the result of a JSON patch", "1,000 levels", "api/patch_json_bounds.go", "maxPatchedDepth = 1000", "patch_json_bounds_test.go TestPatchedDepthOfStoredObject"},
	{"items of lists that a JSON patch moves by inserting and removing", "33,554,432", "api/patch_json_bounds.go", "maxMovedItems = 1 << 25", "patch_json_bounds_test.go TestApplyOperationsIsBounded"},
	{"items of a list in a strategic merge patch, except `$retainKeys`", "10,000", "api/patch_strategic.go", "maxPatchItems = 10000", "patch_test.go TestStrategicPatchLimitsLists"},
	{"size of a stored object", "1.5 MiB", "storage/embedded/server_config.go", "MaxRequestBytes = 1536 << 10", "test/integration/limits_test.go TestLargeObjectsLoseTheirManagedFields"},
	{"field errors in an answer", "1,000", "registry/errors.go", "maxFieldErrors = 1000", "object_size_test.go TestInvalidLimitsCauses"},
	{"warnings about the ports of a pod", "1,000", "kinds/podspec/container_warnings.go", "maxPortWarnings = 1000", "pod_warnings_test.go TestPortWarningsAreLimited"},
	{"warnings in an answer", "4 KiB, then 256", "api/filters/warnings.go", "maxWarningsTotal    = 4 << 10\n\tmaxWarningTruncated = 256", "warnings_test.go TestWarningsAreLimited"},
	{"request headers", "1 MiB", "internal/listener/listener.go", "MaxHeaderBytes:    1 << 20", "test/integration/limits_test.go TestLargeHeadersAreRejected"},
	{"time for the headers", "32 s", "internal/listener/listener.go", "defaultHeaderTimeout = 32 * time.Second", "listener_test.go TestTimeoutsOfConnections"},
	{"time of a request, watches excepted", "60 s", "api/request/timeout.go", "MaxTimeout = time.Minute", "api/write_test.go TestWriteThatExceedsItsDeadline"},
	{"time for the client to read the response", "1 s", "api/encoding/shutdown.go", "FinalWriteTimeout = time.Second", "api/deadline_test.go TestUnreadResponsesEndWithTheirTime"},
	{"reads in flight", "400", "config.go", "cmp.Or(c.MaxRequestsInFlight, 400)", "api/filters/max_in_flight_test.go TestMaxInFlightLimit"},
	{"writes in flight", "200", "config.go", "cmp.Or(c.MaxMutatingRequestsInFlight, 200)", "api/filters/max_in_flight_test.go TestMaxInFlightLimit"},
	{"paths that are label values of `apiserver_request_terminations_total`", "100", "api/metrics/requests.go", "maxPaths = 100", "requests_test.go TestPathsAsLabelsAreLimited"},
	{"idle connection", "90 s", "internal/listener/listener.go", "defaultIdleTimeout   = 90 * time.Second", "listener_test.go TestTimeoutsOfConnections"},
	{"requests at the same time on a connection in HTTP/2", "100", "internal/listener/listener.go", "maxStreams = 100", "listener_test.go TestStreamsAreLimited"},

	{"memory of requests", "2 GiB", "internal/memory/budget.go", "DefaultBytes = 2 << 30", "budget_test.go TestReservations"},
	{"decoded objects and encoded bodies in memory", "72 MiB", "storage/memo.go", "DefaultMemo = 72 << 20", "memo_test.go TestMemoIsBounded"},

	{"duration of a watch", "30 to 60 minutes", "api/watch.go", "minWatchTimeout = 30 * time.Minute", "deadline_test.go TestDurationOfWatches"},
	{"past events of a resource in memory", "8,192 and 16 MiB", "storage/watchcache/config.go", "cmp.Or(c.WindowEvents, 8192)\n\tc.WindowBytes = cmp.Or(c.WindowBytes, 16<<20)", "limits_test.go TestWindowIsLimited"},
	{"events that a slow watch holds outside of that", "64, and a batch of 64 or 256 KiB", "storage/watchcache/watch.go", "batchSize  = 64\n\tbatchBytes = 256 << 10", "limits_test.go TestEventsOfSlowWatchesAreLimited"},
	{"events that watches of etcd queue for slow clients", "32 MiB", "storage/etcd/backend.go", "defaultWatchBacklog     = 32 << 20", "watch_test.go TestBacklogKeepsOrderAndSize"},
	{"indexes of a resource, for lists by one value of a field or a label", "8", "storage/watchcache/index.go", "maxIndexes = 8", "limits_test.go TestIndexesAreLimited"},
	{"changes that a controller lags behind", "32,768 and 64 MiB", "storage/watchcache/follow.go", "maxPending      = 1 << 15\n\tmaxPendingBytes = 64 << 20", "limits_test.go TestPendingChangesAreLimited"},
	{"wait for a watch cache that lags behind etcd", "3 s", "storage/watchcache/wait.go", "maxWait = 3 * time.Second", "limits_test.go TestWaitIsLimited"},

	{"size of the embedded database", "2 GiB", "storage/embedded/quota.go", "quota = serverstorage.DefaultQuotaBytes", "test/integration/storage_quota_test.go TestFullDatabase"},
	{"history", "5 minutes", "config.go", "defaultRetention = 5 * time.Minute", "storage/etcd/compactor_test.go TestCompactorCompactsHistoryOlderThanTheRetention"},
	{"history", "the last eighth", "storage/embedded/quota.go", "keptPart = 8", "quota_test.go TestHistoryIsCompactedBySize"},
	{"page of keys read from etcd", "64 MiB", "storage/etcd/page.go", "pageBytes = 64 << 20", "pagesize_test.go TestPageSize"},
	{"journal of writes of the test APIs", "8,192 writes and 4 MiB", "testapi/journal/journal.go", "defaultMaxWrites = 8192\n\tdefaultMaxBytes  = 4 << 20", "journal_test.go TestJournalIsBoundedInBytes"},
	{"explained conflicts", "512", "testapi/conflicts/log.go", "maxConflicts = 512", "log_test.go TestLogKeepsTheLastConflicts"},

	{"answer of a webhook", "8 MiB, headers 1 MiB", "internal/outgoing/client.go", "maxBodyBytes = 8 << 20", "client_test.go TestAnswersAreLimited"},
	{"time of an admission webhook", "10 s", "kinds/admissionregistration/rule_defaults.go", "timeout       = 10 // seconds", "admission/webhook/errors_test.go TestFailurePolicy"},
	{"time of a conversion webhook", "30 s", "crd/conversion_webhook.go", "conversionTimeout = 30 * time.Second", "conversion_timeout_test.go TestConversionsHaveATimeout"},
	{"addresses of webhooks, APIServices and token issuers", "all", "internal/outgoing/policy.go", "func ParsePolicy(", "test/integration/outgoing_test.go TestOutgoingAddressesAreLimited"},
	{"redirects of webhooks", "none", "internal/outgoing/client.go", "errRedirect", "client_test.go TestAnswersAreLimited"},
	{"discovery document of an aggregated server", "16 MiB", "aggregator/remote_discovery.go", "maxAnswerBytes = 16 << 20", "remote_discovery_test.go TestDiscoveryDocumentsAreLimited"},
	{"time of the discovery of an aggregated server", "5 s", "aggregator/remote_discovery.go", "discoveryTimeout = 5 * time.Second", "remote_discovery_test.go TestDiscoveryHasATimeout"},
	{"page of an aggregated server in the deletion of a namespace", "64 MiB", "controllers/namespace/remote_client.go", "maxAnswer = 64 << 20", "remote_test.go TestLargePagesOfOtherServersAreErrors"},
	{"request to an aggregated server in the deletion of a namespace", "30 s", "controllers/namespace/remote_client.go", "remoteTimeout = 30 * time.Second", "remote_test.go TestRequestsToOtherServersHaveATimeout"},
	{"discovery and keys of a token issuer", "10 s, 8 MiB", "auth/oidc/keys.go", "defaultTimeout = 10 * time.Second", "authenticator_test.go TestRequestsToIssuersHaveATimeout"},
	{"discovery and keys of a token issuer", "8 MiB, headers 1 MiB, no redirects", "internal/outgoing/client.go", "maxBodyBytes = 8 << 20", "auth/oidc/authenticator_test.go TestIssuersAreLimited"},
	{"request to an authentication or authorization webhook", "30 s", "auth/webhook/client.go", "defaultTimeout = 30 * time.Second", "client_test.go TestReviewsHaveATimeout"},
	{"request to an authentication or authorization webhook", "5 attempts", "auth/webhook/client.go", "attempts = 5", "client_test.go TestReviewsAreRepeated"},
	{"cached answers of these webhooks", "8,192 for each", "auth/webhook/client.go", "cacheSize = 8192", "client_test.go TestCachedAnswersAreLimited"},
	{"etcd at the start", "5 s", "internal/datastore/open.go", "defaultConnectTimeout = 5 * time.Second", "open_test.go TestSilentClusterFailsTheStart"},

	{"servers of a host", "1,000", "internal/host/host.go", "DefaultMaxServers = 1000", "host_test.go TestServersAreLimited"},
	{"body of a request to the control API", "1 MiB", "internal/host/handler.go", "maxBody = 1 << 20", "host_test.go TestRequestsOfTheControlAPIAreLimited"},
	{"recent requests of a server", "50, at most 100,000", "internal/host/server.go", "recentRequests    = 50\n\tmaxRecentRequests = 100_000", "host_test.go TestRequestsOfTheControlAPIAreLimited"},
	{"a host without servers", "5 minutes", "internal/host/host.go", "DefaultIdleTimeout = 5 * time.Minute", "host_test.go TestIdleHostEnds"},
}

var limitRow = regexp.MustCompile(`(?m)^\| ([^|]*) \| ([^|]*) \|`)

// TestLimitsAreTested checks that each row of docs/limits.md has the value of the code and a test.
func TestLimitsAreTested(t *testing.T) {
	documented := map[string]string{}
	for _, row := range limitRow.FindAllStringSubmatch(read(t, "docs/limits.md"), -1) {
		documented[row[1]] = row[2]
	}
	delete(documented, "limit")                                // the header
	delete(documented, "number of watches and of connections") // has no limit
	known := map[string]bool{}
	for _, l := range limits {
		known[l.name] = true
		if !strings.Contains(documented[l.name], l.value) {
			t.Errorf("%s: docs/limits.md has %q, not %s", l.name, documented[l.name], l.value)
		}
		if !strings.Contains(read(t, l.file), l.code) {
			t.Errorf("%s: %s has no %q", l.name, l.file, l.code)
		}
		file, name, _ := strings.Cut(l.test, " ")
		if !strings.Contains(file, "/") {
			file = path.Join(path.Dir(l.file), file)
		}
		if !strings.Contains(read(t, file), "func "+name+"(") {
			t.Errorf("%s: %s has no %s", l.name, file, name)
		}
	}
	for name := range documented {
		if !known[name] {
			t.Errorf("%s: no test exceeds this limit, or it is not listed here", name)
		}
	}
}
