import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** `Read` may see everything that the admin API shows; `Write` may also change something. */
export type AdminScope = 'Read' | 'Write'

/** A token of `config.admin.tokens`. */
interface AdminToken {
  readonly name: string
  readonly scope: AdminScope
  readonly secretRef?: string | undefined
  /** `sha256:` and the digest of the token in hexadecimal digits. */
  readonly hash?: string | undefined
}

/** A token that the admin server accepts. */
export interface AdminCredential {
  readonly name: string
  readonly scope: AdminScope
  /** The SHA-256 digest of the token. */
  readonly digest: Buffer
}

/** The client of an admin request that the guard let in. */
export interface AdminCaller {
  /** The name of the token; null when the admin server needs none. */
  readonly token: string | null
  readonly scope: AdminScope
  /** `session` is one of the web UI, which a token opened. */
  readonly via: 'token' | 'session' | 'none'
}

/** The tokens of the admin server: `ADMIN_TOKEN`, and those of the active config. */
export class AdminCredentials {
  readonly #variable: readonly AdminCredential[]
  #configured: readonly AdminCredential[] = []

  /** An empty variable is no secret. */
  constructor(variable: string | null, tokens: readonly AdminToken[] = []) {
    this.#variable = variable ? [{ name: 'ADMIN_TOKEN', scope: 'Write', digest: digest(variable) }] : []
    this.use(tokens)
  }

  /** Replaces the tokens of the config. */
  use(tokens: readonly AdminToken[]): void {
    this.#configured = tokens.map(({ name, scope, secretRef, hash }) => ({
      ...{ name, scope },
      digest: secretRef === undefined ? Buffer.from(hash?.slice('sha256:'.length) ?? '', 'hex') : digest(secretRef),
    }))
  }

  get all(): readonly AdminCredential[] {
    return [...this.#variable, ...this.#configured]
  }

  /** Returns the credential of the token that the request presents, or null. The time tells nothing about any token. */
  presentedBy({ headers }: IncomingMessage): AdminCredential | null {
    const [, given] = BEARER.exec(headers.authorization ?? '') ?? []
    if (given === undefined) return null
    const found = digest(given)
    const matches = this.all.filter((credential) => timingSafeEqual(found, credential.digest))
    // A token that the config lists twice has the narrower scope.
    return matches.find(({ scope }) => scope === 'Read') ?? matches[0] ?? null
  }
}

/** Whether the request presents this token. */
export function showsToken({ headers }: IncomingMessage, token: string): boolean {
  const [, given = ''] = BEARER.exec(headers.authorization ?? '') ?? []
  // Digests have one length, so the comparison tells nothing of the length of the token either.
  return timingSafeEqual(digest(given), digest(token))
}

const BEARER = /^Bearer +(\S+) *$/i

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
