import type { Json, MemberEdits } from '@portico/http/json'
import { parameterValues, targetPath, targetQuery } from '../../formats/query-parameters.ts'
import type { Failure } from '../../pipeline/context/failure.ts'
import { JsonBody } from './client-request.ts'

/**
 * Requests to Google's API name the model and whether to stream in the path. The gateway adds both to the value of the
 * body, as `model` and `stream`, where policies, records and guards look for them. They are never sent in the body.
 */

/** Edits that remove from a body what stands in the path. */
export const PATH_MEMBERS: MemberEdits = new Map([
  ['model', undefined],
  ['stream', undefined],
])

/** The body with the members of the path, or why the request cannot be served. */
export function withPathMembers(body: JsonBody, target: string): JsonBody | Failure {
  const path = targetPath(target)
  const model = modelOfPath(path)
  if (model === null) return invalid('the path names no model')
  const isStream = path.endsWith(':streamGenerateContent')
  const alt = unknownForm(target)
  if (alt !== null) return invalid(`found \`alt=${alt}\`, expected \`json\` or \`sse\``)
  const { model: named, stream } = body.value
  if (stream !== undefined) return invalid('`stream` is unknown in the body: use the path of streamGenerateContent')
  if (named !== undefined && !isNameOf(named, model)) return invalid('`model` of the body is not the model of the path')
  return new JsonBody(body.bytes, { ...body.value, model, ...(isStream && { stream: true }) })
}

/** Whether a name in a body is that of the model in the path: a resource name, or its last part. */
export function isNameOf(named: Json, model: Json | undefined): boolean {
  return typeof named === 'string' && (named === model || RESOURCE.exec(named)?.[1] === model)
}

/** The model of a path such as `/v1beta/models/gemini-2.5-pro:generateContent`; models of other vendors may have slashes. */
function modelOfPath(path: string): string | null {
  const [, collection, encoded = ''] = MODEL.exec(path) ?? []
  const name = decoded(encoded)
  if (name === null || UNFIT.test(name)) return null
  return collection === 'tunedModels' ? `tunedModels/${name}` : name
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}

/** Whether a client asks for a stream as one JSON list, which Google's API sends unless the request asks for events. */
export function asksForList(target: string): boolean {
  return !formsOf(target).includes('sse')
}

/** Returns the first requested response format that the gateway cannot write; null when it can write all of them. */
function unknownForm(target: string): string | null {
  return formsOf(target).find((form) => form !== 'sse' && form !== 'json') ?? null
}

/** Returns the response formats in the query (`alt`), without options, as in `json;enum-encoding=int`. */
function formsOf(target: string): string[] {
  const query = targetQuery(target)
  return [...parameterValues(query, 'alt'), ...parameterValues(query, '$alt')].map((form) =>
    form.slice(0, LONGEST_FORM).replace(/;.*$/s, ''),
  )
}

function invalid(why: string): Failure {
  const message = `failed to process LLM request: ${why}`
  return { status: 400, message, reason: 'InvalidRequest', code: 'unreadable_request' }
}

const LONGEST_FORM = 64
const MODEL = /^.*?\/(models|tunedModels)\/(.+):[A-Za-z]+$/
const RESOURCE = /(?:^|\/)models\/(.+)$/
/** Nothing, control characters, and segments that servers resolve. */
const UNFIT = /^$|[\0-\x1f\x7f]|(?:^|[/\\])\.{1,2}(?:[/\\]|$)/
