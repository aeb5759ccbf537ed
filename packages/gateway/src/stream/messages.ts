import type { IrChange } from '../ir/change.ts'
import type { EndpointsChange } from '@portico/http/client'
import type { QuarantinedResource } from '../ir/quarantine.ts'
import type { Generation, HashedIr } from './hashes.ts'

/**
 * The protocol between a data plane and its controller: JSON lines on one HTTP/2 `POST /v1/stream` over TLS, with the
 * data plane's token as bearer token.
 */
export const STREAM_PATH = '/v1/stream'

/**
 * Interval of the controller's pings. A side that receives nothing for three intervals considers the other side dead.
 */
export const PING_EVERY_MS = 10_000
export const SILENCE_LIMIT_MS = 3 * PING_EVERY_MS

/** Bytes of a line from a data plane; the `hello` line grows with its config. */
export const DATA_PLANE_LINE_LIMIT = 32 * 1024 * 1024
/** Bytes of a line from a controller; one line may contain a whole config. */
export const CONTROLLER_LINE_LIMIT = 256 * 1024 * 1024

export type DataPlaneMessage = Hello | Ack | Nack | Health | { type: 'pong' } | UnknownMessage

/** A message of a type that only newer data planes send. */
interface UnknownMessage {
  type: 'unknown'
}

/** The first line of each stream. */
export interface Hello {
  type: 'hello'
  /** `namespace/name` */
  gateway: string
  instance: string
  version: string
  /** The config that the data plane runs for this Gateway; null when it runs none. */
  have: Have | null
  /** Hashes of the data plane's addresses (`endpointHashesOf`); null when the data plane does not send them. */
  endpoints: readonly string[] | null
}

export interface Have {
  generation: Generation
  hashes: HashedIr
}

/** This config is live. A config that a newer config overtook is neither acknowledged nor rejected. */
export interface Ack {
  type: 'ack'
  generation: Generation
  /** Resources that are quarantined because this data plane cannot compile them; left out when there are none. */
  quarantined?: readonly QuarantinedResource[]
}

/** This config is rejected as a whole, and the previous config stays live. */
export interface Nack {
  type: 'nack'
  generation: Generation
  problems: string[]
}

/**
 * Whether a worker of the data plane listens. A data plane counts as serving until it reports otherwise on its stream.
 */
export interface Health {
  type: 'health'
  serving: boolean
}

export type ControllerMessage = ConfigMessage | EndpointsMessage | { type: 'ping' } | Goodbye

export interface ConfigMessage {
  type: 'config'
  generation: Generation
  /**
   * The config that the change is relative to: the config sent before on this stream, whether or not it went live. For
   * the first change it is the config in `hello`, or null for an empty config. The first change is sent even when
   * nothing differs, so that it is acknowledged.
   */
  base: Generation | null
  change: IrChange
}

/** Addresses of Services, by the key of their backend. Addresses that a config needs are sent before the config. */
export interface EndpointsMessage extends EndpointsChange {
  type: 'endpoints'
  /**
   * Whether the message contains all addresses. This is so in the first message after `hello`, which may precede any
   * config.
   */
  whole: boolean
  /**
   * The parts (`endpointPart`) that `whole` applies to, when not to all parts: the receiver keeps its addresses of
   * other parts.
   */
  parts?: readonly number[]
}

/** The controller ends the stream; the data plane reconnects later, perhaps to another controller. */
export interface Goodbye {
  type: 'goodbye'
  reason: string
}

export function lineOf(message: DataPlaneMessage | ControllerMessage): string {
  return JSON.stringify(message) + '\n'
}
