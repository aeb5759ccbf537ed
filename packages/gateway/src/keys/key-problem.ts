import type { StoredKey, StoredTeam } from '../stores/key-store.ts'
import { entryVersion } from './entry-version.ts'
import type { KeyRefusal, Patch } from './key-messages.ts'

/** A change or a question that cannot be carried out, for the person who asked. */
export class KeyProblem extends Error {
  readonly status: KeyRefusal['status']

  constructor(status: KeyRefusal['status'], message: string) {
    super(message)
    this.status = status
  }
}

/** Throws when the entry is not the one that an edit began with. */
export function demandVersion(entry: StoredKey | StoredTeam, basedOn: string | null): void {
  if (basedOn === null || basedOn === entryVersion(entry)) return
  throw new KeyProblem(409, `${entry.name} has been changed meanwhile: read it again, and repeat your change`)
}

/** The fields after a patch. */
export function patched<Fields extends object>(fields: Fields, patch: Patch<Fields>): Fields {
  const next = Object.entries({ ...fields, ...patch }).filter(([, value]) => value !== null)
  return Object.fromEntries(next) as Fields
}
