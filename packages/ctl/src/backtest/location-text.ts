import type { SourceLocation } from '@portico/gateway/admin-api'

/** Returns a location in a config as text: `gateway.yaml:3:5`, or `HTTPRoute shop/calls: spec.rules[0]`. */
export function locationText(location: SourceLocation): string {
  if ('file' in location) return `${location.file}:${location.line}:${location.column}`
  const { kind, namespace, name, path } = location
  return `${kind} ${namespace}/${name}${path === '' ? '' : `: ${path}`}`
}
