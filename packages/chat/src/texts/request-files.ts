import { isUtf8 } from 'node:buffer'
import { isObject } from '@portico/http/json'
import { isTextType, mediaTypeOfName } from '../request/file-types.ts'
import {
  anything,
  object,
  plain,
  type Reading,
  type ReadingPosition,
  settings,
  text,
  unexamined,
} from './request-texts.ts'

/** Readings of files in a request: a text file is examined, whatever its encoding. */

const FILE = unexamined('File')

/** Base64 of a file with this media type. */
export function fileData(data: string, mediaType: string, at: ReadingPosition): string {
  if (isTextType(mediaType)) {
    const bytes = Buffer.from(data, 'base64')
    if (isUtf8(bytes)) {
      const before = bytes.toString('utf8')
      const after = at.visitor.text(before, { role: at.role, form: 'text' })
      return after === before ? data : Buffer.from(after).toString('base64')
    }
  }
  FILE(data, at)
  return data
}

/** The members of OpenAI's files; `file_data` is base64, or a `data:` URL. */
export const openAiFile: Reading = (value, at) => {
  const name = isObject(value) && typeof value.filename === 'string' ? value.filename : ''
  return object({
    type: settings,
    filename: text,
    file_data: (data, place) => (typeof data === 'string' ? dataOrUrl(data, name, place) : anything(data, place)),
    file_url: FILE,
    file_id: FILE,
    detail: settings,
    prompt_cache_breakpoint: settings,
    cache_control: settings,
  })(value, at)
}

function dataOrUrl(data: string, name: string, at: ReadingPosition): string {
  const [, head = '', parameters = '', body = ''] = /^data:([^;,]*)((?:;[^,]*)?),(.*)$/is.exec(data) ?? []
  if (body === '' && !/^data:/i.test(data)) return fileData(data, mediaTypeOfName(name), at)
  const mediaType = head === '' ? 'text/plain' : head
  if (!/;\s*base64\s*$/i.test(parameters)) return escapedData(data, mediaType, at)
  const after = fileData(body, mediaType, at)
  return after === body ? data : `data:${head}${parameters},${after}`
}

/** Text in a `data:` URL that is percent-encoded. */
function escapedData(data: string, mediaType: string, at: ReadingPosition): string {
  const comma = data.indexOf(',')
  try {
    const packed = Buffer.from(decodeURIComponent(data.slice(comma + 1))).toString('base64')
    const after = fileData(packed, mediaType, at)
    return after === packed ? data : `data:${mediaType};base64,${after}`
  } catch {
    FILE(data, at)
    return data
  }
}

/** The `source` of a document in Messages, by its `type`. */
export function documentSource(content: Reading): Reading {
  const base64: Reading = (value, at) => {
    const mediaType = isObject(value) && typeof value.media_type === 'string' ? value.media_type : ''
    const data: Reading = (each, place) =>
      typeof each === 'string' ? fileData(each, mediaType, place) : anything(each, place)
    return object({ type: settings, media_type: settings, data })(value, at)
  }
  const sources: Readonly<Record<string, Reading>> = {
    base64,
    text: object({ type: settings, media_type: settings, data: text }),
    content: object({ type: settings, content }),
    url: object({ type: settings, url: FILE }),
    file: object({ type: settings, file_id: FILE }),
  }
  return (value, at) => {
    const type = isObject(value) && typeof value.type === 'string' ? value.type : ''
    const reading = Object.hasOwn(sources, type) ? sources[type] : undefined
    if (reading !== undefined) return reading(value, at)
    at.visitor.unexamined('Unknown', at.path)
    return anything(value, at)
  }
}

/** The `source` of an image in Messages. */
export const imageSource: Reading = (value, at) => {
  at.visitor.unexamined('Image', at.path)
  return object({ type: settings, media_type: settings, data: plain, url: plain, file_id: plain })(value, at)
}
