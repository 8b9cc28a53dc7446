# A Deployment rolls out, scales, and is rolled back.
kubectl create deployment web --image nginx:1 --replicas 2
kubectl rollout status deployment web --timeout 90s
kubectl scale deployment web --replicas 4
kubectl wait deployment web --for jsonpath='{.status.availableReplicas}'=4 --timeout 90s
kubectl set image deployment web nginx=nginx:2
kubectl rollout status deployment web --timeout 90s
kubectl rollout undo deployment web
kubectl rollout status deployment web --timeout 90s
test "$(kubectl get pods --selector app=web --field-selector status.phase=Running --output jsonpath='{.items[0].spec.containers[0].image}')" = nginx:1
test "$(kubectl get replicasets --output name | wc -l)" -eq 2
