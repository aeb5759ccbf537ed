import { BlockList, isIPv6 } from 'node:net'
import { parseCidr } from '../wire/ip.ts'

/** Ranges that addresses are looked up in. Throws on what is none: the config is checked before. */
export function blockListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const parsed = parseCidr(cidr)
    if (parsed === null) throw new RangeError(`not a range of addresses: ${cidr}`)
    list.addSubnet(parsed.address, parsed.prefix, parsed.family)
  }
  return list
}

/** Whether an address is in one of the ranges; null where there are none. */
export function rangeMatcher(cidrs: readonly string[]): ((address: string) => boolean) | null {
  if (cidrs.length === 0) return null
  const list = blockListOf(cidrs)
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
