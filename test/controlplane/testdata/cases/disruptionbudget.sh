# A disruption budget refuses an eviction, and permits it when there are more pods.
kubectl create deployment web --image nginx --replicas 2
kubectl create pdb web --selector app=web --min-available 2
kubectl rollout status deployment web --timeout 90s
kubectl wait pdb web --for jsonpath='{.status.currentHealthy}'=2 --timeout 90s
pod=$(kubectl get pods --output jsonpath='{.items[0].metadata.name}')
evict() {
  echo "{\"apiVersion\": \"policy/v1\", \"kind\": \"Eviction\", \"metadata\": {\"name\": \"$pod\"}}" |
    kubectl create --raw "/api/v1/namespaces/$NAMESPACE/pods/$pod/eviction" -f -
}
if evict 2>refusal; then exit 1; fi
grep "disruption budget" refusal
kubectl scale deployment web --replicas 3
kubectl wait pdb web --for jsonpath='{.status.disruptionsAllowed}'=1 --timeout 90s
evict
kubectl wait pod "$pod" --for delete --timeout 90s
