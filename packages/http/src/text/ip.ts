/** IP addresses and ranges as text, checked without Node builtins so that a browser can load this file. */

export function isIp(text: string): boolean {
  return isIpv4(text) || isIpv6(text)
}

export function isIpv4(text: string): boolean {
  return /^(?:(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\.(?!$)|$)){4}$/.test(text)
}

export function isIpv6(text: string): boolean {
  let groups = text
  const lastColon = text.lastIndexOf(':')
  if (text.includes('.')) {
    if (!isIpv4(text.slice(lastColon + 1))) return false
    groups = `${text.slice(0, lastColon + 1)}0:0`
  }
  const halves = groups.split('::')
  if (halves.length > 2) return false
  const parts = halves.flatMap((half) => (half === '' ? [] : half.split(':')))
  if (!parts.every((part) => /^[0-9a-f]{1,4}$/i.test(part))) return false
  return halves.length === 2 ? parts.length <= 7 : parts.length === 8
}

interface Cidr {
  address: string
  prefix: number
  family: 'ipv4' | 'ipv6'
}

/** Parses a range such as `10.0.0.0/8`; a single address is a range of one. Returns null for other texts. */
export function parseCidr(text: string): Cidr | null {
  const slash = text.indexOf('/')
  const address = slash < 0 ? text : text.slice(0, slash)
  const family = isIpv4(address) ? 'ipv4' : isIpv6(address) ? 'ipv6' : null
  if (family === null) return null
  const bits = family === 'ipv4' ? 32 : 128
  if (slash < 0) return { address, prefix: bits, family }
  const digits = text.slice(slash + 1)
  return /^(0|[1-9][0-9]{0,2})$/.test(digits) && Number(digits) <= bits
    ? { address, prefix: Number(digits), family }
    : null
}

export function isCidr(text: string): boolean {
  return parseCidr(text) !== null
}
