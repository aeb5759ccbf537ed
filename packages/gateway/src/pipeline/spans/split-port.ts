/** Splits `host:port`, `host`, `[v6]:port`, or a bare IPv6 address. */
export function splitPort(text: string): { address: string; port: number | null } {
  const [, bracketed, after] = /^\[([^\]]*)\](?::(\d{1,5}))?$/.exec(text) ?? []
  if (bracketed !== undefined) return { address: bracketed, port: after === undefined ? null : Number(after) }
  const colon = text.indexOf(':')
  // An IPv6 address without brackets has no port.
  if (colon === -1 || text.includes(':', colon + 1)) return { address: text, port: null }
  const port = text.slice(colon + 1)
  return /^\d{1,5}$/.test(port)
    ? { address: text.slice(0, colon), port: Number(port) }
    : { address: text.slice(0, colon), port: null }
}
