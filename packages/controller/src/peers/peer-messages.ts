import type { QuarantinedResource } from '@portico/gateway/checks'
import { type Generation, StreamFault } from '@portico/gateway/stream'

/**
 * Messages from controllers to the leader: JSON lines in the response to one HTTP/2 `GET /v1/peers` over TLS, authenticated
 * by a certificate of the authority that all controllers share.
 */
export const PEERS_PATH = '/v1/peers'

/** The longest line in bytes; one line may contain all Gateways. */
export const PEER_LINE_LIMIT = 64 * 1024 * 1024

/** The state of a Gateway's data planes at one controller. */
export interface PeerState {
  connected: number
  /** Connected data planes without a listening worker; omitted when there are none. */
  notServing?: number
  /** Generations of the configs that serving data planes run. */
  acknowledged: readonly Generation[]
  /** Problems of the newest rejection. */
  problems: readonly string[]
  /** Omitted when nothing is quarantined. */
  quarantined?: readonly QuarantinedResource[]
}

export type PeerMessage = StatesMessage | { type: 'ping' }

interface StatesMessage {
  type: 'states'
  /** Whether the message is the complete state; the first message is. */
  whole: boolean
  put: readonly (readonly [gateway: string, state: PeerState])[]
  drop: readonly string[]
}

export function peerLineOf(message: PeerMessage): Buffer {
  return Buffer.from(`${JSON.stringify(message)}\n`)
}

/** Parses a line; throws a `StreamFault` when it is malformed. Unknown fields of newer controllers are ignored. */
export function readPeerLine(line: string): PeerMessage {
  const message = parse(line) as Partial<StatesMessage> | null
  const type: unknown = message?.type
  if (type === 'ping') return { type: 'ping' }
  if (type !== 'states' || !Array.isArray(message?.put) || !isTexts(message.drop)) return fault()
  return { type, whole: message.whole === true, put: message.put.map(readEntry), drop: message.drop }
}

function readEntry(entry: unknown): [string, PeerState] {
  const [gateway, state] = (Array.isArray(entry) ? entry : []) as [unknown, Partial<PeerState> | null | undefined]
  const { connected, notServing, acknowledged, problems, quarantined } = state ?? {}
  if (typeof gateway !== 'string' || !Number.isSafeInteger(connected)) return fault()
  if (!isTexts(acknowledged) || !isTexts(problems)) return fault()
  if (quarantined !== undefined && !isQuarantined(quarantined)) return fault()
  if (notServing !== undefined && !Number.isSafeInteger(notServing)) return fault()
  const more = { ...(notServing !== undefined && { notServing }), ...(quarantined !== undefined && { quarantined }) }
  return [gateway, { connected: connected ?? 0, acknowledged, problems, ...more }]
}

function isQuarantined(value: unknown): value is QuarantinedResource[] {
  const isOne = (one: Partial<QuarantinedResource> | null): boolean =>
    typeof one?.object === 'string' && typeof one.problem === 'string' && isTexts(one.units)
  return Array.isArray(value) && value.every(isOne)
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return fault()
  }
}

function fault(): never {
  throw new StreamFault('malformed line')
}
