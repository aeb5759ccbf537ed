import type { JsonObject } from '../../middle.ts'

/** Who gets the events of a response; for a buffered one, nobody. */
export interface EventSink {
  say(type: string, members: JsonObject): void
  /** A delta; `head` is made once for each part, because there are many. */
  delta(head: DeltaHead, text: string): void
}

export interface DeltaHead {
  type: string
  /** The event as JSON, up to where its text begins. */
  json: string
}

export function deltaHead(type: string, place: JsonObject): DeltaHead {
  return { type, json: `${JSON.stringify({ type, ...place }).slice(0, -1)},"delta":` }
}

/** An output item that is being written. */
export interface ItemOutput {
  readonly id: string
  /** Its place among the output items. */
  readonly at: number
  readonly sink: EventSink
  /** The item is complete. */
  done(item: JsonObject): void
}

/** A part of an answer that is being written. */
export interface PartWriter {
  add(text: string): void
  end(): void
}
