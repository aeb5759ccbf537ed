import type { HeaderBlock } from '../../fields/header-block.ts'
import { literalField, statusField } from '../../http2/hpack/encode.ts'
import { fieldsBlock } from '../../http2/sent-fields.ts'

/** Encodes the head of a response or an interim response. `length` is announced unless it is negative. */
export function responseBlock(status: number, headers: HeaderBlock, length: number): string {
  let begin = statusBlocks.get(status)
  if (begin === undefined) {
    begin = statusField(status)
    // The cache is bounded, because a status has three digits.
    statusBlocks.set(status, begin)
  }
  const block = begin + fieldsBlock(headers)
  return length < 0 ? block : block + literalField('content-length', String(length))
}

const statusBlocks = new Map<number, string>()

/** Encodes the head of the response to an invalid request. */
export function refusalBlock(status: number, length: number): string {
  return (
    statusField(status) + literalField('content-type', 'text/plain') + literalField('content-length', String(length))
  )
}
