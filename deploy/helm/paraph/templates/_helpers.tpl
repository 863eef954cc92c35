{{- define "paraph.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- /* Labels that select all pods of the release. They never change between versions. */}}
{{- define "paraph.all" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- /* Labels that select the pods of a role: (dict "root" $ "role" "web"). */}}
{{- define "paraph.selector" -}}
{{ include "paraph.all" .root }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- /* The metadata of an object of a role, with its name: (dict "root" $ "role" "web"), and "labels" and "annotations"
where it has more. */}}
{{- define "paraph.metadata" -}}
name: {{ .root.Release.Name }}-{{ .role }}
labels:
  {{- include "paraph.labels" .root | nindent 2 }}
  {{- include "paraph.selector" . | nindent 2 }}
  {{- with .labels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with .annotations }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "paraph.image" -}}
{{- $repository := required "image.repository: where the image was pushed to" .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{ $repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ $repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- end }}

{{- /* The name of the account of a role, or nothing where Kubernetes gives its pods the usual one. */}}
{{- define "paraph.account" -}}
{{- with .root.Values.serviceAccount }}
{{- if not .create }}
{{- .name }}
{{- else if ne $.role "migrate" }}
{{- .name | default $.root.Release.Name }}
{{- end }}
{{- end }}
{{- end }}

{{- /* What pods of a role are told under a name, as a line of YAML, or nothing: (dict "root" $ "role" "web" "name"
"tolerations"). What the role says replaces what all say, but adds to a map. */}}
{{- define "paraph.setting" -}}
{{- $found := get (get .root.Values .role) .name | default (get .root.Values .name) }}
{{- if has .name (list "podAnnotations" "nodeSelector") }}
{{- $found = merge (dict) (get (get .root.Values .role) .name | default dict) (get .root.Values .name) }}
{{- end }}
{{- if $found }}
{{- toYaml (dict (.as | default .name) $found) }}
{{- end }}
{{- end }}

{{- /* The template of the pods of a role but for its containers: (dict "root" $ "role" "web").
enableServiceLinks: Kubernetes would set PARAPH_PORT and the like. */}}
{{- define "paraph.pod" -}}
{{- $root := .root }}
metadata:
  labels:
    {{- include "paraph.labels" $root | nindent 4 }}
    {{- include "paraph.selector" . | nindent 4 }}
    {{- with $root.Values.podLabels | merge (dict) ((get $root.Values .role).podLabels | default dict) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  {{- with include "paraph.setting" (dict "root" $root "role" .role "name" "podAnnotations" "as" "annotations") }}
  {{- . | nindent 2 }}
  {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  {{- with include "paraph.account" . }}
  serviceAccountName: {{ . }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile:
      type: RuntimeDefault
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- range $name := list "priorityClassName" "nodeSelector" "tolerations" "affinity" }}
  {{- with include "paraph.setting" (dict "root" $root "role" $.role "name" $name) }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- end }}
  {{- if ne .role "migrate" }}
  {{- $own := (get $root.Values .role).topologySpreadConstraints }}
  {{- $usual := dict "maxSkew" 1 "topologyKey" "kubernetes.io/hostname" "whenUnsatisfiable" "ScheduleAnyway" }}
  {{- $selector := dict "matchLabels" (include "paraph.selector" . | fromYaml) }}
  topologySpreadConstraints:
    {{- range $own | default $root.Values.topologySpreadConstraints | default (list $usual) }}
    - {{- toYaml (hasKey . "labelSelector" | ternary . (merge (deepCopy .) (dict "labelSelector" $selector))) | nindent 6 }}
    {{- end }}
  {{- end }}
  volumes:
    - name: data
      {{- if $root.Values.dataClaim }}
      persistentVolumeClaim:
        claimName: {{ $root.Values.dataClaim }}
      {{- else }}
      emptyDir: {}
      {{- end }}
    - name: tmp
      emptyDir: {}
    {{- if $root.Values.keysSecretName }}
    - name: keys
      secret:
        secretName: {{ $root.Values.keysSecretName }}
        defaultMode: 0440
    {{- end }}
    {{- with $root.Values.secretFiles }}
    - name: secrets
      secret:
        secretName: {{ $root.Values.secretName }}
        defaultMode: 0440
        items:
          {{- range . }}
          - {key: {{ . }}, path: {{ . }}}
          {{- end }}
    {{- end }}
    {{- with $root.Values.extraVolumes }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
{{- end }}

{{- /* What the containers of all roles have in common: (dict "root" $ "role" "web" "args" (list "paraph" "web")). */}}
{{- define "paraph.container" -}}
{{- include "paraph.check" .root }}
name: {{ .role }}
image: {{ include "paraph.image" .root | quote }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ .args | toJson }}
env:
  {{- range $name, $value := .root.Values.config }}
  - name: {{ $name }}
    {{- /* Helm's numbers: 1e+06 */}}
    value: {{ kindIs "float64" $value | ternary (int64 $value) $value | toString | quote }}
  {{- end }}
  - {name: PARAPH_DATA_DIR, value: /data}
  - {name: PARAPH_HOST, value: "0.0.0.0"}
  - {name: PARAPH_PORT, value: "8000"}
  {{- range .root.Values.secretFiles }}
  - {name: {{ . }}_FILE, value: /secrets/{{ . }}}
  {{- else }}
  {{- if .root.Values.secretName }}
  {{- range list "DATABASE_URL" "PARAPH_SECRET_KEY" }}
  - name: {{ . }}  # named, so that no pod starts without it
    valueFrom:
      secretKeyRef: {name: {{ $.root.Values.secretName }}, key: {{ . }}}
  {{- end }}
  {{- end }}
  {{- end }}
  {{- with .root.Values.extraEnv }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- $from := .root.Values.extraEnvFrom }}
{{- if and .root.Values.secretName (not .root.Values.secretFiles) }}
{{- $from = prepend $from (dict "secretRef" (dict "name" .root.Values.secretName)) }}
{{- end }}
{{- with $from }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
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
  {{- if .root.Values.secretFiles }}
  - {name: secrets, mountPath: /secrets, readOnly: true}
  {{- end }}
  {{- with .root.Values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
