/** Whether a field (name in lower case) may arrive after the body: framing, routing and credentials must not come late (RFC 9110 section 6.5.1). */
export function mayBeTrailer(name: string): boolean {
  return !NEVER_LATE.has(name)
}

const NEVER_LATE = new Set([
  'authorization',
  'cache-control',
  'content-encoding',
  'content-length',
  'content-range',
  'content-type',
  'forwarded',
  'max-forwards',
  'set-cookie',
])
