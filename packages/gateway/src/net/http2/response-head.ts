import type { HeaderBlock } from '../header-block.ts'
import { literalField, statusField } from './hpack/encode.ts'
import { fieldsBlock } from './sent-fields.ts'

/** The block of a response, or of an interim answer. `length` is announced unless it is below 0. */
export function responseBlock(status: number, headers: HeaderBlock, length: number): string {
  let begin = statusBlocks.get(status)
  if (begin === undefined) {
    begin = statusField(status)
    // Three digits: their number is bounded.
    statusBlocks.set(status, begin)
  }
  const block = begin + fieldsBlock(headers)
  return length < 0 ? block : block + literalField('content-length', String(length))
}

const statusBlocks = new Map<number, string>()

/** The head of an answer to a request that was not understood. */
export function refusalBlock(status: number, length: number): string {
  return (
    statusField(status) + literalField('content-type', 'text/plain') + literalField('content-length', String(length))
  )
}
