{{- /* Stops where pods would not start, or not work together. What a secret holds under secretName is not seen here. */}}
{{- define "paraph.check" -}}
{{- $config := .Values.config }}
{{- $given := concat (keys $config) .Values.secretFiles }}
{{- range .Values.extraEnv }}
{{- $given = append $given .name }}
{{- end }}
{{- range $given }}
{{- $given = append $given (trimSuffix "_FILE" .) }}
{{- end }}
{{- range list "DATABASE_URL" "PARAPH_SECRET_KEY" }}
{{- if and (not (has . $given)) (or $.Values.secretFiles (not $.Values.secretName)) }}
{{- fail (printf "secretName: a secret with %s, which secretFiles has to name where it names any" .) }}
{{- end }}
{{- end }}
{{- if and .Values.secretFiles (not .Values.secretName) }}
{{- fail "secretName: the secret that has what secretFiles names" }}
{{- end }}
{{- $_ := required "config.PARAPH_BASE_URL: the public address of the service" $config.PARAPH_BASE_URL }}
{{- if and (hasPrefix "https://" (toString $config.PARAPH_BASE_URL)) (not (has "PARAPH_TRUSTED_PROXIES" $given)) }}
{{- fail "config.PARAPH_TRUSTED_PROXIES: the pods of the proxy in front (docs/proxies.md)" }}
{{- end }}
{{- $stamped := ne (toString $config.PARAPH_SEAL_LEVEL) "B-B" }}
{{- $authorities := toString $config.PARAPH_TIMESTAMP_AUTHORITIES }}
{{- $elsewhere := and $stamped (has "PARAPH_TIMESTAMP_AUTHORITIES" $given) (ne $authorities "built-in") }}
{{- if and $elsewhere (not (has "PARAPH_TIMESTAMP_ROOTS" $given)) }}
{{- fail "config.PARAPH_TIMESTAMP_ROOTS: a file of the roots that the timestamp authorities chain to" }}
{{- end }}
{{- if not .Values.dataClaim }}
{{- $needed := list "PARAPH_STORAGE_URL" "PARAPH_SEALING_KEY" "PARAPH_SANDBOX_SEALING_KEY" }}
{{- if $stamped }}
{{- $needed = append $needed "PARAPH_TIMESTAMP_AUTHORITIES" }}
{{- end }}
{{- range $needed }}
{{- if not (has . $given) }}
{{- fail (printf "config.%s: without it, and without dataClaim, each pod would have its own" .) }}
{{- end }}
{{- end }}
{{- if or (and $stamped (contains "built-in" $authorities)) (eq "true" (lower (toString $config.PARAPH_SERVE_AUTHORITY))) }}
{{- fail "config: without dataClaim, each pod would have a built-in timestamp authority of its own" }}
{{- end }}
{{- end }}
{{- end }}
