import { readNameValues } from '../../formats/name-values.ts'

/** Who sends: the standard variables of OpenTelemetry win over what the gateway says of itself. */
export function resourceOf(
  env: Readonly<Record<string, string | undefined>>,
  own: Record<string, string>,
): Record<string, string> {
  // One with a mistake was refused when the config was loaded.
  const attributes = { ...own, ...readNameValues(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '') }
  const name = env['OTEL_SERVICE_NAME']
  if (name !== undefined && name !== '') attributes['service.name'] = name
  return attributes
}
