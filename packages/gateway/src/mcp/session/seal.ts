import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { isObject, objectAt, objectsAt, parseJsonObject, textAt, type JsonObject } from '../../wire/json.ts'
import type { SessionState } from './state.ts'

/** Turns the state of a session into the id that the client gets, and back. Nobody without the key can do either. */
export interface Sealer {
  /** Null when the id would be longer than headers may be. */
  seal(state: SessionState): string | null
  /** Null for everything that was not sealed with one of the keys. */
  open(id: string): SessionState | null
  /** The same for other things that clients show again: what is sealed as one kind does not open as another. */
  sealAs(kind: string, value: JsonObject): string
  openAs(kind: string, text: string): JsonObject | null
}

/** The first key seals; the others still open what they sealed before they were replaced. */
export function createSealer(keys: readonly Buffer[]): Sealer {
  const byName = new Map(keys.map((key) => [nameOf(key), key]))
  const first = keys[0]!
  const openAs = (kind: string, text: string): JsonObject | null => {
    if (text.length > MAX_ID_LENGTH || !/^[\w-]+$/.test(text)) return null
    const bytes = Buffer.from(text, 'base64url')
    if (bytes.length <= NAME_BYTES + NONCE_BYTES + TAG_BYTES) return null
    const key = byName.get(bytes.toString('hex', 0, NAME_BYTES))
    if (key === undefined) return null
    try {
      return unseal(kind, bytes, key)
    } catch {
      return null
    }
  }
  return {
    seal(state) {
      const id = sealWith(first, SESSION, toJson(state))
      return id.length > MAX_ID_LENGTH ? null : id
    },
    open: (id) => fromJson(openAs(SESSION, id)),
    sealAs: (kind, value) => sealWith(first, kind, value),
    openAs,
  }
}

function sealWith(key: Buffer, kind: string, value: JsonObject): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(ALGORITHM, key, nonce).setAAD(Buffer.from(kind))
  const text = deflateRawSync(JSON.stringify(value))
  const sealed = [Buffer.from(nameOf(key), 'hex'), nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]
  return Buffer.concat(sealed).toString('base64url')
}

function unseal(kind: string, bytes: Buffer, key: Buffer): JsonObject | null {
  const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(NAME_BYTES, NAME_BYTES + NONCE_BYTES))
  decipher.setAAD(Buffer.from(kind))
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  const body = bytes.subarray(NAME_BYTES + NONCE_BYTES, -TAG_BYTES)
  const text = Buffer.concat([decipher.update(body), decipher.final()])
  return parseJsonObject(inflateRawSync(text, { maxOutputLength: MAX_STATE_BYTES }).toString('utf8'))
}

/** Tells keys apart without telling what they are. */
function nameOf(key: Buffer): string {
  return createHash('sha256')
    .update('portico session key\0')
    .update(key)
    .digest('hex')
    .slice(0, 2 * NAME_BYTES)
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

const ALGORITHM = 'aes-256-gcm'
/** Ids of sessions were there first: they are sealed without a kind. */
const SESSION = ''
const NAME_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const MAX_STATE_BYTES = 256 * 1024
/** Many servers and proxies take 8 KiB for all headers together. */
const MAX_ID_LENGTH = 6 * 1024
