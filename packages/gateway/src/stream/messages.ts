import type { IrChange } from '../ir/change.ts'
import type { EndpointsChange } from '../upstream/service-addresses.ts'
import type { Quarantined } from '../ir/quarantine.ts'
import type { Generation, HashedIr } from './hashes.ts'

/**
 * What a data plane and its controller say to each other: JSON lines on one HTTP/2 `POST /v1/stream` over TLS, with the
 * token of the data plane as its bearer.
 */
export const STREAM_PATH = '/v1/stream'

/** A controller pings this often; who hears nothing for three times as long takes the other end for dead. */
export const PING_EVERY_MS = 10_000
export const SILENCE_LIMIT_MS = 3 * PING_EVERY_MS

/** Bytes of a line from a data plane: that of `hello` grows with its config. */
export const DATA_PLANE_LINE_LIMIT = 32 * 1024 * 1024
/** Bytes of a line from a controller: a whole config may be in one. */
export const CONTROLLER_LINE_LIMIT = 256 * 1024 * 1024

export type DataPlaneMessage = Hello | Ack | Nack | Health | { type: 'pong' } | Unknown

/** Of a kind that only a newer data plane has. */
export interface Unknown {
  type: 'unknown'
}

/** The first line of each stream. */
export interface Hello {
  type: 'hello'
  /** `namespace/name` */
  gateway: string
  instance: string
  version: string
  /** What it runs of this Gateway; null when nothing. */
  have: Have | null
  /** Hashes of the addresses that it has (`endpointHashesOf`); null where it does not say. */
  endpoints: readonly string[] | null
}

export interface Have {
  generation: Generation
  hashes: HashedIr
}

/** This config is live. One that a newer one overtook is neither acknowledged nor refused. */
export interface Ack {
  type: 'ack'
  generation: Generation
  /** Resources that are closed because this data plane cannot compile them; left out where there are none. */
  quarantined?: readonly Quarantined[]
}

/** This config is refused as a whole, and the one before stays. */
export interface Nack {
  type: 'nack'
  generation: Generation
  problems: string[]
}

/** Whether a worker of the data plane listens. A data plane that has not said so on its stream counts as serving. */
export interface Health {
  type: 'health'
  serving: boolean
}

export type ControllerMessage = ConfigMessage | EndpointsMessage | { type: 'ping' } | Goodbye

export interface ConfigMessage {
  type: 'config'
  generation: Generation
  /**
   * What the change is made to: the config sent before on this stream, whatever became of it; in the first one what `hello`
   * has, or null for nothing at all. The first one comes even when nothing differs, so that it is acknowledged.
   */
  base: Generation | null
  change: IrChange
}

/** Addresses of Services by key of their backend. What a config needs is sent before it. */
export interface EndpointsMessage extends EndpointsChange {
  type: 'endpoints'
  /** These are all there are; the first after `hello` is so, and may come before any config. */
  whole: boolean
  /** Where `whole` is about some parts alone (`endpointPart`): of all others the receiver has what is meant. */
  parts?: readonly number[]
}

/** The controller ends the stream; the data plane comes back later, perhaps to another one. */
export interface Goodbye {
  type: 'goodbye'
  reason: string
}

export function lineOf(message: DataPlaneMessage | ControllerMessage): string {
  return JSON.stringify(message) + '\n'
}
