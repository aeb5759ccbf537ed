import { isIP } from 'node:net'
import type { PoolMember } from '../../schema/fields/inference-pool.ts'
import { formatHostPort, type Resolver } from '@portico/http/client'
import { parseMeshAddress } from '@portico/http/text'

/**
 * Resolves the members of a pool to `ip:port`. A name that cannot be resolved leaves the pool until the next lookup; the
 * pool fails when no name can be resolved.
 */
export function memberResolver(members: readonly PoolMember[], resolver: Resolver): Resolver {
  let last: { parts: (readonly string[])[]; all: readonly string[] } | null = null
  /** Returns the same array while the addresses are the same, because destinations cache by it. */
  const joined = (parts: (readonly string[])[]): readonly string[] => {
    if (last !== null && last.parts.every((part, index) => part === parts[index])) return last.all
    const all = parts.flatMap((addresses, index) =>
      addresses.map((address) => formatHostPort(address, members[index]?.port ?? 0)),
    )
    last = { parts, all: [...new Set(all)] }
    return last.all
  }
  const literals = members.map(({ host }) => (isIP(host) === 0 ? null : [host]))
  return {
    get() {
      const parts: (readonly string[])[] = []
      for (const [index, { host }] of members.entries()) {
        const addresses = literals[index] ?? resolver.get(host)
        if (addresses === null) return null
        parts.push(addresses)
      }
      return joined(parts)
    },
    resolve(_host, done) {
      const parts: (readonly string[])[] = members.map(() => NONE)
      let missing = members.length
      let failure: Error | null = null
      const found = (index: number, error: Error | null, addresses: readonly string[]): void => {
        if (error === null) parts[index] = addresses
        else failure ??= error
        if (--missing > 0) return
        const all = joined(parts)
        if (all.length > 0) done(null, all)
        else done(failure ?? new Error('no member has an address'), [])
      }
      for (const [index, { host }] of members.entries()) {
        const literal = literals[index] ?? null
        if (literal !== null) found(index, null, literal)
        else resolver.resolve(host, (error, addresses) => found(index, error, addresses))
      }
    },
    close() {},
  }
}

/** Members as pickers know them, `ip:port`: the marks of mesh workloads are for connections alone. */
export function unmarkedMembers(members: Resolver): Resolver {
  let last: { marked: readonly string[]; plain: readonly string[] } | null = null
  const unmark = (marked: readonly string[]): readonly string[] => {
    if (last?.marked === marked) return last.plain
    const plain = marked.map((member) => parseMeshAddress(member).address)
    last = { marked, plain }
    return plain
  }
  return {
    get(host) {
      const known = members.get(host)
      return known === null ? null : unmark(known)
    },
    resolve(host, done) {
      members.resolve(host, (error, found) => (error === null ? done(null, unmark(found)) : done(error, found)))
    },
    close() {},
  }
}

const NONE: readonly string[] = []
