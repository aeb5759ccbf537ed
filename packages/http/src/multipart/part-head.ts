import { isUtf8 } from 'node:buffer'
import { readParameters } from './parameters.ts'

/** The header of one part. */
export interface PartHead {
  /** Visible ASCII characters without quotes, backslashes and percent signs, which servers decode in different ways. */
  readonly name: string
  /** Whether the part has a `filename` or a `filename*`. */
  readonly isFile: boolean
  /** Null when the part has none. */
  readonly contentType: string | null
  /** The length that the part announces; null when it announces none. */
  readonly contentLength: number | null
  /** All lines as received, with the empty line after them. */
  readonly bytes: Buffer
}

/** Parses the header of a part, which ends with an empty line. A string names the problem. */
export function parsePartHead(bytes: Buffer): PartHead | string {
  if (!isUtf8(bytes)) return 'a part has a header that is not UTF-8'
  const fields = readFields(bytes.toString('utf8', 0, bytes.length - EMPTY_LINE))
  if (typeof fields === 'string') return fields
  const disposition = fields.get('content-disposition')
  if (disposition === undefined) return 'a part has no content-disposition'
  const type = FORM_DATA.exec(disposition)
  if (type === null) return 'a part has a content-disposition other than form-data'
  const parameters = readParameters(disposition, type[0].length)
  if (typeof parameters === 'string') return `a part has a content-disposition that ${parameters}`
  for (const each of parameters.keys()) {
    if (!PARAMETERS.has(each)) return 'a part has a content-disposition with an unknown parameter'
  }
  const name = parameters.get('name')
  if (name === undefined) return 'a part has no name'
  if (!NAME.test(name)) return 'a part has a name with characters that are not allowed'
  const contentType = fields.get('content-type') ?? null
  if (contentType !== null && /^multipart\//i.test(contentType)) return `the part ${name} is multipart itself`
  const encoding = fields.get('content-transfer-encoding') ?? 'binary'
  if (!/^(?:7bit|8bit|binary)$/i.test(encoding)) return `the part ${name} has a transfer encoding`
  const length = fields.get('content-length')
  if (length !== undefined && !/^\d{1,15}$/.test(length)) return `the part ${name} has an invalid length`
  return {
    name,
    isFile: parameters.has('filename') || parameters.has('filename*'),
    contentType,
    contentLength: length === undefined ? null : Number(length),
    bytes,
  }
}

function readFields(text: string): ReadonlyMap<string, string> | string {
  const fields = new Map<string, string>()
  for (const line of text.split('\r\n')) {
    if (/^[ \t]/.test(line)) return 'a part has a folded header line'
    const found = FIELD.exec(line)
    if (found === null) return 'a part has a malformed header line'
    const [, given = '', value = ''] = found
    const name = given.toLowerCase()
    if (fields.has(name)) return `a part has the header ${name} twice`
    fields.set(name, value)
  }
  return fields
}

const EMPTY_LINE = 4
const FIELD = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*((?:[^\0-\x08\x0a-\x1f\x7f]*[^\0-\x20\x7f])?)[ \t]*$/
const FORM_DATA = /^form-data(?=[ \t]*(?:;|$))/i
const PARAMETERS: ReadonlySet<string> = new Set(['name', 'filename', 'filename*'])
const NAME = /^[\x21\x23\x24\x26-\x5b\x5d-\x7e]{1,256}$/
