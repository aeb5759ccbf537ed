import type { KeyRefusal, Patch } from './key-messages.ts'

/** A change or a question that cannot be carried out, for the person who asked. */
export class KeyProblem extends Error {
  readonly status: KeyRefusal['status']

  constructor(status: KeyRefusal['status'], message: string) {
    super(message)
    this.status = status
  }
}

/** The fields after a patch. */
export function patched<Fields extends object>(fields: Fields, patch: Patch<Fields>): Fields {
  const next = Object.entries({ ...fields, ...patch }).filter(([, value]) => value !== null)
  return Object.fromEntries(next) as Fields
}
