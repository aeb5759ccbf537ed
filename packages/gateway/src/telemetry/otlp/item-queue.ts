import type { WireBuffer } from './wire-buffer.ts'

/** The queue of items for a collector. */
export interface ItemQueue {
  /** Returns the buffer for the next item; discards an item that was begun but not added. */
  begin(): WireBuffer
  /** Adds the item that was written after `begin`. */
  added(): void
}
