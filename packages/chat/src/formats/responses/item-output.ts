import type { JsonObject } from '../../middle.ts'

/** Receives the events of a streamed response. A buffered response has a sink that discards them. */
export interface EventSink {
  say(type: string, members: JsonObject): void
  /** Sends a delta; `head` is built once per part, because a part has many deltas. */
  delta(head: DeltaHead, text: string): void
}

export interface DeltaHead {
  type: string
  /** The JSON of the event up to its text. */
  json: string
}

export function deltaHead(type: string, place: JsonObject): DeltaHead {
  return { type, json: `${JSON.stringify({ type, ...place }).slice(0, -1)},"delta":` }
}

/** An output item while it is written. */
export interface ItemOutput {
  readonly id: string
  /** The index in the list of output items. */
  readonly at: number
  readonly sink: EventSink
  /** Completes the item. */
  done(item: JsonObject): void
}

/** Writes one part of a response. */
export interface PartWriter {
  add(text: string): void
  end(): void
}
