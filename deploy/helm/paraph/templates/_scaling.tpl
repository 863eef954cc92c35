{{- /* One pod of a role at a time may be taken away: (dict "root" $ "role" "web"). */}}
{{- define "paraph.disruptions" }}
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  {{- include "paraph.metadata" . | nindent 2 }}
spec:
  maxUnavailable: 1
  selector:
    matchLabels:
      {{- include "paraph.selector" . | nindent 6 }}
{{- end }}

{{- define "paraph.autoscaler" }}
{{- $scaling := (get .root.Values .role).autoscaling }}
{{- if $scaling.enabled }}
{{- if gt (int $scaling.minReplicas) (int $scaling.maxReplicas) }}
{{- fail (printf "%s.autoscaling: minReplicas is larger than maxReplicas" .role) }}
{{- end }}
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata:
  {{- include "paraph.metadata" . | nindent 2 }}
spec:
  scaleTargetRef:
    apiVersion: apps/v1
    kind: Deployment
    name: {{ .root.Release.Name }}-{{ .role }}
  minReplicas: {{ $scaling.minReplicas }}
  maxReplicas: {{ $scaling.maxReplicas }}
  metrics:
    - type: Resource
      resource:
        name: cpu
        target: {type: Utilization, averageUtilization: {{ $scaling.targetCPUUtilizationPercentage }}}
{{- end }}
{{- end }}
