import type { Environment, EnvironmentOptions } from './environment.ts'
import { createEnvironment as create } from './environment.ts'
import { nodeHash } from './library/node-hash.ts'

/** What expressions may read and call. The door for browsers has one without hashes. */
export function createEnvironment(options: EnvironmentOptions = {}): Environment {
  return create(options, nodeHash)
}
