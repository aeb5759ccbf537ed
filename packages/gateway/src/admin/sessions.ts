import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { systemRandom } from '../state/system-random.ts'
import type { AdminCredential, AdminCredentials } from './credentials.ts'

const SESSION_COOKIE = 'portico_session'
/** Browsers send cookies to every port of a host: this, which pages alone keep, makes one that leaked useless. */
export const PROOF_HEADER = 'x-portico-session'

export interface OpenedSession {
  /** For `set-cookie`. */
  cookie: string
  /** Pages send it with every call. */
  proof: string
  endsAt: number
}

/**
 * Browsers that have shown a token. A cookie says until when and which token, sealed with a key that dies with the process.
 * A session ends with its token.
 */
export class Sessions {
  readonly #key = systemRandom(32)
  readonly #credentials: AdminCredentials
  readonly #now: () => number
  /** Logged out before their end, with that end. */
  readonly #ended = new Map<string, number>()

  constructor(credentials: AdminCredentials, now: () => number = Date.now) {
    this.#credentials = credentials
    this.#now = now
  }

  open(credential: AdminCredential): OpenedSession {
    const endsAt = this.#now() + LIFE_MS
    const content = `${endsAt}.${randomBytes(16).toString('base64url')}.${this.#nameOf(credential)}`
    const value = `${content}.${this.#seal('cookie', content)}`
    return { cookie: setCookie(value, LIFE_MS / 1000), proof: this.#seal('proof', content), endsAt }
  }

  /** The credential of an open session; a page may be shown to its browser, because a page holds nothing but itself. */
  openedBy(cookies: string | undefined): AdminCredential | null {
    return this.#credentialOf(this.#contentOf(cookies))
  }

  /** The credential of the session that a call comes from; null when the call is not from a page of that session. */
  provenBy(cookies: string | undefined, proof: string | string[] | undefined): AdminCredential | null {
    const content = this.#contentOf(cookies)
    if (content === null || typeof proof !== 'string' || !isSame(proof, this.#seal('proof', content))) return null
    return this.#credentialOf(content)
  }

  /** The cookie that takes the session back. */
  end(cookies: string | undefined): string {
    const content = this.#contentOf(cookies)
    const now = this.#now()
    for (const [ended, at] of this.#ended) if (at <= now) this.#ended.delete(ended)
    if (content !== null) this.#ended.set(content, endOf(content))
    return setCookie('', 0)
  }

  /** The content of a valid cookie. Two cookies of that name count as none, because another site may have set one. */
  #contentOf(cookies: string | undefined): string | null {
    const [value, ...others] = (cookies ?? '')
      .split(';')
      .map((pair) => pair.trim())
      .filter((pair) => pair.startsWith(`${SESSION_COOKIE}=`))
    if (value === undefined || others.length > 0) return null
    const [, content = '', seal = ''] = SEALED.exec(value.slice(SESSION_COOKIE.length + 1)) ?? []
    if (content === '' || !isSame(seal, this.#seal('cookie', content))) return null
    return endOf(content) > this.#now() && !this.#ended.has(content) ? content : null
  }

  #credentialOf(content: string | null): AdminCredential | null {
    const name = content?.split('.')[2] ?? ''
    return this.#credentials.all.find((credential) => isSame(name, this.#nameOf(credential))) ?? null
  }

  /** The credential as cookies name it. It changes with the token and its scope. */
  #nameOf({ name, scope, digest }: AdminCredential): string {
    return this.#seal('credential', `${name} ${scope} ${digest.toString('hex')}`).slice(0, 22)
  }

  #seal(use: 'cookie' | 'proof' | 'credential', content: string): string {
    return createHmac('sha256', this.#key).update(`${use} ${content}`).digest('base64url')
  }
}

const LIFE_MS = 8 * 60 * 60 * 1000
const SEALED = /^(\d{1,16}\.[\w-]{22}\.[\w-]{22})\.([\w-]{43})$/

function endOf(content: string): number {
  return Number(content.slice(0, content.indexOf('.')))
}

function isSame(given: string, expected: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

function setCookie(value: string, seconds: number): string {
  return `${SESSION_COOKIE}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict`
}
