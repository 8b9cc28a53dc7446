package webhook

import (
	"encoding/json"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

// A response of a webhook is an error, or a decision with a patch that belongs to its type.
func FuzzReviewResponse(f *testing.F) {
	for _, seed := range []string{
		`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u","allowed":true,"patchType":"JSONPatch","patch":"W3sib3AiOiJhZGQifV0="}}`,
		`{"response":{"uid":"u","allowed":false,"status":{"code":-1,"reason":1}}}`, `{"response":{"uid":"v"}}`, `{"response":{"patch":"!"}}`, `[]`, `{`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		for _, version := range []string{"v1", "v1beta1"} {
			answered := emptyReview(version)
			if json.Unmarshal([]byte(data), answered) != nil {
				continue
			}
			r, err := (&review{uid: "u"}).verifyResponse(answered, true)
			if err != nil {
				continue
			}
			if len(r.patch) > 0 && r.patchType == "" {
				t.Errorf("%s: a patch without a type", version)
			}
			if patch, err := jsonpatch.DecodePatch(r.patch); err == nil {
				_, _ = patch.Apply([]byte(`{"metadata":{"name":"a"}}`))
			}
		}
	})
}
