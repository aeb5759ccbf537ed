/** Reads the notations of addresses that configs of other gateways use. */

/** A DNS name that the gateway can connect to. Underscores are allowed, because names of containers may have them. */
const DNS_NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i

/** Returns an address as `host:port`; null for sockets, variables and invalid addresses. */
export function hostPortOf(address: string, port: number | null): string | null {
  const found = /^(?:\[([0-9a-f:.]+)\]|([^:[\]]+))(?::(\d{1,5}))?$/i.exec(address)
  const [, bracketed, name = '', digits] = found ?? []
  const number = Number(digits ?? port ?? 0)
  if (found === null || number < 1 || number > 65_535) return null
  if (bracketed !== undefined) return isIpv6(bracketed) ? `[${bracketed}]:${number}` : null
  return isIpv4(name) || isName(name) ? `${name}:${number}` : null
}

/**
 * Whether a text is a DNS name. A name that ends in a number is rejected, because resolvers may read it as an IP
 * address.
 */
function isName(text: string): boolean {
  return DNS_NAME.test(text) && !/(^|\.)(\d+|0x[0-9a-f]*)\.?$/i.test(text)
}

function isIpv4(text: string): boolean {
  return /^((25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)(\.(?!$)|$)){4}$/.test(text)
}

function isIpv6(text: string): boolean {
  return text.includes(':') && /^[0-9a-f:]+(:\d+\.\d+\.\d+\.\d+)?$/i.test(text) && URL.canParse(`http://[${text}]`)
}

/** Returns a hostname for a route, such as `example.com` or `*.example.com`, in lower case; null for other texts. */
export function routeHost(text: string): string | null {
  const lower = text.toLowerCase().replace(/:\d{1,5}$/, '')
  const isValid = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$/.test(lower)
  return isValid && lower.length <= 253 ? lower : null
}

/** Returns an IP address or network in CIDR notation; null for other texts. */
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
