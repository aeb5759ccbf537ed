import { type Json, type JsonObject, UnsupportedField } from '@portico/chat'
import { hasLargeNumber, isObject, joinEdits, parseExactObject, spliceJson, textAt } from '@portico/http/json'
import type { EditedRequest } from '../../../llm/edits/request-edits.ts'
import type { Rejection } from '../../../llm/guards/guard.ts'
import type { RouteType } from '../../../llm/edits/schema.ts'
import { type JsonBody, readJsonBody } from '../client-request.ts'
import { masksOf } from '../jobs/edited-body.ts'
import type { LineCheck, LineOutcome } from './line-queue.ts'

/** A request of a batch. */
export interface BatchLine {
  readonly json: JsonBody
  /** The path of the model call, such as `/v1/chat/completions`. */
  readonly url: string
  readonly model: string
  readonly body: JsonObject
}

/** The types of model calls that a batch may contain. */
export type BatchCallType = 'Completions' | 'Responses' | 'Embeddings' | 'Moderations'

/** The reason why a file is refused. */
export type LineRefusal = UnsupportedField | Rejection

/** The rules that each request of a file must follow. */
interface LineRules {
  readonly first: Pick<BatchLine, 'url' | 'model'>
  /** Applies the edits of the provider's policy to the body of a request. */
  readonly edit: (body: JsonObject) => EditedRequest
  /** Checks the body of a request with the guards; null without guards. */
  readonly guard: ((body: JsonObject) => GuardOutcome | Promise<GuardOutcome>) | null
  /** Called with the body of each accepted request, before edits change the body. */
  readonly accepted: (body: JsonObject) => void
}

export type GuardOutcome = { readonly body: JsonObject } | { readonly refusal: LineRefusal }

/**
 * Returns the type of the model calls at a path; null when the config has no such calls, or a batch cannot contain
 * them.
 */
export function batchCallType(url: string, routeType: (path: string) => RouteType | null): BatchCallType | null {
  const type = routeType(url)
  return type !== null && CALL_TYPES.has(type) ? (type as BatchCallType) : null
}

const CALL_TYPES: ReadonlySet<RouteType> = new Set(['Completions', 'Responses', 'Embeddings', 'Moderations'])

/** Reads one line of a batch file; returns the refusal of a line that is no request. */
export function readBatchLine(bytes: Buffer, number: number): BatchLine | UnsupportedField {
  const json = readJsonBody(bytes)
  if (json instanceof UnsupportedField)
    return atLine(number, json.field === 'body' ? '' : `${json.field} `, json.message)
  const { custom_id: id, method, body } = json.value
  const url = textAt(json.value, 'url')
  if (typeof id !== 'string' || id === '') return atLine(number, '', 'needs a `custom_id`')
  if (method !== 'POST') return atLine(number, '', 'needs the `method` POST')
  if (url === undefined || !/^\/[\w/.-]{1,200}$/.test(url)) return atLine(number, '', 'needs the `url` of a call')
  if (!isObject(body)) return atLine(number, '', 'needs a `body`, an object')
  const model = textAt(body, 'model')
  if (model === undefined || model === '') return atLine(number, '', 'names no model in its `body`')
  return { json, url, model, body }
}

/** Returns the function that checks each line of a batch file. */
export function createLineCheck(rules: LineRules): LineCheck<LineRefusal> {
  const { first, edit, guard, accepted } = rules
  return (bytes, number) => {
    if (isBlank(bytes)) return { bytes }
    const line = readBatchLine(bytes, number)
    if (line instanceof UnsupportedField) return { refusal: line }
    if (line.url !== first.url) {
      return { refusal: atLine(number, '', `is for ${line.url}, and the first line for ${first.url}: use two files`) }
    }
    if (line.model !== first.model) {
      const models = `${JSON.stringify(shortened(line.model))}, and the first line ${JSON.stringify(shortened(first.model))}`
      return { refusal: atLine(number, '', `names the model ${models}: use a file for each model`) }
    }
    accepted(line.body)
    const edited = edit(exactBody(line))
    if (guard === null) return { bytes: written(line, edited, edited.body) }
    const guarded = guard(edited.body)
    const outcome = (found: GuardOutcome): LineOutcome<LineRefusal> => {
      if ('body' in found) return { bytes: written(line, edited, found.body) }
      const { refusal } = found
      if (refusal instanceof UnsupportedField) return { refusal: atLine(number, `${refusal.field} `, refusal.message) }
      return { refusal: { ...refusal, body: `line ${number}: ${refusal.body}` } }
    }
    return guarded instanceof Promise ? guarded.then(outcome) : outcome(guarded)
  }
}

/** Returns the line with the edited body. A line without edits keeps the client's bytes. */
function written({ json }: BatchLine, { edits, body: before }: EditedRequest, after: JsonObject): Buffer {
  if (joinEdits(edits, masksOf(before, after)).size === 0) return json.bytes
  const spliced = spliceJson(json, new Map<string, Json>([['body', after]]))
  // The splice may drop the line break at the end of the line.
  return spliced.at(-1) === LF ? spliced : Buffer.concat([spliced, LINE_BREAK])
}

/** Returns the body with the exact digits of numbers that a double cannot represent. */
function exactBody({ json, body }: BatchLine): JsonObject {
  const text = json.bytes.toString('utf8')
  const exact = hasLargeNumber(text) ? parseExactObject(text)?.body : undefined
  return isObject(exact) ? exact : body
}

export function isBlank(line: Buffer): boolean {
  return line.every((byte) => byte === LF || byte === 0x0d || byte === 0x20 || byte === 0x09)
}

function atLine(number: number, field: string, message: string): UnsupportedField {
  return new UnsupportedField('file', `line ${number} ${field}${message}`)
}

/** Shortens a text for a message, because clients choose the names of models. */
function shortened(text: string): string {
  return text.length > 64 ? `${text.slice(0, 64)}…` : text
}

const LF = 0x0a
const LINE_BREAK = Buffer.from('\n')
