import type { Value } from '../value.ts'
import { Opaque } from '../value.ts'

const V4_BITS = 32
const V6_BITS = 128
/** ::ffff:0:0/96, the IPv6 range of mapped IPv4 addresses. */
const MAPPED = 0xffffn
const LONGEST_TEXT = 45

export class Ip extends Opaque {
  readonly typeName = 'net.IP'
  readonly family: 4 | 6
  /** The bits of the address. IPv4 uses a number, because it is the most frequent and bigints are slow. */
  readonly bits: number | bigint

  constructor(family: 4 | 6, bits: number | bigint) {
    super()
    this.family = family
    this.bits = bits
  }

  isUnspecified(): boolean {
    return this.bits === 0 || this.bits === 0n
  }

  isIn(v4: string, v6: string): boolean {
    return rangeOf(this.family === 4 ? v4 : v6).contains(this)
  }

  isGlobalUnicast(): boolean {
    const isOther =
      this.isUnspecified() ||
      this.isIn('127.0.0.0/8', '::1/128') ||
      this.isIn('169.254.0.0/16', 'fe80::/10') ||
      this.isIn('224.0.0.0/4', 'ff00::/8') ||
      this.bits === 0xffffffff
    return !isOther
  }

  toText(): string {
    return typeof this.bits === 'number' ? formatV4(this.bits) : formatV6(this.bits)
  }

  equals(other: Value): boolean {
    return other instanceof Ip && other.family === this.family && other.bits === this.bits
  }
}

export class Cidr extends Opaque {
  readonly typeName = 'net.CIDR'
  readonly ip: Ip
  readonly prefixLength: number
  /** The network and the mask of IPv4 ranges, as 32-bit integers. */
  readonly #mask: number
  readonly #network: number

  constructor(ip: Ip, prefixLength: number) {
    super()
    this.ip = ip
    this.prefixLength = prefixLength
    this.#mask = prefixLength === 0 ? 0 : -1 << (V4_BITS - Math.min(prefixLength, V4_BITS))
    this.#network = Number(ip.family === 4 ? ip.bits : 0) & this.#mask
  }

  /** Whether the range contains the address; undefined when the text is not an address. */
  containsText(text: string): boolean | undefined {
    const v4 = parseV4(text)
    if (v4 >= 0) return this.ip.family === 4 && (v4 & this.#mask) === this.#network
    const ip = parseIp(text)
    return ip && this.contains(ip)
  }

  contains({ family, bits }: Ip): boolean {
    if (family !== this.ip.family) return false
    if (typeof bits === 'number') return (bits & this.#mask) === this.#network
    const shift = BigInt(V6_BITS - this.prefixLength)
    return bits >> shift === BigInt(this.ip.bits) >> shift
  }

  containsRange(other: Cidr): boolean {
    return other.prefixLength >= this.prefixLength && this.contains(other.ip)
  }

  masked(): Cidr {
    if (this.ip.family === 4) return new Cidr(new Ip(4, this.#network >>> 0), this.prefixLength)
    const shift = BigInt(V6_BITS - this.prefixLength)
    return new Cidr(new Ip(6, (BigInt(this.ip.bits) >> shift) << shift), this.prefixLength)
  }

  toText(): string {
    return `${this.ip.toText()}/${this.prefixLength}`
  }

  equals(other: Value): boolean {
    return other instanceof Cidr && other.prefixLength === this.prefixLength && other.ip.equals(this.ip)
  }
}

/**
 * Parses an address strictly: no leading zeros (some parsers read them as octal), zones or short forms. Undefined when the
 * text is not an address.
 */
export function parseIp(text: string): Ip | undefined {
  const v4 = parseV4(text)
  if (v4 >= 0) return new Ip(4, v4)
  const v6 = parseV6(text)
  if (v6 === undefined) return undefined
  return v6 >> 32n === MAPPED ? new Ip(4, Number(v6 & 0xffffffffn)) : new Ip(6, v6)
}

export function parseCidr(text: string): Cidr | undefined {
  const slash = text.indexOf('/')
  const length = text.slice(slash + 1)
  const ip = slash < 0 ? undefined : parseIp(text.slice(0, slash))
  if (ip === undefined || !/^(?:0|[1-9]\d{0,2})$/.test(length)) return undefined
  const isMapped = ip.family === 4 && text.includes(':')
  const prefix = Number(length) - (isMapped ? V6_BITS - V4_BITS : 0)
  return prefix >= 0 && prefix <= (ip.family === 4 ? V4_BITS : V6_BITS) ? new Cidr(ip, prefix) : undefined
}

const DOT = 46
const ZERO = 48

/**
 * Parses IPv4 to an unsigned 32-bit number, or -1. Written by hand, because it runs on every request with an IP range rule.
 */
function parseV4(text: string): number {
  if (text.length > 15) return -1
  let bits = 0
  let parts = 0
  let part = -1
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === DOT) {
      if (part < 0 || ++parts > 3) return -1
      bits = bits * 256 + part
      part = -1
      continue
    }
    const digit = code - ZERO
    // A leading zero must be the only digit.
    if (digit < 0 || digit > 9 || part === 0) return -1
    part = part < 0 ? digit : part * 10 + digit
    if (part > 255) return -1
  }
  return parts === 3 && part >= 0 ? bits * 256 + part : -1
}

function parseV6(text: string): bigint | undefined {
  if (text.length > LONGEST_TEXT) return undefined
  const halves = text.split('::')
  if (halves.length > 2) return undefined
  const [head = [], tail] = halves.map((half) => (half === '' ? [] : half.split(':')))
  const groups = [...readGroups(head, tail === undefined), ...(tail === undefined ? [] : readGroups(tail, true))]
  if (groups.includes(undefined)) return undefined
  const missing = 8 - groups.length
  if (tail === undefined ? missing !== 0 : missing < 1) return undefined
  const headLength = tail === undefined ? 8 : head.length
  const all = [...groups.slice(0, headLength), ...Array<number>(missing).fill(0), ...groups.slice(headLength)]
  return all.reduce<bigint>((bits, group) => (bits << 16n) | BigInt(group ?? 0), 0n)
}

/** Parses groups of 16 bits; the last group of an address may be written as IPv4. */
function readGroups(texts: readonly string[], isEnd: boolean): (number | undefined)[] {
  return texts.flatMap((text, index) => {
    if (isEnd && index === texts.length - 1 && text.includes('.')) {
      const v4 = parseV4(text)
      return v4 < 0 ? [undefined] : [Math.floor(v4 / 65_536), v4 % 65_536]
    }
    return [/^[0-9a-fA-F]{1,4}$/.test(text) ? parseInt(text, 16) : undefined]
  })
}

function formatV4(bits: number): string {
  return [bits >>> 24, (bits >>> 16) & 255, (bits >>> 8) & 255, bits & 255].join('.')
}

/** Formats as in RFC 5952: lower case, the longest run of zeros as `::`. */
function formatV6(bits: bigint): string {
  const groups = Array.from({ length: 8 }, (_, index) => ((bits >> BigInt(112 - index * 16)) & 0xffffn).toString(16))
  const text = groups.join(':')
  const runs = text.match(/\b0(?::0)+\b/g) ?? []
  const longest = runs.reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest === '' ? text : text.replace(new RegExp(`(?:^|:)${longest}(?::|$)`), '::')
}

const ranges = new Map<string, Cidr>()

function rangeOf(text: string): Cidr {
  const known = ranges.get(text)
  if (known !== undefined) return known
  const range = parseCidr(text)
  if (range === undefined) throw new Error(`no range: ${text}`)
  ranges.set(text, range)
  return range
}
