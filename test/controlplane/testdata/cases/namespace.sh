# A namespace is deleted with its content, and waits for finalizers.
other=$NAMESPACE-other
kubectl create namespace "$other"
kubectl --namespace "$other" create deployment web --image nginx --replicas 2
kubectl --namespace "$other" rollout status deployment web --timeout 90s
kubectl --namespace "$other" create configmap held
kubectl --namespace "$other" patch configmap held --patch '{"metadata": {"finalizers": ["example.com/hold"]}}'
kubectl delete namespace "$other" --wait=false
kubectl wait namespace "$other" --for condition=NamespaceFinalizersRemaining --timeout 90s
test -z "$(kubectl --namespace "$other" get deployments,pods --output name)"
kubectl --namespace "$other" patch configmap held --patch '{"metadata": {"finalizers": null}}'
kubectl wait namespace "$other" --for delete --timeout 90s
kubectl create namespace "$other"
kubectl delete namespace "$other" --timeout 90s
