import { createStandInPair } from '../config-tests/stand-in-pair.ts'

/** The texts in a capsule for a certificate and its private key; a replay creates a pair. */
export const STAND_IN_CERTIFICATE = 'stand-in-certificate'
export const STAND_IN_KEY = 'stand-in-private-key'

/** Returns a value with certificates and private keys where a capsule has the texts for them. */
export function withCertificates(value: unknown): unknown {
  let made: ReturnType<typeof createStandInPair> | null = null
  const replace = (each: unknown): unknown => {
    if (each === STAND_IN_CERTIFICATE) return (made ??= createStandInPair()).certificate
    if (each === STAND_IN_KEY) return (made ??= createStandInPair()).key
    if (Array.isArray(each)) return each.map(replace)
    if (typeof each !== 'object' || each === null) return each
    return Object.fromEntries(Object.entries(each).map(([name, child]) => [name, replace(child)]))
  }
  return replace(value)
}
