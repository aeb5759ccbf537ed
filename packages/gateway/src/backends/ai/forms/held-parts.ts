import { UnsupportedField } from '@portico/chat'
import type { PartHead } from '@portico/http/multipart'

/** A part that is held: a field with its text, or a file with what has arrived of it. */
export interface HeldPart {
  readonly head: PartHead
  readonly isFile: boolean
  readonly chunks: Buffer[]
  size: number
}

export interface FormFiles {
  /** -1 when unknown; while the form arrives, the length of the form. */
  readonly bytes: number
  readonly names: readonly string[]
}

/** The parts that a call needs before it begins. */
export interface HoldNeeds {
  /** Fields that decide about the call. */
  readonly fields: readonly string[]
  /** Whether all parts must be there. */
  readonly isWhole: boolean
}

/** Appends a piece of a held part. Small pieces are copied into one buffer, because an object for each would cost more. */
export function append({ chunks }: HeldPart, chunk: Buffer): void {
  const last = chunks.at(-1)
  if (last !== undefined && last.length + chunk.length <= SMALL_PIECE) {
    chunks[chunks.length - 1] = Buffer.concat([last, chunk])
  } else chunks.push(Buffer.from(chunk))
}

export function tooLong({ fields, isWhole }: HoldNeeds, limit: number): UnsupportedField {
  const [field = 'model'] = fields
  return isWhole
    ? new UnsupportedField('body', `is longer than ${limit} bytes, and has to be held: a policy reads all of it`)
    : new UnsupportedField(field, `comes after more than ${limit} bytes of a file: put it before the file in the form`)
}

const SMALL_PIECE = 4 * 1024
