/** Texts with variables of nginx, as CEL. */

const VARIABLES: Readonly<Record<string, string>> = {
  remote_addr: 'source.address',
  host: 'request.host',
  http_host: 'request.headers["host"]',
  scheme: 'request.scheme',
  request_uri: 'request.pathAndQuery',
  uri: 'request.path',
  document_uri: 'request.path',
  request_method: 'request.method',
}

/** The literal text; null when it has variables. */
export function literalOf(text: string): string | null {
  return /\$[\w{]/.test(text) ? null : text
}

/** A CEL expression for a text with variables; null when one of them has no counterpart. */
export function expressionOf(text: string): string | null {
  const parts: string[] = []
  let last = 0
  for (const found of text.matchAll(/\$(?:\{(\w+)\}|(\w+))/g)) {
    const name = found[1] ?? found[2] ?? ''
    const header = /^http_(\w+)$/.exec(name)?.[1]
    const known = Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined
    const value =
      known ??
      (header === undefined ? null : `default(request.headers[${JSON.stringify(header.replaceAll('_', '-'))}], "")`)
    if (value === null) return null
    if (found.index > last) parts.push(JSON.stringify(text.slice(last, found.index)))
    parts.push(value)
    last = found.index + found[0].length
  }
  if (last < text.length || parts.length === 0) parts.push(JSON.stringify(text.slice(last)))
  return parts.join(' + ')
}

/** Seconds of `30s`, `2m`, `1h 30m`, `500ms`; null for other texts. */
export function secondsOf(text: string): number | null {
  let total = 0
  const rest = text.replaceAll(/(\d+)(ms|[smhdwMy]?)\s*/g, (_all, count: string, unit: string) => {
    total += Number(count) * (UNITS[unit] ?? 1)
    return ''
  })
  return rest === '' && text !== '' ? total : null
}

const UNITS: Readonly<Record<string, number>> = {
  ...{ ms: 0.001, s: 1, '': 1, m: 60, h: 3_600, d: 86_400, w: 604_800, M: 2_592_000, y: 31_536_000 },
}
