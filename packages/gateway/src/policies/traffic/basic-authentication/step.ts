import { createHash } from 'node:crypto'
import { ConfigFault, makeEach } from '../../../pipeline/compiled/config-fault.ts'
import { credentialReader, SEVERAL } from '../../../pipeline/policy/credential.ts'
import { type CredentialCheck, refuseCredential } from '../../../pipeline/policy/refuse-credential.ts'
import type { Reply } from '../../../pipeline/context/reply.ts'
import type { RequestContext } from '../../../pipeline/context/request-context.ts'
import { implement } from '../../../pipeline/context/step.ts'
import { CheckSlots } from './check-queue.ts'
import type { BasicAuthenticationConfig } from './schema.ts'
import { type Outcome, Users } from './users.ts'

export const basicAuthentication = implement<BasicAuthenticationConfig>((config, env) => {
  const { mode, location = BASIC, realm } = config
  const reader = credentialReader(location)
  const entries = config.users ?? config.secretRef ?? []
  refuseTwins(config)
  const digest = createHash('sha256').update(JSON.stringify(entries)).digest('base64')
  // A shadow policy checks passwords in a queue of its own, so that it never delays a login.
  const prefix = env.isShadow ? 'shadow ' : ''
  const slots = env.kept.shared(`${prefix}checks of passwords`, () => new CheckSlots(env.isShadow ? 1 : undefined))
  const users = env.kept.shared(`${prefix}basic ${digest}`, () => new Users(entries, slots))
  const isProxy = location.header?.name === 'proxy-authorization'
  const challenge = [
    isProxy ? 'proxy-authenticate' : 'www-authenticate',
    `Basic realm="${realm.replaceAll(/["\\]/g, '\\$&')}"`,
  ] as const

  function refuse(rx: RequestContext, check: CredentialCheck, reason: string): Reply {
    rx.note({ code: 'basic_refused', check, reason })
    const message = `basic authentication failure: ${reason}`
    return refuseCredential(rx, { status: isProxy ? 407 : 401, message, reason: 'BasicAuth' }, challenge)
  }

  function conclude(rx: RequestContext, credential: string, username: string, outcome: Outcome): Reply | void {
    if (outcome === 'busy') {
      const message = 'basic authentication failure: too many passwords are being checked'
      rx.note({ code: 'busy' })
      return refuseCredential(rx, { status: 503, message, reason: 'BasicAuth' }, ['retry-after', '1'])
    }
    if (outcome === 'refused') return refuse(rx, 'unknown', 'invalid credentials')
    rx.taken = [...rx.taken, reader.remove(rx)]
    rx.basicAuth = { username }
    rx.clientToken ??= credential
    if (rx.trace !== null) rx.trace.note({ code: 'basic_accepted', username })
  }

  return {
    request(rx) {
      const credential = reader.read(rx)
      if (credential === SEVERAL) return refuse(rx, 'several', 'more than one set of credentials found')
      if (credential === null) {
        if (mode !== 'Optional') return refuse(rx, 'missing', 'no basic authentication credentials found')
        if (rx.trace !== null) rx.trace.skipped('no basic authentication credentials found')
        return
      }
      const pair = decode(credential)
      if (pair === null) return refuse(rx, 'malformed', 'invalid credentials')
      const outcome = users.check(pair.username, pair.password)
      if (outcome instanceof Promise) {
        return outcome.then((known) => conclude(rx, credential, pair.username, known))
      }
      return conclude(rx, credential, pair.username, outcome)
    },
  }
})

/** Rejects a user with two passwords, because neither could be preferred. Files are checked when they are read. */
function refuseTwins(config: BasicAuthenticationConfig): void {
  const seen = new Set<string>()
  makeEach(config.users?.entries() ?? [], ([index, { username }]) => {
    if (seen.has(username)) {
      const found = `found user ${JSON.stringify(username)} a second time`
      throw new ConfigFault(config, ['users', index], { found, expected: 'each user once' })
    }
    seen.add(username)
  })
}

/** Base64 of `username:password` (RFC 7617); control characters are in neither. */
function decode(credential: string): { username: string; password: Buffer } | null {
  if (credential.length > MAX_CREDENTIAL || !BASE64.test(credential)) return null
  const bytes = Buffer.from(credential, 'base64')
  const colon = bytes.indexOf(0x3a)
  if (colon === -1 || bytes.some((byte) => byte < 0x20 || byte === 0x7f)) return null
  return { username: bytes.toString('utf8', 0, colon), password: bytes.subarray(colon + 1) }
}

const BASIC = { header: { name: 'authorization', prefix: 'Basic ' } }
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/
const MAX_CREDENTIAL = 2048
