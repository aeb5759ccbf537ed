import { isConnectionField } from '../fields/field-rules.ts'
import type { HeaderBlock } from '../fields/header-block.ts'
import { isTrailer } from './fields.ts'
import { literalField, nameOf, secretNameOf, valueOf } from './hpack/encode.ts'

/** Encodes the fields for HTTP/2: names in lower case, without connection-specific fields. */
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

/** Returns the encoded name of a field; empty for a field that HTTP/2 does not carry. */
function sentName(name: string): string {
  const known = sentNames.get(name)
  if (known !== undefined) return known
  const lower = name.toLowerCase()
  const sent = isConnectionField(lower) ? '' : SECRETS.has(lower) ? secretNameOf(lower) : nameOf(lower)
  // The name is copied, because a slice of the received head as a key would keep the whole head alive.
  if (sentNames.size < MAX_NAMES && name.length <= MAX_NAME)
    sentNames.set(Buffer.from(name, 'latin1').toString('latin1'), sent)
  return sent
}

const sentNames = new Map<string, string>()
/** Peers use few names; a peer that invents names gets no more memory than this. */
const MAX_NAMES = 512
const MAX_NAME = 64
const SECRETS = new Set(['authorization', 'cookie', 'proxy-authorization', 'set-cookie'])
