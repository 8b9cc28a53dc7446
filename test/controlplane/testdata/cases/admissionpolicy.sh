# The expressions of a ValidatingAdmissionPolicy are checked.
kubectl apply -f - <<EOF
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: $NAMESPACE}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: object.spec.missing > 0}]
EOF
kubectl wait validatingadmissionpolicy "$NAMESPACE" --for jsonpath='{.status.observedGeneration}'=1 --timeout 90s
kubectl get validatingadmissionpolicy "$NAMESPACE" --output jsonpath='{.status.typeChecking}' | grep "undefined field 'missing'"
kubectl delete validatingadmissionpolicy "$NAMESPACE"
