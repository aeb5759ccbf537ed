import { hash } from 'node:crypto'
import type { Environment, EnvironmentOptions } from './declarations.ts'
import { createEnvironment as create } from './environment.ts'

/** Declares the variables and functions of expressions. The entry point for browsers has a variant without hashes. */
export function createEnvironment(options: EnvironmentOptions = {}): Environment {
  return create(options, (name, bytes) => hash(name, bytes, 'hex'))
}
