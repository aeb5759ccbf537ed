import { overload } from '../declarations.ts'
import { CelError, noSuchOverload } from '../error.ts'
import { toText } from '../render.ts'
import { convertToString } from '../run/convert.ts'
import { entriesOf } from '../run/maps.ts'
import { exhausted, spend } from '../run/meter.ts'
import { isList, isMap, typeName } from '../run/type-of.ts'
import { decodeUtf8 } from '../run/utf8.ts'
import { bytes, listOf, map, mapOf, oneOf, string } from '../types.ts'
import type { Result, Value } from '../value.ts'
import { globalFunction } from './define.ts'

const decodedForm = mapOf(string, oneOf(string, listOf(string)))

export const urlFunctions = [
  globalFunction(
    'url.encode',
    overload([string], string),
    'Percent-encoded, all but letters, digits and -._~.',
    (text: Value): Result =>
      typeof text === 'string' ? percentEncode(text) : noSuchOverload(`url.encode(${typeName(text)})`),
  ),
  globalFunction('url.decode', overload([string], string), 'Percent-decoded.', (text: Value): Result => {
    if (typeof text !== 'string') return noSuchOverload(`url.decode(${typeName(text)})`)
    return percentDecode(text) ?? new CelError('bad_value', 'the text is not percent-encoded UTF-8')
  }),
  globalFunction(
    'form.encode',
    overload([map], string),
    'A map as a form (or query), keys sorted; a list gives its key several times.',
    encodeForm,
  ),
  globalFunction(
    'form.decode',
    overload([oneOf(string, bytes)], decodedForm),
    'A form (or query) as a map; a repeated key has a list.',
    decodeForm,
  ),
]

function percentEncode(text: string): Result {
  if (!spend(text.length >> 3)) return exhausted
  const encoded = encodeURIComponent(text.toWellFormed())
  return encoded.replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

function percentDecode(text: string): Result | undefined {
  if (!spend(text.length >> 3)) return exhausted
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

function encodeForm(form: Value): Result {
  if (!isMap(form)) return noSuchOverload(`form.encode(${typeName(form)})`)
  const pairs: [string, string][] = []
  for (const [key, value] of entriesOf(form)) {
    for (const item of isList(value) ? value : [value]) {
      const text = convertToString(item)
      if (text instanceof CelError) return text
      if (!spend(1 + (text.length >> 3))) return exhausted
      pairs.push([toText(key), text])
    }
  }
  // The sort is stable, so items of one list keep their order.
  pairs.sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return new URLSearchParams(pairs).toString()
}

function decodeForm(form: Value): Result {
  const text = form instanceof Uint8Array ? decodeUtf8(form) : form
  if (typeof text !== 'string') return noSuchOverload(`form.decode(${typeName(form)})`)
  if (!spend(text.length >> 3)) return exhausted
  const values = new Map<string, string[]>()
  for (const [key, value] of parseQuery(text)) {
    const known = values.get(key)
    if (known === undefined) values.set(key, [value])
    else known.push(value)
  }
  return new Map([...values].map(([key, all]) => [key, onlyOr(all)]))
}

function onlyOr(all: string[]): Value {
  const [first, second] = all
  return first !== undefined && second === undefined ? first : all
}

function parseQuery(text: string): [string, string][] {
  // URLSearchParams drops a leading question mark, which is data here.
  return [...new URLSearchParams(text.startsWith('?') ? `%3F${text.slice(1)}` : text)]
}
