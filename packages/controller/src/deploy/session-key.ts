import { randomBytes } from 'node:crypto'
import type { Resource } from '@portico/translate'
import { textAt } from '@portico/translate/json'
import { nameOf } from './plan.ts'
import { SESSION_SECRET_KEY } from './pod.ts'

type SessionKey = { ok: true; value: string } | { ok: false; problem: string }

/** Returns the session key of a Gateway, or a new one. During a rotation, the old key may follow the new one. */
export function sessionKeyOf(secret: Resource | undefined): SessionKey {
  if (secret === undefined) return { ok: true, value: randomBytes(32).toString('hex') }
  const value = Buffer.from(textAt(secret.data, SESSION_SECRET_KEY) ?? '', 'base64').toString('utf8')
  const keys = value.split(/[\s,]+/).filter((key) => key !== '')
  if (keys.length >= 1 && keys.length <= 8 && keys.every((key) => /^[0-9a-f]{64}$/i.test(key)))
    return { ok: true, value }
  // The message omits the value, which may be part of a secret.
  return {
    ok: false,
    problem: `${nameOf(secret)}: \`${SESSION_SECRET_KEY}\` is not 1 to 8 keys of 64 hexadecimal digits`,
  }
}
