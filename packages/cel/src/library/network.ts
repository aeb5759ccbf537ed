import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { typeName } from '../run/type-of.ts'
import { bool, int, oneOf, scalar, string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction, method } from './define.ts'
import { Cidr, Ip, parseCidr, parseIp } from './ip.ts'

const atLoad = { pure: true, refusesAtLoad: true } as const
const onIp = { on: Ip } as const
const onCidr = { on: Cidr } as const

const address = scalar('net.IP')
const range = scalar('net.CIDR')
const isAddress = overload([address], bool)

export const networkFunctions = [
  globalFunction('isIP', overload([string], bool), 'Whether a string is an IP address.', (text: Value): Result =>
    typeof text === 'string' ? parseIp(text) !== undefined : noSuchOverload(`isIP(${typeName(text)})`),
  ),
  globalFunction(
    'ip',
    overload([oneOf(string, address)], address),
    'The IP address of a string; IPv4 in IPv6 (::ffff:a.b.c.d) is IPv4.',
    toIp,
    atLoad,
  ),
  globalFunction(
    'cidr',
    overload([oneOf(string, range)], range),
    'The range of addresses of a string such as 10.0.0.0/8.',
    toCidr,
    atLoad,
  ),
  method('family', overload([address], int), '4 or 6.', (ip: Ip) => ip.family, onIp),
  method('isUnspecified', isAddress, '0.0.0.0 or ::.', (ip: Ip) => ip.isUnspecified(), onIp),
  method('isLoopback', isAddress, '127.0.0.0/8 or ::1.', (ip: Ip) => ip.isIn('127.0.0.0/8', '::1/128'), onIp),
  method(
    'isLinkLocalMulticast',
    isAddress,
    '224.0.0.0/24 or ff02::/16.',
    (ip: Ip) => ip.isIn('224.0.0.0/24', 'ff02::/16'),
    onIp,
  ),
  method(
    'isLinkLocalUnicast',
    isAddress,
    '169.254.0.0/16 or fe80::/10.',
    (ip: Ip) => ip.isIn('169.254.0.0/16', 'fe80::/10'),
    onIp,
  ),
  method(
    'isGlobalUnicast',
    isAddress,
    'None of the above, no multicast, no broadcast; private ranges are global.',
    (ip: Ip) => ip.isGlobalUnicast(),
    onIp,
  ),
  method(
    'containsIP',
    overload([range, oneOf(string, address)], bool),
    'Whether an address (string or ip) is in the range.',
    containsIp,
    onCidr,
  ),
  method(
    'containsCIDR',
    overload([range, oneOf(string, range)], bool),
    'Whether a range (string or cidr) is within the range.',
    containsCidr,
    onCidr,
  ),
  method('ip', overload([range], address), 'The address before the slash.', (range: Cidr) => range.ip, onCidr),
  method(
    'masked',
    overload([range], range),
    'The range by its first address.',
    (range: Cidr) => range.masked(),
    onCidr,
  ),
  method(
    'prefixLength',
    overload([range], int),
    'The number after the slash.',
    (range: Cidr) => range.prefixLength,
    onCidr,
  ),
]

function toIp(value: Value): Ip | CelError {
  if (value instanceof Ip) return value
  if (typeof value !== 'string') return noSuchOverload(`ip(${typeName(value)})`)
  return parseIp(value) ?? new CelError('bad_value', 'the text is not an IP address')
}

function toCidr(value: Value): Cidr | CelError {
  if (value instanceof Cidr) return value
  if (typeof value !== 'string') return noSuchOverload(`cidr(${typeName(value)})`)
  return parseCidr(value) ?? new CelError('bad_value', 'the text is not a range of IP addresses')
}

function containsIp(range: Cidr, address: Value): boolean | CelError {
  if (typeof address === 'string') {
    return range.containsText(address) ?? new CelError('bad_value', 'the text is not an IP address')
  }
  return address instanceof Ip ? range.contains(address) : noSuchOverload(`cidr.containsIP(${typeName(address)})`)
}

function containsCidr(range: Cidr, other: Value): boolean | CelError {
  const inner = toCidr(other)
  return inner instanceof CelError ? inner : range.containsRange(inner)
}
