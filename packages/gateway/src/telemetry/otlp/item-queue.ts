import type { WireBuffer } from './wire-buffer.ts'

/** Takes items that go to a collector, one after the other. */
export interface ItemQueue {
  /** Where the next item is to be written. One that was begun and not added is forgotten. */
  begin(): WireBuffer
  /** The item that was begun is whole. */
  added(): void
}
