{{- define "paraph.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Labels that select the pods of a role: (dict "root" $ "role" "web"). They never change between versions. */}}
{{- define "paraph.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "paraph.image" -}}
{{- $repository := required "image.repository: where the image was pushed to" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* Stops where pods would not work together. */}}
{{- define "paraph.check" -}}
{{- $_ := required "secretName: a secret with DATABASE_URL and PARAPH_SECRET_KEY" .Values.secretName }}
{{- $_ := required "config.PARAPH_BASE_URL: the public address of the service" .Values.config.PARAPH_BASE_URL }}
{{- if hasPrefix "https://" .Values.config.PARAPH_BASE_URL }}
{{- $_ := required "config.PARAPH_TRUSTED_PROXIES: the pods of the proxy in front (docs/proxies.md)" .Values.config.PARAPH_TRUSTED_PROXIES }}
{{- end }}
{{- if not .Values.dataClaim }}
{{- range list "PARAPH_STORAGE_URL" "PARAPH_SEALING_KEY" "PARAPH_SANDBOX_SEALING_KEY" "PARAPH_TIMESTAMP_AUTHORITIES" }}
{{- if not (get $.Values.config .) }}
{{- fail (printf "config.%s: without it, and without dataClaim, each pod would have its own" .) }}
{{- end }}
{{- end }}
{{- if contains "built-in" (toString .Values.config.PARAPH_TIMESTAMP_AUTHORITIES) }}
{{- fail "config.PARAPH_TIMESTAMP_AUTHORITIES: without dataClaim, each pod would have a built-in authority of its own" }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What the containers of all roles have in common: (dict "root" $ "role" "web"), and "args" where they are more. */}}
{{- define "paraph.container" -}}
{{- include "paraph.check" .root }}
name: {{ .role }}
image: {{ include "paraph.image" .root | quote }}
args: {{ .args | default (list "paraph" .role) | toJson }}
env:
  {{- range $name, $value := .root.Values.config }}
  - name: {{ $name }}
    value: {{ kindIs "float64" $value | ternary (int64 $value) $value | toString | quote }}  # Helm's numbers: 1e+06
  {{- end }}
  - {name: PARAPH_DATA_DIR, value: /data}
  - {name: PARAPH_HOST, value: "0.0.0.0"}
  - {name: PARAPH_PORT, value: "8000"}
  {{- range list "DATABASE_URL" "PARAPH_SECRET_KEY" }}
  - name: {{ . }}  # named, so that no pod starts without it
    valueFrom:
      secretKeyRef: {name: {{ $.root.Values.secretName }}, key: {{ . }}}
  {{- end }}
envFrom:
  - secretRef:
      name: {{ .root.Values.secretName }}
resources:
  {{- toYaml (get .root.Values .role).resources | nindent 2 }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
volumeMounts:
  - {name: data, mountPath: /data}
  - {name: tmp, mountPath: /tmp}
  {{- if .root.Values.keysSecretName }}
  - {name: keys, mountPath: /keys, readOnly: true}
  {{- end }}
{{- end }}

{{- /* What the pods of all roles have in common. enableServiceLinks: Kubernetes would set PARAPH_PORT and the like. */}}
{{- define "paraph.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
volumes:
  - name: data
    {{- if .Values.dataClaim }}
    persistentVolumeClaim:
      claimName: {{ .Values.dataClaim }}
    {{- else }}
    emptyDir: {}
    {{- end }}
  - name: tmp
    emptyDir: {}
  {{- if .Values.keysSecretName }}
  - name: keys
    secret:
      secretName: {{ .Values.keysSecretName }}
      defaultMode: 0440
  {{- end }}
{{- end }}

{{- /* Spreads the pods of a role over the machines. */}}
{{- define "paraph.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "paraph.selector" . | nindent 8 }}
{{- end }}
