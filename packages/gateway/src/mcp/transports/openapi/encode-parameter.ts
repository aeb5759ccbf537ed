import type { OpenApiParameter } from '../../../formats/openapi/operation.ts'
import type { Json } from '@portico/http/json'
import { isHeaderValue } from '@portico/http'
import { allOf, BadArgument, short, type Texts, textsOf, type ParameterStyle } from './parameter-text.ts'

// Encodes arguments by the rules of each location. Separators come from the document, never from an argument.

export function encodeInPath(parameter: OpenApiParameter, value: Json): string | BadArgument {
  const texts = textsOf(parameter, value)
  if (texts instanceof BadArgument) return texts
  if (allOf(texts).some((text) => LEAVES_SEGMENT.test(text))) {
    return new BadArgument(
      `\`${parameter.name}\` is part of a path, and must not contain \`/\`, \`\\\` or control characters`,
    )
  }
  const encoded = inSegment(parameter, texts)
  return encoded === '' ? new BadArgument(`\`${parameter.name}\` is part of a path, and must not be empty`) : encoded
}

function inSegment({ name, style, explode }: OpenApiParameter, texts: Texts): string {
  const plain = simple(texts, explode, escape)
  if (plain === '' || (style !== 'label' && style !== 'matrix')) return plain
  // `.a.b` and `;name=a;name=b`, and for objects the same of their members.
  const sign = style === 'label' ? '.' : ';'
  const start = style === 'label' ? '' : `${escape(name)}=`
  if (!explode || texts.kind === 'one') return `${sign}${start}${plain}`
  const parts =
    texts.kind === 'list'
      ? texts.texts.map((text) => `${start}${escape(text)}`)
      : texts.entries.map(([key, text]) => `${escape(key)}=${escape(text)}`)
  return parts.map((part) => `${sign}${part}`).join('')
}

/** Encodes a parameter of a query or form as parts to join with `&`; `others` are the names of the other parameters. */
export function encodeInQuery(
  parameter: ParameterStyle,
  value: Json,
  others: readonly string[],
): string[] | BadArgument {
  const texts = textsOf(parameter, value)
  if (texts instanceof BadArgument) return texts
  const { style, explode } = parameter
  const name = escape(parameter.name)
  if (texts.kind === 'one') return [`${name}=${escape(texts.text)}`]
  if (allOf(texts).length === 0) return []
  if (texts.kind === 'list') {
    const all = texts.texts.map(escape)
    return explode ? all.map((text) => `${name}=${text}`) : [`${name}=${all.join(separators[style] ?? ',')}`]
  }
  if (style === 'deepObject') {
    return texts.entries.map(([key, text]) => `${name}${escape(key)}=${escape(text)}`)
  }
  if (!explode) {
    const all = texts.entries.flat().map(escape)
    return [`${name}=${all.join(separators[style] ?? ',')}`]
  }
  const taken = texts.entries.find(([key]) => others.includes(key))
  if (taken !== undefined) {
    return new BadArgument(`\`${parameter.name}\` must not contain \`${short(taken[0])}\`, which is another parameter`)
  }
  return texts.entries.map(([key, text]) => `${escape(key)}=${escape(text)}`)
}

/** The separators of list styles, percent-encoded: a URL cannot contain a bare `|` or space. */
const separators: Partial<Record<OpenApiParameter['style'], string>> = { spaceDelimited: '%20', pipeDelimited: '%7C' }

export function encodeInHeader(parameter: OpenApiParameter, value: Json): string | BadArgument {
  const texts = textsOf(parameter, value)
  if (texts instanceof BadArgument) return texts
  const all = allOf(texts)
  if (!all.every(isHeaderValue)) {
    return new BadArgument(
      `\`${parameter.name}\` is a header, and must not contain line breaks or unprintable characters`,
    )
  }
  if (texts.kind !== 'one' && all.some((text) => /[,=]/.test(text))) {
    return new BadArgument(`\`${parameter.name}\` is a list in a header, whose items must not contain \`,\` or \`=\``)
  }
  return simple(texts, parameter.explode, (text) => text)
}

/** Encodes a cookie parameter as pairs. A list becomes a single pair, because servers read only one cookie of a name. */
export function encodeInCookie(
  parameter: OpenApiParameter,
  value: Json,
  others: readonly string[],
): string[] | BadArgument {
  const texts = textsOf(parameter, value)
  if (texts instanceof BadArgument) return texts
  if (texts.kind !== 'object' || !parameter.explode) {
    return [`${parameter.name}=${simple(texts, false, escape)}`]
  }
  const bad = texts.entries.find(([key]) => others.includes(key) || !/^[A-Za-z0-9!#$&'*+.^_`|~-]+$/.test(key))
  if (bad === undefined) return texts.entries.map(([key, text]) => `${key}=${escape(text)}`)
  return new BadArgument(
    `\`${parameter.name}\` must not contain \`${short(bad[0])}\`, which is another parameter or not a cookie name`,
  )
}

/** Percent-encodes every character with a meaning in URLs. */
export function escape(text: string): string {
  return encodeURIComponent(text).replaceAll(
    /[!'()*]/g,
    (found) => `%${found.charCodeAt(0).toString(16).toUpperCase()}`,
  )
}

function simple(texts: Texts, explode: boolean, encode: (text: string) => string): string {
  if (texts.kind === 'one') return encode(texts.text)
  if (texts.kind === 'list') return texts.texts.map(encode).join(',')
  return texts.entries.map(([key, text]) => `${encode(key)}${explode ? '=' : ','}${encode(text)}`).join(',')
}

const LEAVES_SEGMENT = /[/\\\x00-\x1f\x7f]/
