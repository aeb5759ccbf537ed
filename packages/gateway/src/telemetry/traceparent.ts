/** A position in a trace; ids are in hex. */
export interface TraceContext {
  traceId: string
  spanId: string
  flags: number
}

/** Reads the `traceparent` header of W3C Trace Context; null when it is absent or invalid. */
export function readTraceparent(text: string | null): TraceContext | null {
  const found = text === null ? null : FORM.exec(text)
  if (found === null) return null
  const [, version = '', traceId = '', spanId = '', flags = '', rest = ''] = found
  if (version === 'ff' || (version === '00' && rest !== '')) return null
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & SAMPLED }
}

/** Later versions may add parts after a dash. */
const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
/** The only flag that every version has. */
export const SAMPLED = 1
