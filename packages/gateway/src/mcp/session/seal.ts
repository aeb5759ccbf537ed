import { createSeal, MAX_SEALED_LENGTH, type Seal } from '../../state/seal.ts'
import { isObject, type JsonObject, objectAt, objectsAt, textAt } from '@portico/http/json'
import type { SessionState } from './state.ts'

/** Encrypts the state of a session into its session id, and decrypts it. */
export interface Sealer extends Seal {
  /** Returns the session id; null when it would be longer than a header may be. */
  seal(state: SessionState): string | null
  /** Returns the state in an id; null when the id was not made with one of the keys. */
  open(id: string): SessionState | null
}

/** Creates a sealer. The first key encrypts, all of them decrypt. */
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

/** Member names are short, because the id is sent with every request. */
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

/** Session ids are older than other sealed texts, and have no kind. */
const SESSION = ''
