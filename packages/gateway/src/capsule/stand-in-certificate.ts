import { createStandInPair } from '../config-tests/stand-in-pair.ts'

/** The text that replaces a certificate in a capsule. A replay puts a generated certificate in its place. */
export const STAND_IN_CERTIFICATE = 'stand-in-certificate'
export const STAND_IN_KEY = 'stand-in-private-key'

/** Returns a value in which a generated certificate and its private key replace their stand-in texts. */
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
