import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { type JsonObject, parseJsonObject } from '@portico/http/json'

/** Encrypts values that clients store and send back. Nobody without a key can read or forge them. */
export interface Seal {
  /** Encrypts a value. A text of one kind cannot be opened as another kind. */
  sealAs(kind: string, value: JsonObject): string
  /** Returns null for every text that was not encrypted with one of the keys. */
  openAs(kind: string, text: string): JsonObject | null
}

/** The first key encrypts, all keys decrypt: a replaced key still opens older texts. */
export function createSeal(keys: readonly Buffer[]): Seal {
  const byName = new Map(keys.map((key) => [nameOf(key), key]))
  const [first] = keys
  if (first === undefined) throw new Error('there is no key to encrypt with')
  return {
    sealAs: (kind, value) => sealWith(first, kind, value),
    openAs(kind, text) {
      if (text.length > MAX_SEALED_LENGTH || !/^[\w-]+$/.test(text)) return null
      const bytes = Buffer.from(text, 'base64url')
      if (bytes.length <= NAME_BYTES + NONCE_BYTES + TAG_BYTES) return null
      const key = byName.get(bytes.toString('hex', 0, NAME_BYTES))
      if (key === undefined) return null
      try {
        return unseal(kind, bytes, key)
      } catch {
        return null
      }
    },
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

/** Identifies a key without revealing it. */
function nameOf(key: Buffer): string {
  return createHash('sha256')
    .update('portico session key\0')
    .update(key)
    .digest('hex')
    .slice(0, 2 * NAME_BYTES)
}

const ALGORITHM = 'aes-256-gcm'
const NAME_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const MAX_STATE_BYTES = 256 * 1024
/** Many servers and proxies limit all headers together to 8 KiB. */
export const MAX_SEALED_LENGTH = 6 * 1024
