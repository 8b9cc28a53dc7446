# The components hold their leases and renew them.
for component in kube-controller-manager kube-scheduler; do
  kubectl --namespace kube-system wait lease "$component" --for jsonpath='{.spec.holderIdentity}' --timeout 90s
  renewed=$(kubectl --namespace kube-system get lease "$component" --output jsonpath='{.spec.renewTime}')
  { kubectl --namespace kube-system get lease "$component" --watch --output jsonpath='{.spec.renewTime}{"\n"}' || true; } |
    grep --max-count 1 --invert-match --fixed-strings "$renewed"
done
kubectl --namespace kube-system get lease --selector apiserver.kubernetes.io/identity=kube-apiserver --output name | grep apiserver-
