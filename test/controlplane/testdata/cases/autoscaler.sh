# A HorizontalPodAutoscaler reports that there are no metrics.
kubectl create deployment web --image nginx
kubectl autoscale deployment web --min 1 --max 3 --cpu 50%
kubectl wait hpa web --for condition=ScalingActive=False --timeout 90s
test "$(kubectl get hpa web --output jsonpath='{.status.conditions[?(@.type=="ScalingActive")].reason}')" = FailedGetResourceMetric
test "$(kubectl get hpa web --output jsonpath='{.status.conditions[?(@.type=="AbleToScale")].status}')" = True
