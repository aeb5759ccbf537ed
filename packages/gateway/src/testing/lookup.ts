import type { ResolverOptions } from '@portico/http/client'

/** Name resolution for tests: the listed names have these addresses, every other one fails. */
export function lookupIn(addressesByName: Record<string, string[]>): NonNullable<ResolverOptions['lookup']> {
  return (name, _family, done) => {
    const addresses = addressesByName[name]
    if (addresses === undefined) return done(new Error('ENOTFOUND'), [])
    done(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}
