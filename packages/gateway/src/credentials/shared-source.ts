import { createHash } from 'node:crypto'
import type { CredentialServices } from './services.ts'

/** One source for all who say the same of it, also in the next generation. */
export function sharedSource<T extends object>(
  { kept }: Pick<CredentialServices, 'kept'>,
  identity: readonly unknown[],
  make: () => T,
): T {
  // Secrets are part of what it is made from, and must not stand in a key.
  const digest = createHash('sha256').update(JSON.stringify(identity)).digest('base64')
  return kept.held(`credentials ${digest}`, make)
}
