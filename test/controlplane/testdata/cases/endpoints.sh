# A Service gets Endpoints and an EndpointSlice of its ready pods.
kubectl create deployment web --image nginx --replicas 2
kubectl expose deployment web --port 80
kubectl rollout status deployment web --timeout 90s
kubectl wait endpointslice --selector kubernetes.io/service-name=web --for jsonpath='{.endpoints[1].conditions.ready}'=true --timeout 90s
kubectl wait endpoints web --for jsonpath='{.subsets[0].addresses[1].ip}' --timeout 90s
