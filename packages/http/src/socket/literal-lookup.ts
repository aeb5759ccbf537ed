import { isIPv6 } from 'node:net'

/** A lookup for sockets whose addresses are IP addresses already: it never waits, and never asks a name server. */
export function literalLookup(
  address: string,
  _options: unknown,
  done: (error: Error | null, address: string, family: number) => void,
): void {
  done(null, address, isIPv6(address) ? 6 : 4)
}
