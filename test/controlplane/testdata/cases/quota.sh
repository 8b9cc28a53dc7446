# A quota limits the pods of a Deployment, and its usage follows deletions.
kubectl create quota limit --hard pods=2
kubectl wait quota limit --for jsonpath='{.status.hard.pods}'=2 --timeout 90s
kubectl create deployment web --image nginx --replicas 3
kubectl wait deployment web --for condition=ReplicaFailure --timeout 90s
kubectl wait quota limit --for jsonpath='{.status.used.pods}'=2 --timeout 90s
kubectl scale deployment web --replicas 0
kubectl wait quota limit --for jsonpath='{.status.used.pods}'=0 --timeout 90s
