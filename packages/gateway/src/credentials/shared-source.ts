import { createHash } from 'node:crypto'
import type { CredentialServices } from './services.ts'

/** Returns one source for all callers with the same `identity`, across config generations. */
export function sharedSource<T extends object>(
  { kept }: Pick<CredentialServices, 'kept'>,
  identity: readonly unknown[],
  make: () => T,
): T {
  // The identity contains secrets, which must not appear in a cache key.
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('base64')
  return kept.held(`credentials ${digest}`, make)
}
