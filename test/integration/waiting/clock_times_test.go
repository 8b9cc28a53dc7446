package waiting_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/miniapi/miniapi"
	"github.com/miniapi/miniapi/internal/bootstrap"
	"github.com/miniapi/miniapi/testapi/faults"
)

func TestAdvanceMovesThePhaseTransitionOfVolumes(t *testing.T) {
	e := start(t, miniapi.Config{})
	volumes := e.client.CoreV1().PersistentVolumes()
	v, err := volumes.Create(t.Context(), &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: "v"},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			AccessModes:            []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			PersistentVolumeSource: corev1.PersistentVolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/v"}},
		},
	}, metav1.CreateOptions{})
	e.check(err)
	e.advance(24 * time.Hour)
	v.Status.Phase = corev1.VolumeAvailable
	v, err = volumes.UpdateStatus(t.Context(), v, metav1.UpdateOptions{})
	e.check(err)
	e.near("lastPhaseTransitionTime", *v.Status.LastPhaseTransitionTime)
}

func (e *env) createSigningRequest(name string) *certificatesv1.CertificateSigningRequest {
	e.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	e.check(err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
	e.check(err)
	request, err := e.client.CertificatesV1().CertificateSigningRequests().Create(e.Context(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: "example.com/signer", Usages: []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
	e.check(err)
	return request
}

func TestAdvanceMovesTheConditionsOfSigningRequests(t *testing.T) {
	e := start(t, miniapi.Config{})
	requests := e.client.CertificatesV1().CertificateSigningRequests()
	request := e.createSigningRequest("r")
	e.advance(12 * time.Hour)
	request.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Test"}}
	request, err := requests.UpdateApproval(t.Context(), "r", request, metav1.UpdateOptions{})
	e.check(err)
	e.near("lastUpdateTime of the approval", request.Status.Conditions[0].LastUpdateTime)
	e.near("lastTransitionTime of the approval", request.Status.Conditions[0].LastTransitionTime)
	e.advance(2 * time.Hour)
	request.Status.Conditions = append(request.Status.Conditions,
		certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateFailed, Status: corev1.ConditionTrue, Reason: "Test"})
	request, err = requests.UpdateStatus(t.Context(), request, metav1.UpdateOptions{})
	e.check(err)
	e.near("lastUpdateTime of the failure", request.Status.Conditions[1].LastUpdateTime)
}

// A taint gets its time by a create, an apply, and an update that changes its effect.
func TestAdvanceMovesTheTimesOfDeviceTaints(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.advance(24 * time.Hour)
	rules := e.client.ResourceV1().DeviceTaintRules()
	created, err := rules.Create(t.Context(), &resourcev1.DeviceTaintRule{
		ObjectMeta: metav1.ObjectMeta{Name: "created"},
		Spec:       resourcev1.DeviceTaintRuleSpec{Taint: resourcev1.DeviceTaint{Key: "example.com/k", Effect: resourcev1.DeviceTaintEffectNoSchedule}},
	}, metav1.CreateOptions{})
	e.check(err)
	e.near("timeAdded of a created rule", *created.Spec.Taint.TimeAdded)
	applied, err := rules.Patch(t.Context(), "applied", types.ApplyPatchType, []byte(`{"apiVersion":"resource.k8s.io/v1","kind":"DeviceTaintRule",
		"metadata":{"name":"applied"},"spec":{"taint":{"key":"example.com/k","effect":"NoSchedule"}}}`), metav1.PatchOptions{FieldManager: "m"})
	e.check(err)
	e.near("timeAdded of an applied rule", *applied.Spec.Taint.TimeAdded)
	e.advance(24 * time.Hour)
	created.Spec.Taint.Effect = resourcev1.DeviceTaintEffectNoExecute
	created, err = rules.Update(t.Context(), created, metav1.UpdateOptions{})
	e.check(err)
	e.near("timeAdded of a changed effect", *created.Spec.Taint.TimeAdded)
	slice, err := e.client.ResourceV1().ResourceSlices().Create(t.Context(), &resourcev1.ResourceSlice{
		ObjectMeta: metav1.ObjectMeta{Name: "s"},
		Spec: resourcev1.ResourceSliceSpec{
			Driver: "example.com", AllNodes: new(true), Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1},
			Devices: []resourcev1.Device{{Name: "d", Taints: []resourcev1.DeviceTaint{{Key: "example.com/k", Effect: resourcev1.DeviceTaintEffectNoSchedule}}}},
		},
	}, metav1.CreateOptions{})
	e.check(err)
	e.near("timeAdded of a slice", *slice.Spec.Devices[0].Taints[0].TimeAdded)
}

func TestAdvanceMovesTheConditionsOfAPIServices(t *testing.T) {
	e := start(t, miniapi.Config{})
	e.advance(24 * time.Hour)
	const path = "/apis/apiregistration.k8s.io/v1/apiservices"
	e.check(e.client.RESTClient().Post().AbsPath(path).SetHeader("Content-Type", "application/json").
		Body([]byte(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService","metadata":{"name":"v1.example.com"},"spec":{
			"group":"example.com","version":"v1","groupPriorityMinimum":1,"versionPriority":1,"service":{"name":"absent","namespace":"default"}}}`)).
		Do(t.Context()).Error())
	e.check(e.server.WaitFor(t.Context(), "apiservices/v1.example.com", "object.status.conditions.size() > 0"))
	data, err := e.client.RESTClient().Get().AbsPath(path, "v1.example.com").SetHeader("Accept", "application/json").DoRaw(t.Context())
	e.check(err)
	var service struct {
		Status struct{ Conditions []metav1.Condition }
	}
	e.check(json.Unmarshal(data, &service))
	e.near("lastTransitionTime", service.Status.Conditions[0].LastTransitionTime)
}

// The server renews its lease when it is due on the clock, and keeps it.
func TestAdvanceRenewsTheIdentityLease(t *testing.T) {
	e := start(t, miniapi.Config{Bootstrap: bootstrap.Full})
	list := func() metav1.Object {
		leases, err := e.client.CoordinationV1().Leases("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "apiserver.kubernetes.io/identity"})
		e.check(err)
		if len(leases.Items) != 1 {
			t.Fatalf("%d leases", len(leases.Items))
		}
		return &leases.Items[0]
	}
	created, err := e.client.CoordinationV1().Leases("kube-system").Watch(t.Context(), metav1.ListOptions{LabelSelector: "apiserver.kubernetes.io/identity"})
	e.check(err)
	<-created.ResultChan() // it is created after the start
	created.Stop()
	lease := list()
	e.advance(3 * time.Hour)
	e.check(e.server.WaitFor(t.Context(), "leases.coordination.k8s.io/kube-system/"+lease.GetName(),
		`timestamp(object.spec.renewTime) > timestamp("`+e.server.Now().Add(-time.Minute).UTC().Format(time.RFC3339)+`")`))
	if list().GetUID() != lease.GetUID() {
		t.Error("the lease was deleted and created again")
	}
}

func TestAdvanceMovesTheTimesOfFaults(t *testing.T) {
	e := start(t, miniapi.Config{Clock: clocktesting.NewFakeClock(time.Now())}) // no time passes
	e.advance(24 * time.Hour)
	_, err := e.server.Faults().Add(faults.Fault{Name: "f", Effect: faults.Effect{Latency: &faults.Latency{Duration: metav1.Duration{Duration: time.Millisecond}}}})
	e.check(err)
	e.createConfigMap(configMap("a"))
	data, err := e.client.RESTClient().Get().AbsPath("/apis/miniapi.dev/v1alpha1/faults/f").SetHeader("Accept", "application/json").DoRaw(t.Context())
	e.check(err)
	var fault struct {
		Metadata metav1.ObjectMeta
		Status   struct{ LastTime metav1.Time }
	}
	e.check(json.Unmarshal(data, &fault))
	e.near("creationTimestamp of a fault", fault.Metadata.CreationTimestamp)
	e.near("lastTime of a fault", fault.Status.LastTime)
	var table metav1.Table
	e.check(e.client.RESTClient().Get().AbsPath("/apis/miniapi.dev/v1alpha1/faults").
		SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(t.Context()).Into(&table))
	for i, column := range table.ColumnDefinitions {
		if age := table.Rows[0].Cells[i]; column.Name == "Age" && age != "0s" {
			t.Errorf("age %v", age)
		}
	}
}
