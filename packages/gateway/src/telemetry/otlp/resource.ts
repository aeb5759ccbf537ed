import { readNameValues } from '../../formats/name-values.ts'

/** Returns the resource attributes: the standard OpenTelemetry variables override those of the gateway. */
export function resourceOf(
  env: Readonly<Record<string, string | undefined>>,
  own: Record<string, string>,
): Record<string, string> {
  // Invalid variables were already rejected with the config.
  const attributes = { ...own, ...readNameValues(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '') }
  const name = env['OTEL_SERVICE_NAME']
  if (name !== undefined && name !== '') attributes['service.name'] = name
  return attributes
}
