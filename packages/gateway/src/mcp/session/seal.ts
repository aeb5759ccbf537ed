import { createSeal, MAX_SEALED_LENGTH, type Seal } from '../../state/seal.ts'
import { isObject, type JsonObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { SessionState } from './state.ts'

/** Turns the state of a session into the id that the client gets, and back. Nobody without the key can do either. */
export interface Sealer extends Seal {
  /** Null when the id would be longer than headers may be. */
  seal(state: SessionState): string | null
  /** Null for everything that was not sealed with one of the keys. */
  open(id: string): SessionState | null
}

/** The first key seals; the others still open what they sealed before they were replaced. */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const seal = createSeal(keys)
  return {
    ...seal,
    seal(state) {
      const id = seal.sealAs(SESSION, toJson(state))
      return id.length > MAX_SEALED_LENGTH ? null : id
    },
    open: (id) => fromJson(seal.openAs(SESSION, id)),
  }
}

/** Short names: the id goes with every request. */
function toJson({ key, backend, principal, expiresAt, version, initialize, targets }: SessionState): JsonObject {
  const t = targets.map(({ name, session, version: own }) => ({
    n: name,
    ...(session !== '' && { s: session }),
    ...(own !== version && { v: own }),
  }))
  return { k: key, b: backend, p: principal, e: expiresAt, v: version, i: initialize, t }
}

function fromJson(value: JsonObject | null): SessionState | null {
  if (value === null || !isObject(value.i)) return null
  const key = textAt(value, 'k')
  const backend = textAt(value, 'b')
  const principal = textAt(value, 'p')
  const version = textAt(value, 'v')
  const expiresAt = value.e
  if (key === undefined || backend === undefined || principal === undefined || version === undefined) return null
  if (typeof expiresAt !== 'number') return null
  const targets = objectsAt(value, 't').map((target) => ({
    name: textAt(target, 'n') ?? '',
    session: textAt(target, 's') ?? '',
    version: textAt(target, 'v') ?? version,
  }))
  return { key, backend, principal, expiresAt, version, initialize: objectAt(value, 'i'), targets }
}

/** Ids of sessions were there first: they are sealed without a kind. */
const SESSION = ''
