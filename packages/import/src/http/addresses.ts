/** Addresses in configs of other gateways. */

/** `host:port`; null for sockets, variables and odd texts. */
export function hostPortOf(address: string, port: number | null): string | null {
  const found = /^(\[[0-9a-f:.]+\]|[a-z0-9]([a-z0-9._-]*[a-z0-9])?)(?::(\d{1,5}))?$/i.exec(address)
  const number = Number(found?.[3] ?? port ?? 0)
  const host = found?.[1] ?? ''
  if (found === null || number < 1 || number > 65_535) return null
  // A name with an underscore is not a DNS name, and a number is no name.
  if (
    host.includes('_') ||
    host.includes('..') ||
    (!/^\d+\.\d+\.\d+\.\d+$/.test(host) && /(^|\.)(\d+|0x[0-9a-f]*)$/i.test(host))
  )
    return null
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host) && host.split('.').some((part) => Number(part) > 255 || /^0\d/.test(part)))
    return null
  if (host.split('.').some((label) => label.length > 63 || /^-|-$/.test(label))) return null
  return `${host}:${number}`
}

/** A hostname of a route: `example.com` or `*.example.com`, in lower case; null for other texts. */
export function routeHost(text: string): string | null {
  const lower = text.toLowerCase().replace(/:\d{1,5}$/, '')
  const isValid = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(lower)
  return isValid && lower.length <= 253 ? lower : null
}

/** An IP address or network as CIDR; null for other texts. */
export function cidrOf(text: string): string | null {
  const found = /^([0-9a-fA-F:.]+)(?:\/(\d{1,3}))?$/.exec(text)
  const address = found?.[1] ?? ''
  const isV6 = address.includes(':')
  const most = isV6 ? 128 : 32
  const length = Number(found?.[2] ?? most)
  const isV4 = /^\d{1,3}(\.\d{1,3}){3}$/.test(address) && address.split('.').every((part) => Number(part) < 256)
  const isAddress = isV6
    ? /^[0-9a-fA-F:]+(:\d+\.\d+\.\d+\.\d+)?$/.test(address) && URL.canParse(`http://[${address}]`)
    : isV4
  return isAddress && length <= most ? `${address}/${length}` : null
}
