import { plainValue } from '../substitute.ts'
import type { Plain } from './plain-value.ts'
import type { Mark, PlainMarks } from './plain-yaml-marks.ts'

/** Fills variables into a scalar; undefined gives the whole text to the full parser. */
export type Fill = (text: string, plain: boolean) => Plain | undefined

interface Context {
  inFlow: boolean
  fill: Fill
  /** Collects the positions of members; null when nobody needs them. */
  marks: PlainMarks | null
  /** The number of the line, from 1. */
  line: number
}

type FlowValue = { value: Plain; end: number } | null

const simpleKey = /[A-Za-z_][A-Za-z0-9_.-]*/y

/** End of a key made of simple characters, or -1. */
export function scalarKey(line: string, start: number): number {
  simpleKey.lastIndex = start
  return simpleKey.test(line) ? simpleKey.lastIndex : -1
}

/** Reads a scalar or a flow collection that ends on its line; null for everything else. */
export function readFlow(line: string, start: number, context: Context): FlowValue {
  const first = line[start]
  if (first === '{') return readMapping(line, start, { ...context, inFlow: true })
  if (first === '[') return readList(line, start, { ...context, inFlow: true })
  if (first === '"') return readQuoted(line, start, /"([^"\\]*)"/y, context)
  if (first === "'") return readQuoted(line, start, /'([^']*)'(?!')/y, context)
  return readScalar(line, start, context)
}

function readMapping(line: string, start: number, context: Context): FlowValue {
  const result: Record<string, Plain> = {}
  let at = skip(line, start + 1)
  if (line[at] === '}') return { value: result, end: at + 1 }
  for (;;) {
    const key = readKey(line, at)
    if (key === null || line[key.end] !== ':' || line[key.end + 1] !== ' ') return null
    if (key.text in result) return null
    const begin = skip(line, key.end + 1)
    const found = readFlow(line, begin, context)
    if (found === null) return null
    result[key.text] = found.value
    context.marks?.add(result, key.text, { key: markOf(context, at), value: markOf(context, begin) })
    at = skip(line, found.end)
    if (line[at] === '}') return { value: result, end: at + 1 }
    if (line[at] !== ',') return null
    at = skip(line, at + 1)
  }
}

const quotedKey = /"([^"\\]{0,1000})"|'([^']{0,1000})'(?!')/y

/** Reads a key of a flow mapping; null for keys of other forms. */
function readKey(line: string, start: number): { text: string; end: number } | null {
  const end = scalarKey(line, start)
  if (end >= 0) return { text: line.slice(start, end), end }
  quotedKey.lastIndex = start
  const found = quotedKey.exec(line)
  return found === null ? null : { text: found[1] ?? found[2] ?? '', end: quotedKey.lastIndex }
}

function markOf({ line }: Context, index: number): Mark {
  return { line, column: index + 1 }
}

function readList(line: string, start: number, context: Context): FlowValue {
  const result: Plain[] = []
  let at = skip(line, start + 1)
  if (line[at] === ']') return { value: result, end: at + 1 }
  for (;;) {
    const found = readFlow(line, at, context)
    if (found === null) return null
    context.marks?.add(result, result.length, { key: null, value: markOf(context, at) })
    result.push(found.value)
    at = skip(line, found.end)
    if (line[at] === ']') return { value: result, end: at + 1 }
    if (line[at] !== ',') return null
    at = skip(line, at + 1)
  }
}

function readQuoted(line: string, start: number, form: RegExp, context: Context): FlowValue {
  form.lastIndex = start
  const [, text] = form.exec(line) ?? []
  if (text === undefined) return null
  // Behind a quote only the end of the value may follow; a colon would make it a key.
  const next = line[skip(line, form.lastIndex)]
  if (next !== undefined && next !== '#' && !(context.inFlow && (next === ',' || next === '}' || next === ']')))
    return null
  const value = text.includes('${') ? context.fill(text, false) : text
  return value === undefined ? null : { value, end: form.lastIndex }
}

const plainInBlock = /[A-Za-z0-9_/.$(^+~<=;\\-](?:(?!: | #|:$).)*/y
const plainInFlow = /[A-Za-z0-9_/.$(^+~<=;\\-](?:(?![,[\]{}]|: | #|:[,[\]{}]|:$).)*/y

function readScalar(line: string, start: number, context: Context): FlowValue {
  const form = context.inFlow ? plainInFlow : plainInBlock
  form.lastIndex = start
  const found = form.exec(line)
  if (found === null) return null
  const text = found[0].trimEnd()
  if (/^-( |$)|^[-+]?\.(inf|nan)$|^0[ox]|^[-+]0|^(---|\.\.\.)/i.test(text)) return null
  const end = start + text.length
  // A colon here would make the scalar a key.
  if (line[skip(line, end)] === ':') return null
  const value = text.includes('${') ? context.fill(text, true) : plainValue(text)
  return value === undefined ? null : { value, end }
}

function skip(line: string, start: number): number {
  let at = start
  while (line[at] === ' ') at++
  return at
}
