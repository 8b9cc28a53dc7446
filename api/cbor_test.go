package api

import (
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

func withCBOR(c *Config) { c.CBOR = true }

// inCBOR encodes a value as CBOR.
func inCBOR(t *testing.T, value any) string {
	t.Helper()
	data, err := direct.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

type object = map[string]any

func configMapFields(name string) object {
	return object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name}}
}

func TestMediaTypesInTextsWithCBOR(t *testing.T) {
	s := newTestServer(t, withCBOR)
	const all = "application/json, application/yaml, application/vnd.kubernetes.protobuf, application/cbor"
	for _, tc := range []struct {
		method, path, header, want string
		status                     int
	}{
		{"GET", configMaps, "Accept: application/cbor-seq", "only the following media types are accepted: " + all + `"`, 406},
		{"GET", configMaps + "?watch=1", "Accept: application/cbor-seq", "only the following media types are accepted: " + all + `"`, 406},
		{"GET", configMaps + "?watch=1", "Accept: text/html", "Available representations: " + all +
			", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch, application/cbor-seq", 406},
		{"GET", configMaps, "Accept: application/cbor;as=Table;g=meta.k8s.io;v=v1", "only the following media types are accepted: " + all, 406},
		{"POST", configMaps, "Content-Type: application/cbor-seq", "accepted media types include: " + all, 415},
		{"DELETE", configMaps + "/a", "Content-Type: application/cbor-seq", "accepted media types include: " + all, 415},
		{"PATCH", configMaps + "/a", "Content-Type: application/merge-patch+cbor", "415: Unsupported Media Type", 415},
	} {
		got := s.must(tc.status, s.do(tc.method, tc.path, "{}", tc.header))
		if !strings.Contains(got.body, tc.want) {
			t.Errorf("%s %s with %s: %s", tc.method, tc.path, tc.header, got.body)
		}
	}
}

func TestWithoutTheGateThereIsNoCBOR(t *testing.T) {
	s := newTestServer(t, nil)
	s.must(http.StatusNotAcceptable, s.do("GET", configMaps, "", "Accept: application/cbor"))
	for method, contentType := range map[string]string{"POST": "application/cbor", "PATCH": "application/apply-patch+cbor"} {
		path := map[string]string{"POST": configMaps, "PATCH": configMaps + "/a?fieldManager=m"}[method]
		got := s.must(http.StatusUnsupportedMediaType, s.do(method, path, inCBOR(t, configMapFields("a")), "Content-Type: "+contentType))
		if strings.Contains(got.body, "cbor") {
			t.Errorf("%s: %s", method, got.body)
		}
	}
	for _, path := range []string{"/openapi/v2", "/openapi/v3/api/v1"} {
		if strings.Contains(s.must(http.StatusOK, s.do("GET", path, "")).body, "cbor") {
			t.Errorf("%s contains CBOR", path)
		}
	}
}

func TestBodiesInCBOR(t *testing.T) {
	s := newTestServer(t, withCBOR)
	unknown := configMapFields("b")
	unknown["unknown"] = "x"
	const strict = "strict decoding error: cbor: found unknown field at map element index "
	for _, tc := range []struct {
		name, method, path, body, want string
		status                         int
	}{
		{"an object", "POST", configMaps, inCBOR(t, configMapFields("a")), "", 201},
		{"text without a length", "POST", configMaps, "\xbf\x64kind\x69ConfigMap\x68metadata\xa1\x64name\x7f\x61x\x61y\xff\xff", "", 201},
		{"an unknown field, Ignore", "POST", configMaps + "?dryRun=All&fieldValidation=Ignore", inCBOR(t, unknown), "", 201},
		{"an unknown field, Warn", "POST", configMaps + "?dryRun=All", inCBOR(t, unknown), "", 201},
		{"an unknown field, Strict", "POST", configMaps + "?dryRun=All&fieldValidation=Strict", inCBOR(t, unknown), strict, 400},
		{"a duplicate key", "POST", configMaps, "\xa2\x44kind\x41a\x44kind\x41b", "found duplicate map key", 400},
		{"JSON", "POST", configMaps, `{"kind":"ConfigMap"}`, "(must be of type ConfigMap): unable to determine group/version/kind: ", 400},
		{"an array", "POST", configMaps, "\x80", "cbor: cannot unmarshal array into Go value of type v1.TypeMeta", 400},
		{"another kind", "POST", configMaps, inCBOR(t, object{"kind": "Pod", "apiVersion": "v1"}), "Pod in version \"v1\" cannot be handled as a ConfigMap", 400},
		{"nested too deep", "POST", configMaps, strings.Repeat("\x81", 1002) + "\x00", "the body is nested more than 1000 levels deep", 400},
		{"too many tags", "POST", configMaps, strings.Repeat("\xc8", 17) + "\x00", "the body has more than 16 tags in a row", 400},
		{"options of a dry run", "DELETE", configMaps + "/a", inCBOR(t, object{"dryRun": []string{"All"}}), "", 200},
		{"options that are an array", "DELETE", configMaps + "/a", "\x80", "cbor: cannot unmarshal array", 400},
		{"a precondition that fails", "DELETE", configMaps + "/a", inCBOR(t, object{"preconditions": object{"uid": "x"}}), "the UID in the precondition (x)", 409},
		{"options", "DELETE", configMaps + "/a", inCBOR(t, object{"kind": "DeleteOptions", "apiVersion": "v1"}), "", 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := s.must(tc.status, s.do(tc.method, tc.path, tc.body, "Content-Type: application/cbor", "Accept: application/cbor"))
			var answer map[string]any
			if err := direct.Unmarshal([]byte(got.body), &answer); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(got.body, tc.want) || !strings.HasPrefix(got.body, "\xd9\xd9\xf7") {
				t.Errorf("%q", got.body)
			}
		})
	}
	if warning := s.do("POST", configMaps+"?dryRun=All", inCBOR(t, unknown), "Content-Type: application/cbor").header.Get("Warning"); !strings.Contains(warning, "cbor: found unknown field") {
		t.Errorf("the warning is %q", warning)
	}
}

func TestOpenAPIWithCBOR(t *testing.T) {
	s := newTestServer(t, withCBOR)
	v2 := s.must(http.StatusOK, s.do("GET", "/openapi/v2", "")).body
	v3 := s.must(http.StatusOK, s.do("GET", "/openapi/v3/api/v1", "")).body
	for _, want := range []string{
		`"application/vnd.kubernetes.protobuf","application/cbor"]`, `"application/vnd.kubernetes.protobuf;stream=watch","application/cbor-seq"]`,
		`"application/apply-patch+yaml","application/apply-patch+cbor"]`, `"produces":["application/json"]`,
	} {
		if !strings.Contains(v2, want) {
			t.Errorf("version 2 does not contain %s", want)
		}
	}
	for _, want := range []string{`"application/cbor":{`, `"application/cbor-seq":{`, `"application/apply-patch+cbor":{`} {
		if !strings.Contains(v3, want) {
			t.Errorf("version 3 does not contain %s", want)
		}
	}
	if again := s.must(http.StatusOK, s.do("GET", "/openapi/v2", "Accept: application/json")).body; strings.Contains(again, `"application/cbor","application/cbor"`) {
		t.Error("CBOR is listed twice")
	}
}
