import { isObject, type Json, type JsonObject } from '@portico/http/json'
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, type RpcMessage } from '../protocol.ts'
import type { RecordedTargetFailure, TargetFailureCause } from '../../records/mcp-record.ts'
import { recordedFailure, type TargetFailure } from '../transport.ts'
import { exactMember } from '../edit.ts'
import { type ListMethod, lists } from './item-methods.ts'

/** The JSON-RPC error of a merge that failed. */
export class MergeError {
  readonly code: number
  readonly message: string
  readonly data: Json | undefined
  /** The target that caused the error; empty when no single target did. */
  readonly target: string

  /** How that target failed; null when no single target caused the error. */
  readonly failure: RecordedTargetFailure | null

  constructor(target: string, code: number, message: string, { data, failure = null }: MergeErrorDetails = {}) {
    this.target = target
    this.code = code
    this.message = message
    this.data = data
    this.failure = failure
  }
}

interface MergeErrorDetails {
  data?: Json | undefined
  failure?: RecordedTargetFailure | null
}

/** Requests a page of a list from a target; `cursor` is null for the first page. */
export type FetchPage = (target: string, cursor: string | null) => Promise<RpcMessage | TargetFailure>

/** Returns all pages of one target's list. */
export async function gatherPages(
  method: ListMethod,
  target: string,
  fetch: FetchPage,
): Promise<JsonObject[] | MergeError> {
  const pages: JsonObject[] = []
  const seen = new Set<string>()
  let count = 0
  let cursor: string | null = null
  for (;;) {
    const answer: RpcMessage | TargetFailure = await fetch(target, cursor)
    const page = readAnswer(target, answer)
    if (page instanceof MergeError) return page
    pages.push(page)
    const items = page[lists[method].items]
    count += Array.isArray(items) ? items.length : 0
    const next = page.nextCursor
    if (typeof next !== 'string') return pages
    if (seen.has(next)) return trouble(target, `${method} repeats the cursor of a page`)
    if (pages.length >= MOST_PAGES) return trouble(target, `${method} has more than ${MOST_PAGES} pages`)
    if (count > MOST_ITEMS) return trouble(target, `${method} has more than ${MOST_ITEMS} items`)
    seen.add(next)
    cursor = next
  }
}

/** Returns the result of a response, with every number as it was written; an error names its target. */
export function readAnswer(target: string, answer: RpcMessage | TargetFailure): JsonObject | MergeError {
  if (!('kind' in answer)) return trouble(target, answer.message, recordedFailure(target, answer))
  const { error } = answer.value
  if (isObject(error)) {
    const code = typeof error.code === 'number' && Number.isInteger(error.code) ? error.code : INTERNAL_ERROR
    const message = typeof error.message === 'string' ? error.message : 'an error without a message'
    return new MergeError(target, code, `${target}: ${message}`, {
      data: error.data,
      failure: failureOf(target, 'error_response'),
    })
  }
  return exactMember(answer, 'result') ?? trouble(target, 'the result is not an object')
}

function trouble(target: string, message: string, failure = failureOf(target, 'invalid_response')): MergeError {
  return new MergeError(target, INTERNAL_ERROR, `${target}: ${message}`, { failure })
}

function failureOf(target: string, cause: TargetFailureCause): RecordedTargetFailure {
  return { target, cause, status: null }
}

/** Whether the target does not know the list method, and so has no items to add. */
export function hasNoSuchList({ code }: MergeError): boolean {
  return code === METHOD_NOT_FOUND
}

/** The error for any cursor: merged lists have a single page, so no cursor is valid. */
export const BAD_CURSOR = new MergeError('', INVALID_PARAMS, 'Invalid params: the cursor does not belong to this list')

const MOST_PAGES = 64
export const MOST_ITEMS = 10_000
