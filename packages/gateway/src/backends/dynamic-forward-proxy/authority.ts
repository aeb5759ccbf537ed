/** Splits `host[:port]`; null when it is not one. */
export function parseAuthority(authority: string, defaultPort: number): { host: string; port: number } | null {
  const parts = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::([0-9]{1,5}))?$/.exec(authority)
  if (parts === null) return null
  const host = (parts[1] ?? parts[2] ?? '').replace(/\.$/, '')
  const port = parts[3] === undefined ? defaultPort : Number(parts[3])
  return host === '' || port < 1 || port > 65535 ? null : { host, port }
}
