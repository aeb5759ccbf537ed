import { type BlockList, isIP, SocketAddress } from 'node:net'
import { parseCidr } from '../../text/ip.ts'
import { blockListOf } from './block-list.ts'

/**
 * Returns null to allow the connection, or the reason to refuse it. `address` is the resolved address that will be
 * dialed.
 */
export type AddressGuard = (address: string, port: number) => string | null

/**
 * Keeps destinations chosen by clients out of the gateway's own network. `allowCidrs` opens parts of that network; an
 * empty list of ports allows all ports. Throws on an invalid range, because the config was validated before.
 */
export function createAddressGuard(options: { allowCidrs: readonly string[]; ports: readonly number[] }): AddressGuard {
  const { refused, reachableV6, byReason } = (known ??= makeLists())
  const allowed = blockListOf(options.allowCidrs)
  const ports = options.ports.length === 0 ? null : new Set(options.ports)
  return (address, port) => {
    if (!Number.isInteger(port) || port < 1 || port > 65535) return 'the port is not valid'
    if (ports !== null && !ports.has(port)) return `port ${port} is not allowed`
    const family = isIP(address)
    // A zone id picks a network interface of this machine.
    if (family === 0 || address.includes('%')) return 'not an IP address'
    const parsed = new SocketAddress({ address, family: family === 4 ? 'ipv4' : 'ipv6' })
    if (allowed.check(parsed)) return null
    if (refused.check(parsed)) return byReason.find(({ list }) => list.check(parsed))?.reason ?? 'not allowed'
    if (family === 6 && !reachableV6.check(parsed)) return 'not a global unicast address'
    return null
  }
}

const rangesByReason: Record<string, readonly string[]> = {
  'a cloud metadata address': ['169.254.169.254/32', '168.63.129.16/32', '100.100.100.200/32', 'fd00:ec2::254/128'],
  'a loopback address': ['127.0.0.0/8', '::1/128'],
  'an unspecified address': ['0.0.0.0/8', '::/128'],
  'a private address': ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7', 'fec0::/10'],
  'a shared carrier address': ['100.64.0.0/10'],
  'a link-local address': ['169.254.0.0/16', 'fe80::/10'],
  'a multicast or broadcast address': ['224.0.0.0/4', '255.255.255.255/32', 'ff00::/8'],
  'a documentation address': ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32', '3fff::/20'],
  // Includes Teredo (2001::/32), whose embedded IPv4 address is masked and cannot be matched by a prefix.
  'a reserved address': [
    '192.0.0.0/24',
    '192.88.99.0/24',
    '198.18.0.0/15',
    '240.0.0.0/4',
    '2001::/23',
    '64:ff9b:1::/48',
  ],
}

interface Lists {
  refused: BlockList
  /** Global unicast, and the two forms that carry an IPv4 address to the Internet: mapped, and translated (NAT64). */
  reachableV6: BlockList
  byReason: readonly { reason: string; list: BlockList }[]
}

/** Created for the first guard: few configs have a guard, and the lists would slow down the start of every thread. */
let known: Lists | null = null

function makeLists(): Lists {
  const entries = Object.entries(rangesByReason).map(([reason, ranges]) => [reason, ranges.flatMap(everyForm)] as const)
  return {
    refused: blockListOf(entries.flatMap(([, ranges]) => ranges)),
    reachableV6: blockListOf(['2000::/3', '::ffff:0:0/96', '64:ff9b::/96']),
    byReason: entries.map(([reason, ranges]) => ({ reason, list: blockListOf(ranges) })),
  }
}

/** Returns the range, and the IPv6 ranges that the kernel, a translator or a tunnel would map to it. */
function everyForm(range: string): string[] {
  const parsed = parseCidr(range)
  if (parsed === null || parsed.family === 'ipv6') return [range]
  const { address, prefix } = parsed
  const hex = Buffer.from(address.split('.').map(Number)).toString('hex')
  const groups = `${hex.slice(0, 4)}:${hex.slice(4)}`
  return [
    range,
    `::ffff:${groups}/${96 + prefix}`,
    `::${groups}/${96 + prefix}`,
    `64:ff9b::${groups}/${96 + prefix}`,
    `2002:${groups}::/${16 + prefix}`,
  ]
}
