export interface ResourceText {
  attributes: Record<string, string>
  /** What was wrong with the variable, which then counts for nothing; null when all is well. */
  problem: string | null
}

/** Who sends: the standard variables of OpenTelemetry win over what the gateway says of itself. */
export function resourceOf(
  env: Readonly<Record<string, string | undefined>>,
  own: Record<string, string>,
): ResourceText {
  const said = readAttributes(env['OTEL_RESOURCE_ATTRIBUTES'] ?? '')
  const attributes = { ...own, ...said }
  const name = env['OTEL_SERVICE_NAME']
  if (name !== undefined && name !== '') attributes['service.name'] = name
  const problem = said === null ? 'OTEL_RESOURCE_ATTRIBUTES is no list of name=value with commas between them' : null
  return { attributes, problem }
}

/** `name=value,…` with percent-encoded texts, as W3C baggage has it; null when a part is none. */
export function readAttributes(text: string): Record<string, string> | null {
  const found: Record<string, string> = Object.create(null)
  for (const part of text.split(',')) {
    if (part.trim() === '') continue
    const at = part.indexOf('=')
    const name = decoded(part.slice(0, Math.max(0, at)).trim())
    const value = decoded(part.slice(at + 1).trim())
    if (at < 0 || name === null || name === '' || value === null) return null
    found[name] = value
  }
  return found
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
