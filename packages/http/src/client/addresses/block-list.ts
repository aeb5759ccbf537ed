import { BlockList, isIPv6 } from 'node:net'
import { parseCidr } from '../../text/ip.ts'

/** Creates a list of address ranges. Throws on an invalid range, because the config was validated before. */
export function blockListOf(cidrs: readonly string[]): BlockList {
  const list = new BlockList()
  for (const cidr of cidrs) {
    const parsed = parseCidr(cidr)
    if (parsed === null) throw new RangeError(`not a range of addresses: ${cidr}`)
    list.addSubnet(parsed.address, parsed.prefix, parsed.family)
  }
  return list
}

/** Returns a function that tells whether an address is in one of the ranges; null when there are no ranges. */
export function rangeMatcher(cidrs: readonly string[]): ((address: string) => boolean) | null {
  if (cidrs.length === 0) return null
  const list = blockListOf(cidrs)
  return (address) => list.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')
}
