import { CelError, noSuchOverload } from '../error.ts'
import { typeName } from '../run/type-of.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction, method } from './define.ts'
import { Cidr, Ip, parseCidr, parseIp } from './ip.ts'

const atLoad = { pure: true, refusesAtLoad: true } as const
const onIp = { on: Ip } as const
const onCidr = { on: Cidr } as const

export const networkFunctions = [
  globalFunction('isIP', 1, 'Whether a string is an IP address.', (text: Value): Result =>
    typeof text === 'string' ? parseIp(text) !== undefined : noSuchOverload(`isIP(${typeName(text)})`),
  ),
  globalFunction('ip', 1, 'The IP address of a string; IPv4 in IPv6 (::ffff:a.b.c.d) is IPv4.', toIp, atLoad),
  globalFunction('cidr', 1, 'The range of addresses of a string such as 10.0.0.0/8.', toCidr, atLoad),
  method('family', 0, '4 or 6.', (ip: Ip) => ip.family, onIp),
  method('isUnspecified', 0, '0.0.0.0 or ::.', (ip: Ip) => ip.isUnspecified(), onIp),
  method('isLoopback', 0, '127.0.0.0/8 or ::1.', (ip: Ip) => ip.isIn('127.0.0.0/8', '::1/128'), onIp),
  method(
    'isLinkLocalMulticast',
    0,
    '224.0.0.0/24 or ff02::/16.',
    (ip: Ip) => ip.isIn('224.0.0.0/24', 'ff02::/16'),
    onIp,
  ),
  method(
    'isLinkLocalUnicast',
    0,
    '169.254.0.0/16 or fe80::/10.',
    (ip: Ip) => ip.isIn('169.254.0.0/16', 'fe80::/10'),
    onIp,
  ),
  method(
    'isGlobalUnicast',
    0,
    'None of the above, no multicast, no broadcast; private ranges are global.',
    (ip: Ip) => ip.isGlobalUnicast(),
    onIp,
  ),
  method('containsIP', 1, 'Whether an address (string or ip) is in the range.', containsIp, onCidr),
  method('containsCIDR', 1, 'Whether a range (string or cidr) is within the range.', containsCidr, onCidr),
  method('ip', 0, 'The address before the slash.', (range: Cidr) => range.ip, onCidr),
  method('masked', 0, 'The range by its first address.', (range: Cidr) => range.masked(), onCidr),
  method('prefixLength', 0, 'The number after the slash.', (range: Cidr) => range.prefixLength, onCidr),
]

function toIp(value: Value): Ip | CelError {
  if (value instanceof Ip) return value
  if (typeof value !== 'string') return noSuchOverload(`ip(${typeName(value)})`)
  return parseIp(value) ?? new CelError('bad_value', 'the text is no IP address')
}

function toCidr(value: Value): Cidr | CelError {
  if (value instanceof Cidr) return value
  if (typeof value !== 'string') return noSuchOverload(`cidr(${typeName(value)})`)
  return parseCidr(value) ?? new CelError('bad_value', 'the text is no range of IP addresses')
}

function containsIp(range: Cidr, address: Value): boolean | CelError {
  if (typeof address === 'string') {
    return range.containsText(address) ?? new CelError('bad_value', 'the text is no IP address')
  }
  return address instanceof Ip ? range.contains(address) : noSuchOverload(`cidr.containsIP(${typeName(address)})`)
}

function containsCidr(range: Cidr, other: Value): boolean | CelError {
  const inner = toCidr(other)
  return inner instanceof CelError ? inner : range.containsRange(inner)
}
