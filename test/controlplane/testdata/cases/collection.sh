# Dependents are orphaned, deleted before their owner, and deleted after it.
for name in orphan background; do
  kubectl create deployment "$name" --image nginx --replicas 2
  kubectl rollout status deployment "$name" --timeout 90s
done
set_name=$(kubectl get replicasets --selector app=orphan --output name)
kubectl delete deployment orphan --cascade=orphan
test -z "$(kubectl get "$set_name" --output jsonpath='{.metadata.ownerReferences}')"
kubectl delete "$set_name" --cascade=foreground
test -z "$(kubectl get pods --selector app=orphan --output name)"

kubectl delete deployment background --cascade=background
kubectl wait replicasets,pods --selector app=background --for delete --timeout 90s
