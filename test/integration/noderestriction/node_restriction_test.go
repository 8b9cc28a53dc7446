package noderestriction_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"strings"
	"testing"
)

// restriction is a dry run of node n1. message is a part of the error, "" if the plugin admits the
// write.
type restriction struct {
	rule, method, path, body, message string
}

const (
	podsPath   = "/api/v1/namespaces/default/pods"
	nodePath   = "/api/v1/nodes/n1"
	claimPath  = "/api/v1/namespaces/default/persistentvolumeclaims/claim"
	tokenPath  = "/api/v1/namespaces/default/serviceaccounts/sa/token"
	leasesPath = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
	csiPath    = "/apis/storage.k8s.io/v1/csinodes"
	slicePath  = "/apis/resource.k8s.io/v1/resourceslices"
	csrPath    = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	certPath   = "/apis/certificates.k8s.io/v1/namespaces/default/podcertificaterequests"
)

func podRestrictions() []restriction {
	mirror := func(name, node, owner, more string) string {
		return pod(name, node, more, "{kubernetes.io/config.mirror: x}, ownerReferences: "+owner)
	}
	const owner = "[{apiVersion: v1, kind: Node, name: n1, uid: {Node n1}, controller: true}]"
	references := func(more, resource string) restriction {
		return restriction{"a mirror pod that references " + resource, "POST", podsPath, mirror("m", "n1", owner, more), `node "n1" can not create pods that reference ` + resource}
	}
	volume := func(source, resource string) restriction {
		return references("{volumes: [{name: v, "+source+"}]}", resource)
	}
	return []restriction{
		{"a pod", "POST", podsPath, pod("m", "n1", "{}", ""), `pods "m" is forbidden: pod does not have "kubernetes.io/config.mirror" annotation, node "n1" can only create mirror pods`},
		{"a mirror pod", "POST", podsPath, mirror("m", "n1", owner, "{}"), ""},
		{"a mirror pod on another node", "POST", podsPath, mirror("m", "n2", owner, "{}"), `node "n1" can only create pods with spec.nodeName set to itself`},
		{"a mirror pod without owner", "POST", podsPath, mirror("m", "n1", "[]", "{}"), `node "n1" can only create pods with an owner reference set to itself`},
		{"a mirror pod with two owners", "POST", podsPath,
			mirror("m", "n1", "[{apiVersion: v1, kind: Node, name: n1, uid: a}, {apiVersion: v1, kind: Node, name: n2, uid: b}]", "{}"),
			`node "n1" can only create pods with a single owner reference set to itself`},
		{"a mirror pod of another owner", "POST", podsPath, mirror("m", "n1", "[{apiVersion: v1, kind: Node, name: n2, uid: {Node n2}, controller: true}]", "{}"),
			`node "n1" can only create pods with an owner reference set to itself`},
		{"a mirror pod without a controller", "POST", podsPath, mirror("m", "n1", "[{apiVersion: v1, kind: Node, name: n1, uid: {Node n1}}]", "{}"),
			`node "n1" can only create pods with a controller owner reference set to itself`},
		{"a mirror pod that blocks the deletion of the node", "POST", podsPath,
			mirror("m", "n1", "[{apiVersion: v1, kind: Node, name: n1, uid: {Node n1}, controller: true, blockOwnerDeletion: true}]", "{}"),
			`node "n1" must not set blockOwnerDeletion on an owner reference`},
		{"a mirror pod of another UID of the node", "POST", podsPath, mirror("m", "n1", "[{apiVersion: v1, kind: Node, name: n1, uid: x, controller: true}]", "{}"),
			"node n1 UID mismatch: expected x got {Node n1}"},
		{"a mirror pod with local volumes", "POST", podsPath,
			mirror("m", "n1", owner, "{volumes: [{name: a, hostPath: {path: /}}, {name: b, projected: {sources: [{downwardAPI: {}}]}}, {name: c, emptyDir: {}}]}"), ""},
		references("{serviceAccountName: sa}", "serviceaccounts"),
		references("{imagePullSecrets: [{name: s}]}", "secrets"),
		references("{initContainers: [{name: i, image: i, envFrom: [{secretRef: {name: s}}]}]}", "secrets"),
		references("{initContainers: [{name: i, image: i, env: [{name: A, valueFrom: {configMapKeyRef: {name: s, key: k}}}]}]}", "configmaps"),
		references("{resourceClaims: [{name: c, resourceClaimName: c}]}", "resourceclaims"),
		volume("secret: {secretName: s}", "secrets"),
		volume("secret: {}", "secrets (via secret volumes)"),
		volume("configMap: {name: c}", "configmaps"),
		volume("csi: {driver: d}", "csidrivers (via CSI volumes)"),
		volume("glusterfs: {endpoints: e, path: p}", "endpoints (via glusterFS volumes)"),
		volume("persistentVolumeClaim: {claimName: c}", "persistentvolumeclaims"),
		volume("ephemeral: {}", "persistentvolumeclaims (via ephemeral volumes)"),
		volume("azureFile: {shareName: s}", "secrets (via azureFile volumes)"),
		volume("projected: {sources: [{configMap: {}}]}", "configmaps (via projected volumes)"),
		volume("projected: {sources: [{secret: {}}]}", "secrets (via projected volumes)"),
		volume("projected: {sources: [{serviceAccountToken: {path: t}}]}", "serviceaccounts (via projected volumes)"),
		volume("projected: {sources: [{clusterTrustBundle: {name: b, path: p}}]}", "clustertrustbundles"),
		volume("projected: {sources: [{podCertificate: {signerName: s, keyType: ED25519}}]}", "podcertificates"),
		{"a mirror pod with an unknown projection", "POST", podsPath, mirror("m", "n1", owner, "{volumes: [{name: v, projected: {sources: [{}]}}]}"),
			`error checking mirror pod for API references: unknown source for projected volume "v"`},
		{"an update of a pod", "PATCH", podsPath + "/own", "{metadata: {labels: {a: b}}}", `unexpected operation "UPDATE", node "n1" can only create and delete mirror pods`},
		{"the deletion of an own pod", "DELETE", podsPath + "/own", "{}", ""},
		{"the deletion of another pod", "DELETE", podsPath + "/other", "{}", `pods "other" is forbidden: node "n1" can only delete pods with spec.nodeName set to itself`},
		{"the deletion of no pod", "DELETE", podsPath + "/none", "{}", `pods "none" not found`},
		{"the status of an own pod", "PATCH", podsPath + "/own/status", "{status: {phase: Running}}", ""},
		{"the status of another pod", "PATCH", podsPath + "/other/status", "{status: {phase: Running}}", `node "n1" can only update pod status for pods with spec.nodeName set to itself`},
		{"labels by the status", "PATCH", podsPath + "/own/status", "{metadata: {labels: {a: b}}}", `node "n1" cannot update labels through pod status`},
		{"claims by the status", "PATCH", podsPath + "/own/status", "{status: {resourceClaimStatuses: [{name: a, resourceClaimName: b}]}}", `node "n1" cannot update resource claim statues`},
		{"extended claims by the status", "PATCH", podsPath + "/own/status",
			"{status: {extendedResourceClaimStatus: {resourceClaimName: b, requestMappings: [{containerName: c, resourceName: r, requestName: q}]}}}",
			`node "n1" cannot update extended resource claim status`},
		{"the eviction of an own pod", "POST", podsPath + "/own/eviction", "{metadata: {name: own}}", ""},
		{"the eviction of another pod", "POST", podsPath + "/other/eviction", "{metadata: {name: other}}", `pods "other" is forbidden: node n1 can only evict pods with spec.nodeName set to itself`},
		{"the eviction of no pod", "POST", podsPath + "/none/eviction", "{metadata: {name: none}}", `pod "none" not found`},
		{"a binding", "POST", podsPath + "/own/binding", "{metadata: {name: own}, target: {name: n1}}", `unexpected pod subresource "binding", only 'status' and 'eviction' are allowed`},
		{"a resize", "PATCH", podsPath + "/own/resize", "{spec: {containers: [{name: c, image: i}]}}", `unexpected pod subresource "resize", only 'status' and 'eviction' are allowed`},
	}
}

func nodeRestrictions() []restriction {
	label := func(rule, label, message string) restriction {
		return restriction{rule, "PATCH", nodePath, "{metadata: {labels: {" + label + "}}}", message}
	}
	return []restriction{
		{"an annotation of the own node", "PATCH", nodePath, "{metadata: {annotations: {a: b}}}", ""},
		{"the status of the own node", "PATCH", nodePath + "/status", "{status: {capacity: {cpu: 1}}}", ""},
		{"another node", "PATCH", "/api/v1/nodes/n2", "{metadata: {annotations: {a: b}}}", `nodes "n2" is forbidden: node "n1" is not allowed to modify node "n2"`},
		{"the status of another node", "PATCH", "/api/v1/nodes/n2/status", "{status: {capacity: {cpu: 1}}}", `node "n1" is not allowed to modify node "n2"`},
		{"another new node", "POST", "/api/v1/nodes", "{metadata: {name: n3}}", `node "n1" is not allowed to modify node "n3"`},
		{"a new node with a generated name", "POST", "/api/v1/nodes", "{metadata: {generateName: new}}", `node "n1" is not allowed to modify node ""`},
		{"the own new node", "POST", "/api/v1/nodes", "{metadata: {name: n1}}", `nodes "n1" already exists`},
		{"the own new node with a configuration", "POST", "/api/v1/nodes", "{metadata: {name: n1}, spec: {configSource: {configMap: {name: a, namespace: b, kubeletConfigKey: c}}}}",
			`node "n1" is not allowed to create pods with a non-nil configSource`},
		{"the own new node with labels", "POST", "/api/v1/nodes", "{metadata: {name: n1, labels: {kubernetes.io/b: '', k8s.io/a: '', kubernetes.io/os: linux, a: b}}}",
			`node "n1" is not allowed to set the following labels: k8s.io/a, kubernetes.io/b`},
		{"the own new node with taints", "POST", "/api/v1/nodes", "{metadata: {name: n1}, spec: {taints: [{key: a, effect: NoSchedule}]}}", `nodes "n1" already exists`},
		{"the deletion of the own node", "DELETE", nodePath, "{}", ""},
		{"the deletion of another node", "DELETE", "/api/v1/nodes/n2", "{}", `node "n1" is not allowed to modify node "n2"`},
		{"taints", "PATCH", nodePath, "{spec: {taints: [{key: a, effect: NoSchedule}]}}", `node "n1" is not allowed to modify taints`},
		{"owners", "PATCH", nodePath, "{metadata: {ownerReferences: [{apiVersion: v1, kind: Pod, name: a, uid: b}]}}", `node "n1" is not allowed to modify ownerReferences`},
		{"a configuration", "PATCH", nodePath, "{spec: {configSource: {configMap: {name: a, namespace: b, kubeletConfigKey: c}}}}",
			`node "n1" is not allowed to update configSource to a new non-nil configSource`},
		label("a label without a domain", "c: d", ""),
		label("a label of another domain", "example.com/c: d", ""),
		label("a label of a domain that ends like one of Kubernetes", "notkubernetes.io/c: d", ""),
		label("a label that kubelets set", "topology.kubernetes.io/zone: z", ""),
		label("a beta label that kubelets set", "beta.kubernetes.io/os: linux", ""),
		label("a label in the domain of kubelets", "kubelet.kubernetes.io/c: d", ""),
		label("a label in a domain below the one of nodes", "x.node.kubernetes.io/c: d", ""),
		label("a label of Kubernetes", "kubernetes.io/c: d", `nodes "n1" is forbidden: is not allowed to modify labels: kubernetes.io/c`),
		label("labels below domains of Kubernetes", "x.kubernetes.io/c: d, x.k8s.io/c: d", `is not allowed to modify labels: x.k8s.io/c, x.kubernetes.io/c`),
		label("a label of restrictions", "node-restriction.kubernetes.io/c: d", `is not allowed to modify labels: node-restriction.kubernetes.io/c`),
		label("a label below the domain of restrictions", "x.node-restriction.kubernetes.io/c: d", `is not allowed to modify labels: x.node-restriction.kubernetes.io/c`),
		label("a changed label", "kubernetes.io/role: changed", `is not allowed to modify labels: kubernetes.io/role`),
		label("a removed label", "kubernetes.io/role: null", `is not allowed to modify labels: kubernetes.io/role`),
		label("an unchanged label", "kubernetes.io/role: x", ""),
		{"labels by the status", "PATCH", nodePath + "/status", "{metadata: {labels: {k8s.io/c: d}}}", `is not allowed to modify labels: k8s.io/c`},
	}
}

func storageRestrictions() []restriction {
	const onlySlices = "ResourceSlice with the same NodeName as the requesting node"
	return []restriction{
		{"a claim", "PATCH", claimPath, "{metadata: {labels: {a: b}}}", `persistentvolumeclaims "claim" is forbidden: may only update PVC status`},
		{"the deletion of a claim", "DELETE", claimPath, "{}", "may only update PVC status"},
		{"the capacity of a claim", "PATCH", claimPath + "/status", "{status: {capacity: {storage: 1Gi}}}", ""},
		{"conditions of a claim", "PATCH", claimPath + "/status", "{status: {conditions: [{type: FileSystemResizePending, status: 'True'}]}}", ""},
		{"allocated resources of a claim", "PATCH", claimPath + "/status",
			"{status: {allocatedResources: {storage: 1Gi}, allocatedResourceStatuses: {storage: NodeResizeInProgress}}}", ""},
		{"the phase of a claim", "PATCH", claimPath + "/status", "{status: {phase: Bound}}",
			`node "n1" is not allowed to update fields other than status.quantity and status.conditions: `},
		{"labels of a claim by the status", "PATCH", claimPath + "/status", "{metadata: {labels: {a: b}}}", `node "n1" is not allowed to update fields other than`},
		{"the own lease", "PATCH", leasesPath + "/n1", "{spec: {holderIdentity: a}}", ""},
		{"the own new lease", "POST", leasesPath, "{metadata: {name: n1}}", `leases.coordination.k8s.io "n1" already exists`},
		{"another lease", "PATCH", leasesPath + "/n2", "{spec: {holderIdentity: a}}", "can only access node lease with the same name as the requesting node"},
		{"another new lease", "POST", leasesPath, "{metadata: {name: n3}}", `leases.coordination.k8s.io "n3" is forbidden: can only access node lease with the same name as the requesting node`},
		{"a lease in another namespace", "POST", "/apis/coordination.k8s.io/v1/namespaces/default/leases", "{metadata: {name: n1}}",
			`can only access leases in the "kube-node-lease" system namespace`},
		{"the own CSINode", "PATCH", csiPath + "/n1", "{metadata: {labels: {a: b}}}", ""},
		{"another CSINode", "PATCH", csiPath + "/n2", "{metadata: {labels: {a: b}}}", `csinodes.storage.k8s.io "n2" is forbidden: can only access CSINode with the same name as the requesting node`},
		{"another new CSINode", "POST", csiPath, csiNode("n3", ""), "can only access CSINode with the same name as the requesting node"},
		{"the deletion of another CSINode", "DELETE", csiPath + "/n2", "{}", "can only access CSINode with the same name as the requesting node"},
		{"an own slice", "PATCH", slicePath + "/own", "{metadata: {labels: {a: b}}}", ""},
		{"another slice, which the authorizer protects", "PATCH", slicePath + "/other", "{metadata: {labels: {a: b}}}", ""},
		{"an own new slice", "POST", slicePath, slice("new", "n1"), ""},
		{"another new slice", "POST", slicePath, slice("new", "n2"), `resourceslices.resource.k8s.io "new" is forbidden: can only create ` + onlySlices},
		{"a new slice without a node", "POST", slicePath, "{metadata: {name: new}, spec: {allNodes: true, driver: d, pool: {name: p, resourceSliceCount: 1}}}", "can only create " + onlySlices},
		{"the deletion of an own slice", "DELETE", slicePath + "/own", "{}", ""},
		{"the deletion of another slice", "DELETE", slicePath + "/other", "{}", "can only delete " + onlySlices},
		{"the deletion of all slices", "DELETE", slicePath, "{}", "can only delete " + onlySlices},
		{"a resource without rules", "POST", "/api/v1/namespaces/default/configmaps", "{metadata: {name: a}}", ""},
	}
}

func tokenRestrictions() []restriction {
	token := func(rule, spec, message string) restriction {
		return restriction{rule, "POST", tokenPath, "{spec: {" + spec + "}}", message}
	}
	bound := func(rule, audiences, message string) restriction {
		return token(rule, "audiences: ["+audiences+"], boundObjectRef: {apiVersion: v1, kind: Pod, name: own, uid: {Pod own}}", message)
	}
	return []restriction{
		token("a token that is not bound", "audiences: [projected]", `serviceaccounts "sa" is forbidden: node requested token not bound to a pod`),
		token("a token that is bound to a Secret", "audiences: [projected], boundObjectRef: {apiVersion: v1, kind: Secret, name: own, uid: x}", "node requested token not bound to a pod"),
		token("a token that is bound to a pod without a UID", "audiences: [projected], boundObjectRef: {apiVersion: v1, kind: Pod, name: own}",
			"node requested token with a pod binding without a uid"),
		token("a token of no pod", "audiences: [projected], boundObjectRef: {apiVersion: v1, kind: Pod, name: none, uid: x}", `pod "none" not found`),
		token("a token of an earlier pod", "audiences: [projected], boundObjectRef: {apiVersion: v1, kind: Pod, name: own, uid: x}",
			"the UID in the bound object reference (x) does not match the UID in record. The object might have been deleted and then recreated"),
		token("a token of a pod on another node", "audiences: [projected], boundObjectRef: {apiVersion: v1, kind: Pod, name: other, uid: {Pod other}}",
			"node requested token bound to a pod scheduled on a different node"),
		bound("the audience of a projected token", "projected", ""),
		bound("the audience of a driver", "inline", ""),
		bound("the audience of the driver of a claim", "claimed", ""),
		bound("the audience of the driver of an ephemeral volume", "disk", ""),
		bound("the audience of the driver of a migrated volume", "ebs", ""),
		bound("a permitted audience", "permitted", ""),
		bound("another audience", "secret", `system:node:n1 is not authorized to request tokens for audience "secret"`),
		bound("two audiences", "projected, inline", "node may only request 0 or 1 audiences"),
		token("the audience of no volume", "audiences: [projected], boundObjectRef: {apiVersion: v1, kind: Pod, name: plain, uid: {Pod plain}}",
			`system:node:n1 is not authorized to request tokens for audience "projected"`),
		{"a service account", "PATCH", strings.TrimSuffix(tokenPath, "/token"), "{metadata: {labels: {a: b}}}", ""},
	}
}

func certificateRestrictions(t *testing.T) []restriction {
	request := func(signer, name string) string {
		usages := map[string]string{"kubernetes.io/kubelet-serving": "server auth"}[signer]
		if usages == "" {
			usages = "client auth"
		}
		return "{metadata: {name: r}, spec: {signerName: " + signer + ", request: " + signingRequest(t, name) + ", usages: [" + usages + ", digital signature]}}"
	}
	const forbidden = `certificatesigningrequests.certificates.k8s.io "r" is forbidden: can only create a node CSR with CN=system:node:n1`
	podRequest := func(change ...string) string {
		body := "{metadata: {name: r}, spec: {signerName: example.com/own, podName: own, podUID: {Pod own}, serviceAccountName: sa, " +
			"serviceAccountUID: {ServiceAccount sa}, nodeName: n1, nodeUID: {Node n1}, stubPKCS10Request: aGVsbG8=}}"
		return strings.NewReplacer(change...).Replace(body)
	}
	return []restriction{
		{"a client certificate of the node", "POST", csrPath, request("kubernetes.io/kube-apiserver-client-kubelet", "system:node:n1"), ""},
		{"a client certificate of another node", "POST", csrPath, request("kubernetes.io/kube-apiserver-client-kubelet", "system:node:n2"), forbidden},
		{"a serving certificate of the node", "POST", csrPath, request("kubernetes.io/kubelet-serving", "system:node:n1"), ""},
		{"a serving certificate of another node", "POST", csrPath, request("kubernetes.io/kubelet-serving", "n1"), forbidden},
		{"a certificate of another signer", "POST", csrPath, request("example.com/s", "n2"), ""},
		{"a pod certificate", "POST", certPath, podRequest(), ""},
		{"a pod certificate of another node", "POST", certPath, podRequest("nodeName: n1", "nodeName: n2"),
			`podcertificaterequests.certificates.k8s.io "r" is forbidden: PodCertificateRequest.Spec.NodeName="n2", which is not the requesting node "n1"`},
		{"a pod certificate of an earlier node", "POST", certPath, podRequest("{Node n1}", "x"),
			`PodCertificateRequest for pod "default/own" names node UID "x", inconsistent with the running node ("{Node n1}")`},
		{"a pod certificate of no pod", "POST", certPath, podRequest("podName: own", "podName: none"),
			`while retrieving pod "default/none" named in the PodCertificateRequest: pod "none" not found`},
		{"a pod certificate of an earlier pod", "POST", certPath, podRequest("{Pod own}", "x"),
			`PodCertificateRequest for pod "default/own" contains pod UID ("x") which differs from running pod "{Pod own}"`},
		{"a pod certificate of a pod on another node", "POST", certPath, podRequest("podName: own", "podName: other", "{Pod own}", "{Pod other}"),
			`pod "default/other" is not running on node "n1" named in the PodCertificateRequest`},
		{"a pod certificate of a mirror pod", "POST", certPath, podRequest("podName: own", "podName: mirror", "{Pod own}", "{Pod mirror}"), `pod "default/mirror" is a mirror pod`},
		{"a pod certificate of another account", "POST", certPath, podRequest("serviceAccountName: sa", "serviceAccountName: x"),
			`PodCertificateRequest for pod "default/own" contains serviceAccountName ("x") that differs from running pod ("sa")`},
		{"a pod certificate of an earlier account", "POST", certPath, podRequest("{ServiceAccount sa}", "x"),
			`PodCertificateRequest for pod "default/own" names service account UID "x", which differs from the running service account ("{ServiceAccount sa}")`},
		{"a pod certificate of a signer that the pod does not use", "POST", certPath, podRequest("example.com/own", "example.com/other"),
			`pod "default/own" does not mount a podCertificate projected volume for signer "example.com/other"`},
		{"a pod certificate of a permitted signer", "POST", certPath, podRequest("example.com/own", "example.com/permitted"), ""},
		{"the deletion of pod certificates", "DELETE", certPath + "/r", "{}", "not found"},
	}
}

// signingRequest returns a request for a certificate with a common name in base64.
func signingRequest(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: name, Organization: []string{"system:nodes"}}, DNSNames: []string{"n"}}
	if !strings.HasPrefix(name, "system:node:n1") {
		template.DNSNames = nil
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

func TestNodeRestriction(t *testing.T) {
	start(t, nil).try(podRestrictions(), nodeRestrictions(), storageRestrictions(), tokenRestrictions(), certificateRestrictions(t))
}

// try sends the writes and compares their errors.
func (e *env) try(groups ...[]restriction) {
	e.Helper()
	for _, group := range groups {
		for _, r := range group {
			if r.method == http.MethodDelete {
				r.body = "{dryRun: [All]}"
			}
			code, body := e.send(write{user: "system:node:n1", method: r.method, path: r.path + "?dryRun=All", body: r.body})
			var status struct{ Message string }
			if err := json.Unmarshal(body, &status); err != nil {
				e.Errorf("%s: %d %s", r.rule, code, body)
			}
			want := placeholder.ReplaceAllStringFunc(r.message, func(text string) string { return e.uids[strings.Trim(text, "{}")] })
			if want == "" && (code == http.StatusForbidden || code == http.StatusInternalServerError) || !strings.Contains(status.Message, want) {
				e.Errorf("%s:\ngot  %d %s\nwant %s", r.rule, code, status.Message, want)
			}
		}
	}
}

func TestNodeRestrictionOfUsers(t *testing.T) {
	e := start(t, nil)
	for user, want := range map[string]string{
		"system:node:": `could not determine node from user "system:node:"`,
		"jane":         "", // in the group of nodes, but not a node
	} {
		code, body := e.send(write{user: user, method: "PATCH", path: nodePath + "?dryRun=All", body: "{spec: {taints: []}}"})
		if want == "" && code != http.StatusOK || !strings.Contains(string(body), strings.ReplaceAll(want, `"`, `\"`)) {
			t.Errorf("%s: %d %s", user, code, body)
		}
	}
}

// Rules with feature gates.
func TestNodeRestrictionWithGates(t *testing.T) {
	e := start(t, map[string]bool{
		"ServiceAccountNodeAudienceRestriction": false, "AllowInsecureKubeletCertificateSigningRequests": true,
		"PodCertificateRequest": false, "CSIVolumeHealth": true,
	})
	ref := "boundObjectRef: {apiVersion: v1, kind: Pod, name: own, uid: {Pod own}}"
	e.try([]restriction{
		{"any audience", "POST", tokenPath, "{spec: {audiences: [secret], " + ref + "}}", ""},
		{"a client certificate of another node", "POST", csrPath, "{metadata: {name: r}, spec: {signerName: kubernetes.io/kubelet-serving, request: " +
			signingRequest(t, "system:node:n2") + ", usages: [server auth, digital signature]}}", ""},
		{"the status of the own CSINode", "PATCH", csiPath + "/n1/status", "{status: {}}", ""},
		{"the spec of the own CSINode by the status", "PATCH", csiPath + "/n1/status", "{spec: {drivers: [{name: d, nodeID: id}]}}",
			`node "n1" is not allowed to modify CSINode spec via status`},
	})
}
