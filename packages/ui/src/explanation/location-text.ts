import type { SourceLocation } from '@portico/gateway/admin-api'

/** `gateway.yaml:10:13`, or the resource of a cluster with the field in it. */
export function locationText(place: SourceLocation): string {
  if ('file' in place) return `${place.file}:${place.line}:${place.column}`
  return `${place.kind} ${place.namespace}/${place.name} ${place.path}`.trimEnd()
}
