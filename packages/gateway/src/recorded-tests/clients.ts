import type { JsonObject } from '../schema/kit.ts'
import type { Ir } from '../ir/resources.ts'
import { REDACTED } from '../redaction/secret-names.ts'
import type { RequestRecord } from '../telemetry/recorder/record.ts'
import { policiesOf } from '../config-tests/credential-policies.ts'
import { STAND_IN } from './sent-request.ts'

/** A client that may have sent a recorded request, with stand-ins for the credentials that the record does not hold. */
interface PossibleClient {
  readonly given: JsonObject
  readonly headers: Readonly<Record<string, string>>
  readonly replaced: readonly string[]
}

/**
 * Returns the clients to try for a record, the most probable first. The test uses the first client for which the
 * gateway decides as recorded.
 */
export function possibleClients(record: RequestRecord, redacted: readonly string[], ir: Ir): PossibleClient[] {
  const address = addressOf(record.source)
  const known = credentialOf(record, ir)
  const carrierNames = carriersOf(ir)
  const isCarrier = (name: string): boolean => carrierNames.has(name)
  const others = redacted.filter((name) => known === null || !isCarrier(name))
  const standIns = Object.fromEntries(others.map((name) => [name, valueFor(name)]))
  const replaced = others.map((name) => `the header ${name}`)
  const client = (
    given: JsonObject,
    headers: Record<string, string>,
    more: readonly string[] = [],
  ): PossibleClient => ({
    given: { ...given, ...address },
    headers,
    replaced: [...more, ...replaced],
  })
  if (known !== null) return [client(known.given, standIns, known.replaced)]
  const carriers = others.filter(isCarrier)
  if (carriers.length === 0) return [client({}, standIns)]
  const withoutCarriers = Object.fromEntries(Object.entries(standIns).filter(([name]) => !isCarrier(name)))
  return [
    client({}, standIns),
    client({}, { ...standIns, authorization: `Basic ${Buffer.from(`${STAND_IN}:${STAND_IN}`).toString('base64')}` }),
    ...TOKENS.map((jwt) => client({ jwt }, withoutCarriers)),
    ...Object.keys(Object.fromEntries(policiesOf(ir).apiKeys.flatMap(({ entries }) => entries)))
      .slice(0, MOST_KEYS)
      .map((apiKey) => client({ apiKey }, withoutCarriers)),
    client({}, withoutCarriers),
  ]
}

/** The claims of tokens that a policy refuses for different reasons, and of a token that it accepts. */
const TOKENS: readonly JsonObject[] = [
  { sub: STAND_IN, exp: 1 },
  { sub: STAND_IN, nbf: 32_503_680_000 },
  { sub: STAND_IN, aud: STAND_IN },
  { sub: STAND_IN, iss: STAND_IN },
  { sub: STAND_IN },
]
const MOST_KEYS = 8

interface KnownCredentials {
  readonly given: JsonObject
  readonly replaced: readonly string[]
}

/** Returns stand-ins for the credentials that the gateway accepted; null when it accepted none that the config knows. */
function credentialOf({ variables, key }: RequestRecord, ir: Ir): KnownCredentials | null {
  const { apiKeys, basic } = policiesOf(ir)
  const isKey = (name: unknown): boolean => apiKeys.some(({ entries }) => entries.some(([each]) => each === name))
  const isUser = (name: unknown): boolean => basic.some(({ users }) => users.some(({ username }) => username === name))
  const claims = variables?.['jwt']
  const keyName = memberOf(variables?.['apiKey'], 'name') ?? key
  const username = memberOf(variables?.['basicAuth'], 'username') ?? key
  const given: Record<string, JsonObject | string> = {}
  const replaced: string[] = []
  if (typeof claims === 'object' && claims !== null) {
    const { unkept: _unkept, ...kept } = claims as Record<string, unknown>
    given['jwt'] = JSON.parse(JSON.stringify(kept).replaceAll(REDACTED, STAND_IN)) as JsonObject
    replaced.push('the token, by one with the same claims')
  }
  if (keyName !== null && isKey(keyName)) {
    given['apiKey'] = keyName
    replaced.push('the API key')
  }
  if (username !== null && isUser(username)) {
    given['basic'] = { username }
    replaced.push('the password')
  }
  return replaced.length === 0 ? null : { given, replaced }
}

function memberOf(value: unknown, name: string): string | null {
  const member = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null
  return typeof member === 'string' ? member : null
}

/** Returns the headers in which the config's policies expect credentials. */
function carriersOf(ir: Ir): ReadonlySet<string> {
  const { tokens, apiKeys, basic } = policiesOf(ir)
  const names = [...tokens, ...apiKeys, ...basic].map(({ location }) =>
    location?.cookie !== undefined ? 'cookie' : (location?.header?.name.toLowerCase() ?? 'authorization'),
  )
  return new Set([...names, 'authorization'])
}

function addressOf(source: string | null): JsonObject {
  const [, bracketed, plain] = /^(?:\[(.*)\]|([^:]*)):\d+$/.exec(source ?? '') ?? []
  const address = bracketed ?? plain
  return address === undefined || address === '' || address === '127.0.0.1' ? {} : { address }
}

function valueFor(name: string): string {
  if (name === 'authorization' || name === 'proxy-authorization') return `Bearer ${STAND_IN}`
  return name === 'cookie' ? `${STAND_IN}=${STAND_IN}` : STAND_IN
}
