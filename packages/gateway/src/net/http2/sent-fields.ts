import { isConnectionField } from '../field-rules.ts'
import type { HeaderBlock } from '../header-block.ts'
import { isTrailer } from './fields.ts'
import { literalField, nameOf, secretNameOf, valueOf } from './hpack/encode.ts'

/** The fields as a block that HTTP/2 may carry: names in lower case, nothing that belongs to one connection. */
export function fieldsBlock(headers: HeaderBlock): string {
  let block = ''
  headers.forEach((name, value) => {
    const begin = sentName(name)
    if (begin !== '') block += begin + valueOf(value)
  })
  return block
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
  const sent = isConnectionField(lower) ? '' : SECRETS.has(lower) ? secretNameOf(lower) : nameOf(lower)
  // A part of the received head as a key would keep all of it.
  if (sentNames.size < MAX_NAMES && name.length <= MAX_NAME)
    sentNames.set(Buffer.from(name, 'latin1').toString('latin1'), sent)
  return sent
}

const sentNames = new Map<string, string>()
/** Peers have few; whoever invents names gets no more memory than that. */
const MAX_NAMES = 512
const MAX_NAME = 64
const SECRETS = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie'])
