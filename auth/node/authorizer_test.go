package node

import (
	"os"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/miniapi/miniapi/internal/leaktest"
	"github.com/miniapi/miniapi/kinds"
	"github.com/miniapi/miniapi/kinds/feature"
	"github.com/miniapi/miniapi/registry"
	"github.com/miniapi/miniapi/registry/registrytest"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Run(m)) }

func newEnv(t *testing.T, features *feature.Set) (*registrytest.Env, *Authorizer) {
	t.Helper()
	e := registrytest.New(t, nil, kinds.Resources(features)...)
	return e, New(Config{Features: features, Store: func(name schema.GroupResource) (*registry.Store, bool) {
		return e.Catalog.Snapshot().Store(name)
	}})
}

func user(name string) *authenticationv1.UserInfo {
	return &authenticationv1.UserInfo{Username: "system:node:" + name, Groups: []string{"system:nodes"}}
}

// attributes parses "get persistentvolumeclaims/status ns/name ?fieldSelector". The cluster scope
// has no namespace, as in "get nodes /n1".
func attributes(text string) *authorizationv1.ResourceAttributes {
	text, selector, _ := strings.Cut(text, " ?")
	parts := append(strings.Fields(text), "")
	kind, sub, _ := strings.Cut(parts[1], "/")
	gr := schema.ParseGroupResource(kind)
	namespace, name, _ := strings.Cut(parts[2], "/")
	a := &authorizationv1.ResourceAttributes{Verb: parts[0], Group: gr.Group, Resource: gr.Resource, Subresource: sub, Namespace: namespace, Name: name}
	if selector != "" {
		a.FieldSelector = &authorizationv1.FieldSelectorAttributes{RawSelector: selector}
	}
	return a
}

// usingPod is a pod that refers to an object of each kind. The names of the objects say how.
func usingPod(name, node string) *corev1.Pod {
	secretEnv := &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "env"}, Key: "k"}}
	mapEnv := &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "env"}, Key: "k"}}
	volumes := map[string]corev1.VolumeSource{
		"a": {Secret: &corev1.SecretVolumeSource{SecretName: "volume"}},
		"b": {ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "volume"}}},
		"c": {PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "claim"}},
		"d": {Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{
			{Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "projected"}}},
			{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "projected"}}},
		}}},
		"e": {Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{"storage": resource.MustParse("1Gi")}},
		}}}},
		"f": {CSI: &corev1.CSIVolumeSource{Driver: "d", NodePublishSecretRef: &corev1.LocalObjectReference{Name: "csi"}}},
	}
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PodSpec{
			NodeName: node, ServiceAccountName: "robot", ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}},
			Containers: []corev1.Container{{Name: "c", Image: "i", Env: []corev1.EnvVar{{Name: "A", ValueFrom: secretEnv}, {Name: "B", ValueFrom: mapEnv}}}},
			InitContainers: []corev1.Container{{Name: "i", Image: "i", EnvFrom: []corev1.EnvFromSource{
				{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "envfrom"}}},
				{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "envfrom"}}},
			}}},
			ResourceClaims: []corev1.PodResourceClaim{{Name: "r", ResourceClaimName: new("device")}},
		},
	}
	for volume, source := range volumes {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: volume, VolumeSource: source})
	}
	return p
}

func createObjects(e *registrytest.Env) {
	e.Create("pods", usingPod("p", "n1"))
	mirror := usingPod("mirror", "n2")
	mirror.Annotations = map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	e.Create("pods", mirror)
	volume := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "bound"}, Spec: corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{"storage": resource.MustParse("1Gi")}, AccessModes: []corev1.PersistentVolumeAccessMode{"ReadWriteOnce"},
		ClaimRef: &corev1.ObjectReference{Namespace: "default", Name: "claim"},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{
			Driver: "d", VolumeHandle: "h", NodeStageSecretRef: &corev1.SecretReference{Namespace: "storage", Name: "stage"},
			ControllerPublishSecretRef: &corev1.SecretReference{Namespace: "storage", Name: "controller"},
		}},
	}}
	e.Create("persistentvolumes", volume)
	unbound := volume.DeepCopy()
	unbound.Name, unbound.Spec.ClaimRef = "unbound", nil
	e.Create("persistentvolumes", unbound)
	for _, node := range []string{"n1", "n2"} {
		e.Create("volumeattachments.storage.k8s.io", &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "of-" + node}, Spec: storagev1.VolumeAttachmentSpec{
			Attacher: "a", NodeName: node, Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: new("bound")},
		}})
		e.Create("resourceslices.resource.k8s.io", &resourcev1.ResourceSlice{ObjectMeta: metav1.ObjectMeta{Name: "of-" + node}, Spec: resourcev1.ResourceSliceSpec{
			Driver: "d.example", NodeName: new(node), Pool: resourcev1.ResourcePool{Name: "p", ResourceSliceCount: 1},
		}})
	}
}

const unrelated = "no relationship found between node 'n1' and this object"

func TestRequestsOfNodes(t *testing.T) {
	e, authorizer := newEnv(t, feature.Default())
	createObjects(e)
	for request, reason := range map[string]string{ // the reason of a refusal; "+" if the request is allowed
		"get secrets default/volume": "+", "list secrets default/volume": "+", "watch secrets default/volume": "+",
		"get secrets default/projected": "+", "get secrets default/env": "+", "get secrets default/envfrom": "+",
		"get secrets default/pull": "+", "get secrets default/csi": "+", "get secrets storage/stage": "+",
		"get secrets storage/controller": unrelated, "get secrets default/other": unrelated, "get secrets other/volume": unrelated,
		"list secrets default": "No Object name found", "list secrets": "can only read namespaced object of this type",
		"update secrets default/volume": "can only read resources of this type", "get secrets/x default/volume": "cannot read subresource",

		"get configmaps default/volume": "+", "get configmaps default/projected": "+", "get configmaps default/env": "+",
		"get configmaps default/envfrom": "+", "get configmaps default/pull": unrelated,

		"get persistentvolumeclaims default/claim": "+", "get persistentvolumeclaims default/p-e": "+", "get persistentvolumeclaims default/e": unrelated,
		"list persistentvolumeclaims default/claim":         "can only get individual resources of this type",
		"patch persistentvolumeclaims/status default/claim": "+", "update persistentvolumeclaims/status default/x": unrelated,
		"get persistentvolumeclaims/status default/claim": "can only get/update/patch this type",
		"get persistentvolumes /bound":                    "+", "get persistentvolumes /unbound": unrelated, "get persistentvolumes /none": unrelated,
		"get persistentvolumes/status /bound":               "cannot get subresource",
		"get volumeattachments.storage.k8s.io /of-n1":       "+",
		"get volumeattachments.storage.k8s.io /of-n2":       unrelated,
		"get resourceclaims.resource.k8s.io default/device": "+", "get resourceclaims.resource.k8s.io default/r": unrelated,

		"get serviceaccounts default/robot": "+", "get serviceaccounts default/default": unrelated,
		"create serviceaccounts/token default/robot": "+", "create serviceaccounts/token default/default": unrelated,
		"create serviceaccounts/x default/robot": "can only create token subresource of serviceaccount",
		"list serviceaccounts default":           "can only create tokens for individual service accounts",

		"get nodes /n1": "+", "watch nodes /n1": "+", "create nodes": "+", "patch nodes /n2": "+", "update nodes/status /n1": "+",
		"get nodes /n2": "node 'n1' cannot read 'n2', only its own Node object", "list nodes": "node 'n1' cannot read all nodes, only its own Node object",
		"delete nodes /n1": "", "get nodes/proxy /n1": "",

		"get pods default/p": "+", "get pods default/mirror": unrelated, "list pods ?spec.nodeName=n1": "+", "watch pods default/p": "+",
		"list pods":           "can only list/watch pods with spec.nodeName field selector",
		"create pods default": "+", "delete pods default/x": "+", "patch pods/status default/p": "+", "create pods/eviction default/p": "+",
		"update pods default/p": "", "create pods/exec default/p": "",

		"create leases.coordination.k8s.io kube-node-lease": "+", "update leases.coordination.k8s.io kube-node-lease/n1": "+",
		"get leases.coordination.k8s.io kube-node-lease/n2": "can only access node lease with the same name as the requesting node",
		"get leases.coordination.k8s.io default/n1":         `can only access leases in the "kube-node-lease" system namespace`,
		"list leases.coordination.k8s.io kube-node-lease":   "can only get, create, update, patch, or delete a node lease",

		"create csinodes.storage.k8s.io": "+", "get csinodes.storage.k8s.io /n1": "+",
		"get csinodes.storage.k8s.io /n2":          "can only access CSINode with the same name as the requesting node",
		"list csinodes.storage.k8s.io":             "can only get, create, update, patch, or delete a CSINode",
		"patch csinodes.storage.k8s.io/status /n1": "CSINode status access requires CSIVolumeHealth feature",
		"get csinodes.storage.k8s.io/x /n1":        "cannot authorize CSINode subresources",

		"create resourceslices.resource.k8s.io": "+", "update resourceslices.resource.k8s.io /of-n1": "+", "delete resourceslices.resource.k8s.io /of-n2": unrelated,
		"get resourceslices.resource.k8s.io/x /of-n1": "cannot authorize ResourceSlice subresources",
		"approve resourceslices.resource.k8s.io":      "only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection",
		"list resourceslices.resource.k8s.io":         "can only list/watch/deletecollection resourceslices with nodeName field selector",

		"create podcertificaterequests.certificates.k8s.io default": "+", "get podcertificaterequests.certificates.k8s.io default/x": unrelated,
		"delete podcertificaterequests.certificates.k8s.io default/x":       "nodes may not delete podcertificaterequests",
		"list podcertificaterequests.certificates.k8s.io default":           "can only list/watch podcertificaterequests with nodeName field selector",
		"patch podcertificaterequests.certificates.k8s.io/status default/x": "nodes may not access the status subresource of PodCertificateRequests",

		"list services": "+", "get endpoints default/x": "+", "create events default": "+", "patch events.events.k8s.io default/x": "+",
		"create certificatesigningrequests.certificates.k8s.io": "+", "list csidrivers.storage.k8s.io": "+", "watch runtimeclasses.node.k8s.io": "+",
		"list clustertrustbundles.certificates.k8s.io": "+", "create tokenreviews.authentication.k8s.io": "+",
		"create services default": "", "get deployments.apps default/x": "",
	} {
		t.Run(request, func(t *testing.T) {
			decision, err := authorizer.Authorize(t.Context(), registry.Access{User: user("n1"), Resource: attributes(request)})
			if err != nil || decision.Denied || decision.Allowed != (reason == "+") || !decision.Allowed && decision.Reason != reason {
				t.Errorf("got %+v, %v", decision, err)
			}
		})
	}
	selector := attributes("list resourceslices.resource.k8s.io")
	selector.FieldSelector = &authorizationv1.FieldSelectorAttributes{Requirements: []metav1.FieldSelectorRequirement{
		{Key: "spec.nodeName", Operator: metav1.FieldSelectorOpIn, Values: []string{"n1"}},
	}}
	if decision, err := authorizer.Authorize(t.Context(), registry.Access{User: user("n1"), Resource: selector}); err != nil || !decision.Allowed {
		t.Errorf("a parsed field selector: got %+v, %v", decision, err)
	}
}

// The pods that a node creates for its static pods give it no access.
func TestMirrorPodsGiveNoAccess(t *testing.T) {
	e, authorizer := newEnv(t, feature.Default())
	createObjects(e)
	for _, request := range []string{"get secrets default/volume", "get configmaps default/env", "create serviceaccounts/token default/robot"} {
		if decision, err := authorizer.Authorize(t.Context(), registry.Access{User: user("n2"), Resource: attributes(request)}); err != nil || decision.Allowed {
			t.Errorf("%s: got %+v, %v", request, decision, err)
		}
	}
}

// A deleted pod gives no access any more.
func TestAccessEndsWithThePod(t *testing.T) {
	e, authorizer := newEnv(t, feature.Default())
	createObjects(e)
	secret := registry.Access{User: user("n1"), Resource: attributes("get secrets default/volume")}
	if decision, _ := authorizer.Authorize(t.Context(), secret); !decision.Allowed {
		t.Fatal("no access with the pod")
	}
	if _, err := e.Store("pods").Delete(t.Context(), registry.DeleteRequest{
		Namespace: "default", Name: "p", Options: &metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))},
	}); err != nil {
		t.Fatal(err)
	}
	if decision, err := authorizer.Authorize(t.Context(), secret); err != nil || decision.Allowed {
		t.Errorf("got %+v, %v", decision, err)
	}
}

func TestOtherUsers(t *testing.T) {
	_, authorizer := newEnv(t, feature.Default())
	for name, tc := range map[string]struct {
		user   *authenticationv1.UserInfo
		reason string
	}{
		"no user":               {nil, ""},
		"a user":                {&authenticationv1.UserInfo{Username: "jane", Groups: []string{"system:nodes"}}, ""},
		"a node without group":  {&authenticationv1.UserInfo{Username: "system:node:n1"}, ""},
		"a node without a name": {user(""), `unknown node for user "system:node:"`},
	} {
		decision, err := authorizer.Authorize(t.Context(), registry.Access{User: tc.user, Resource: attributes("list services")})
		if err != nil || decision != (registry.Decision{Reason: tc.reason}) {
			t.Errorf("%s: got %+v, %v", name, decision, err)
		}
	}
}

// Requests that a feature gate allows are refused without it.
func TestFeaturesOfNodes(t *testing.T) {
	features, err := feature.Config{Gates: map[string]bool{
		"KubeletServiceAccountTokenForCredentialProviders": false, "PodCertificateRequest": false, "CSIVolumeHealth": true,
	}}.Set()
	if err != nil {
		t.Fatal(err)
	}
	e, authorizer := newEnv(t, features)
	createObjects(e)
	for request, want := range map[string]registry.Decision{
		"get serviceaccounts default/robot":                         {Reason: "not allowed to get service accounts"},
		"create podcertificaterequests.certificates.k8s.io default": {},
		"patch csinodes.storage.k8s.io/status /n1":                  {Allowed: true},
	} {
		if got, err := authorizer.Authorize(t.Context(), registry.Access{User: user("n1"), Resource: attributes(request)}); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", request, got, err)
		}
	}
}

func TestClaimsFromTemplates(t *testing.T) {
	p := usingPod("p", "n1")
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims, corev1.PodResourceClaim{Name: "t", ResourceClaimTemplateName: new("template")})
	p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "t", ResourceClaimName: new("made")}, {Name: "x", ResourceClaimName: new("unknown")}}
	p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{ResourceClaimName: "extended"}
	for name, want := range map[string]bool{"made": true, "extended": true, "device": true, "template": false, "unknown": false, "": false} {
		if got := refersTo(p, resourceClaims, name); got != want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}
