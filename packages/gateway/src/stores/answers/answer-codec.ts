import { isUtf8 } from 'node:buffer'
import { createCipheriv, createDecipheriv, hash, hkdfSync, randomBytes } from 'node:crypto'
import { isObject, type Json, parseJsonObject } from '@portico/http/json'
import type { StorableAnswer } from './answer-store.ts'

/** Encodes answers as text, and decodes texts that anybody may have written. */
export interface AnswerCodec {
  encode(key: string, answer: StorableAnswer): string
  /** Null for everything but an answer that was encoded for this key, in this form, and arrived whole. */
  decode(key: string, text: string): StorableAnswer | null
}

/**
 * The form without encryption: a version, a digest over the key and all that follows, a line of JSON, and the body as
 * text if it is UTF-8 and as base64 otherwise. The digest finds damage and answers to other requests; it does not find
 * an answer that somebody with access to the store has forged.
 */
export const plainCodec: AnswerCodec = {
  encode(key, { headers, body }) {
    const isText = isUtf8(body)
    const rest = `${JSON.stringify({ headers, isText })}\n${body.toString(isText ? 'utf8' : 'base64')}`
    return `${PLAIN} ${digestOf(key, rest)}\n${rest}`
  },
  decode(key, text) {
    const headEnd = text.indexOf('\n')
    const metaEnd = text.indexOf('\n', headEnd + 1)
    if (headEnd === -1 || metaEnd === -1) return null
    if (text.slice(0, headEnd) !== `${PLAIN} ${digestOf(key, text.slice(headEnd + 1))}`) return null
    const meta = parseJsonObject(text.slice(headEnd + 1, metaEnd))
    if (meta === null || typeof meta.isText !== 'boolean') return null
    return answerOf(meta.headers, Buffer.from(text.slice(metaEnd + 1), meta.isText ? 'utf8' : 'base64'))
  },
}

/** The encrypted form. The first session key encrypts, all of them decrypt; the key of the answer is authenticated. */
export function sealedCodec(sessionKeys: readonly string[]): AnswerCodec {
  const secrets = sessionKeys.map((key) => {
    return Buffer.from(hkdfSync('sha256', Buffer.from(key, 'hex'), '', 'portico response cache', 32))
  })
  const [first] = secrets
  if (first === undefined) throw new Error('there is no session key to encrypt answers with')
  return {
    encode(key, { headers, body }) {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, first, nonce).setAAD(associatedData(key))
      const meta = Buffer.from(`${JSON.stringify({ headers })}\n`)
      const sealed = [nonce, cipher.update(meta), cipher.update(body), cipher.final(), cipher.getAuthTag()]
      return `${SEALED} ${Buffer.concat(sealed).toString('base64')}`
    },
    decode(key, text) {
      if (!text.startsWith(`${SEALED} `)) return null
      const bytes = Buffer.from(text.slice(SEALED.length + 1), 'base64')
      if (bytes.length <= NONCE_BYTES + TAG_BYTES) return null
      for (const secret of secrets) {
        const opened = open(secret, bytes, key)
        if (opened !== null) return parseOpened(opened)
      }
      return null
    },
  }
}

function open(secret: Buffer, bytes: Buffer, key: string): Buffer | null {
  try {
    const decipher = createDecipheriv(ALGORITHM, secret, bytes.subarray(0, NONCE_BYTES)).setAAD(associatedData(key))
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()])
  } catch {
    return null
  }
}

function parseOpened(opened: Buffer): StorableAnswer | null {
  const metaEnd = opened.indexOf(NEWLINE)
  const meta = metaEnd === -1 ? null : parseJsonObject(opened.toString('utf8', 0, metaEnd))
  return meta === null ? null : answerOf(meta.headers, Buffer.from(opened.subarray(metaEnd + 1)))
}

function answerOf(headers: Json | undefined, body: Buffer): StorableAnswer | null {
  if (!Array.isArray(headers) || headers.length > MOST_HEADERS) return null
  const read: [string, string][] = []
  for (const header of headers) {
    if (!Array.isArray(header) || header.length !== 2 || isObject(header)) return null
    const [name, value] = header
    if (typeof name !== 'string' || !/^[a-z0-9-]{1,64}$/.test(name)) return null
    if (typeof value !== 'string' || !/^[\t\x20-\x7e]{0,1024}$/.test(value)) return null
    read.push([name, value])
  }
  return { headers: read, body }
}

function digestOf(key: string, rest: string): string {
  return hash('sha256', `${key.length}:${key}${rest}`, 'base64url')
}

function associatedData(key: string): Buffer {
  return Buffer.from(`${SEALED} ${key}`)
}

const PLAIN = 'portico-answer-1'
const SEALED = 'portico-sealed-answer-1'
const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const NEWLINE = 0x0a
const MOST_HEADERS = 32
