import { hash } from 'node:crypto'
import type { Environment, EnvironmentOptions } from './declarations.ts'
import { createEnvironment as create } from './environment.ts'

/** What expressions may read and call. The door for browsers has one without hashes. */
export function createEnvironment(options: EnvironmentOptions = {}): Environment {
  return create(options, (name, bytes) => hash(name, bytes, 'hex'))
}
