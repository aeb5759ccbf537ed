import { createHash } from 'node:crypto'
import type { FormField, OpenApiBody } from '../../../formats/openapi/operation.ts'
import { isObject, type Json } from '@portico/http/json'
import { encodeInQuery, escape } from './encode-parameter.ts'
import { BadArgument, scalarText } from './parameter-text.ts'

export interface ApiBody {
  /** The media type, with the boundary of a multipart body. */
  contentType: string
  bytes: Buffer
}

/** Encodes the `body` argument of a call as the document describes it. */
export function encodeBody(body: OpenApiBody, value: Json): ApiBody | BadArgument {
  const { mediaType: contentType } = body
  switch (body.as) {
    case 'json':
      return { contentType, bytes: Buffer.from(JSON.stringify(value)) }
    case 'text': {
      if (typeof value !== 'string') return new BadArgument('`body` must be a string')
      return { contentType: `${contentType}; charset=utf-8`, bytes: Buffer.from(value) }
    }
    case 'base64': {
      const bytes = bytesOf(value)
      return bytes === null ? new BadArgument('`body` must be a base64 string') : { contentType, bytes }
    }
    case 'form':
      return encodeForm(body, value)
    case 'multipart':
      return encodeMultipart(body, value)
  }
}

function encodeForm(body: OpenApiBody, value: Json): ApiBody | BadArgument {
  const entries = fieldsOf(value)
  if (entries instanceof BadArgument) return entries
  const names = entries.map(([name]) => name)
  const parts: string[] = []
  for (const [name, item] of entries) {
    const { style, explode } = fieldOf(body, name)
    const encoded =
      style === null
        ? plainField(name, item)
        : encodeInQuery(
            { name, style, explode, keys: null },
            item,
            names.filter((other) => other !== name),
          )
    if (encoded instanceof BadArgument) return encoded
    parts.push(...encoded)
  }
  return { contentType: body.mediaType, bytes: Buffer.from(parts.join('&')) }
}

/** Encodes one form field: lists repeat the name, nested values are JSON (OpenAPI 3.1, Encoding Object). */
function plainField(name: string, value: Json): string[] {
  return valuesOf(value).map(({ text }) => `${escape(name)}=${escape(text.toWellFormed())}`)
}

function encodeMultipart(body: OpenApiBody, value: Json): ApiBody | BadArgument {
  const entries = fieldsOf(value)
  if (entries instanceof BadArgument) return entries
  const parts: Buffer[] = []
  for (const [name, item] of entries) {
    const encoded = encodeParts(name, item, fieldOf(body, name))
    if (encoded instanceof BadArgument) return encoded
    parts.push(...encoded)
  }
  // A hash of the content, so that the content cannot contain the boundary.
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  const boundary = `portico-${hash.digest('hex').slice(0, 40)}`
  const open = Buffer.from(`--${boundary}\r\n`)
  const bytes = [...parts.flatMap((part) => [open, part, CRLF]), Buffer.from(`--${boundary}--\r\n`)]
  return { contentType: `${body.mediaType}; boundary=${boundary}`, bytes: Buffer.concat(bytes) }
}

function encodeParts(name: string, value: Json, { mediaType, isFile }: FormField): Buffer[] | BadArgument {
  const quoted = quote(name)
  if (!isFile) {
    return valuesOf(value).map(({ text, isJson }) => {
      const type = mediaType ?? (isJson ? 'application/json' : null)
      const line = type === null ? '' : `Content-Type: ${type}\r\n`
      return Buffer.from(`Content-Disposition: form-data; name="${quoted}"\r\n${line}\r\n${text.toWellFormed()}`)
    })
  }
  const parts: Buffer[] = []
  for (const item of Array.isArray(value) ? value : [value]) {
    const bytes = bytesOf(item)
    if (bytes === null) return new BadArgument(`\`${name}\` in \`body\` is a file, and must be a base64 string`)
    const disposition = `Content-Disposition: form-data; name="${quoted}"; filename="${quoted}"`
    const type = `Content-Type: ${mediaType ?? 'application/octet-stream'}`
    parts.push(Buffer.concat([Buffer.from(`${disposition}\r\n${type}\r\n\r\n`), bytes]))
  }
  return parts
}

function fieldsOf(value: Json): [string, Json][] | BadArgument {
  if (!isObject(value) || JSON.isRawJSON(value))
    return new BadArgument('`body` must be an object with the fields of the form')
  return Object.entries(value).filter(([, item]) => item !== null)
}

function fieldOf({ fields }: OpenApiBody, name: string): FormField {
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined
  return own ?? { style: null, explode: false, mediaType: null, isFile: false }
}

/** Returns one text for each item of a list of plain values, or a single one. */
function valuesOf(value: Json): { text: string; isJson: boolean }[] {
  if (Array.isArray(value) && value.every((item) => scalarText(item) !== null)) return value.flatMap(valuesOf)
  const text = scalarText(value)
  return [{ text: text ?? JSON.stringify(value), isJson: text === null }]
}

/** Escapes a field name as web forms do (HTML, multipart/form-data encoding algorithm). */
function quote(name: string): string {
  return name.toWellFormed().replaceAll(/[\r\n"]/g, (found) => escape(found))
}

function bytesOf(value: Json): Buffer | null {
  if (typeof value !== 'string' || value.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(value)) return null
  return Buffer.from(value, 'base64')
}

const CRLF = Buffer.from('\r\n')
