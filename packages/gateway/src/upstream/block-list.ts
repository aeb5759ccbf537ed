import { BlockList } from 'node:net'
import { parseCidr } from '../formats/address.ts'

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
