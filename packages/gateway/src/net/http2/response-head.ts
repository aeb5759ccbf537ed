import { isConnectionField } from '../field-rules.ts'
import type { HeaderBlock } from '../header-block.ts'
import { isTrailer } from './fields.ts'
import { literalField, statusField, valueOf, nameOf } from './hpack/encode.ts'

/** The block of a response, or of an interim answer. `length` is announced unless it is below 0. */
export function responseBlock(status: number, headers: HeaderBlock, length: number): string {
  let block = statusBlocks.get(status)
  if (block === undefined) {
    block = statusField(status)
    // Three digits: their number is bounded.
    statusBlocks.set(status, block)
  }
  headers.forEach((name, value) => {
    const begin = sentName(name)
    if (begin !== '') block += begin + valueOf(value)
  })
  return length < 0 ? block : block + literalField('content-length', String(length))
}

export function trailerBlock(trailers: HeaderBlock | null): string {
  let block = ''
  trailers?.forEach((name, value) => {
    const lower = name.toLowerCase()
    if (isTrailer(lower)) block += literalField(lower, value)
  })
  return block
}

/** The name as it begins a field; empty for one that HTTP/2 does not carry. */
function sentName(name: string): string {
  const known = sentNames.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const sent = isConnectionField(lower) ? '' : nameOf(lower)
  // A part of the received head as a key would keep all of it.
  if (sentNames.size < MAX_NAMES && name.length <= MAX_NAME)
    sentNames.set(Buffer.from(name, 'latin1').toString('latin1'), sent)
  return sent
}

const statusBlocks = new Map<number, string>()
const sentNames = new Map<string, string>()
/** Backends have few; whoever invents names gets no more memory than that. */
const MAX_NAMES = 512
const MAX_NAME = 64

/** The head of an answer to a request that was not understood. */
export function refusalBlock(status: number, length: number): string {
  return (
    statusField(status) + literalField('content-type', 'text/plain') + literalField('content-length', String(length))
  )
}
