import { isObject, type Json, type JsonObject } from '@portico/http/json'
import { INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, type RpcMessage } from '../message.ts'
import type { TargetFailure } from '../transport.ts'
import { exactMember } from '../edit-exactly.ts'
import { type ListMethod, lists } from './list-page.ts'

/** Why something could not be put together, as a JSON-RPC error says it. */
export class MergeError {
  readonly code: number
  readonly message: string
  readonly data: Json | undefined
  /** Whose fault it is; empty when it is nobody's alone. */
  readonly target: string

  constructor(target: string, code: number, message: string, data?: Json) {
    this.target = target
    this.code = code
    this.message = message
    this.data = data
  }
}

/** Asks a target for a page; `cursor` is null for the first one. */
export type FetchPage = (target: string, cursor: string | null) => Promise<RpcMessage | TargetFailure>

/** All pages of one target's list, or why they could not be had. */
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

/** The result of an answer, with every number as it was written; an error says whose it is. */
export function readAnswer(target: string, answer: RpcMessage | TargetFailure): JsonObject | MergeError {
  if (!('kind' in answer)) return trouble(target, answer.message)
  const { error } = answer.value
  if (isObject(error)) {
    const code = typeof error.code === 'number' && Number.isInteger(error.code) ? error.code : INTERNAL_ERROR
    const message = typeof error.message === 'string' ? error.message : 'an error without a message'
    return new MergeError(target, code, `${target}: ${message}`, error.data)
  }
  return exactMember(answer, 'result') ?? trouble(target, 'the result is no object')
}

function trouble(target: string, message: string): MergeError {
  return new MergeError(target, INTERNAL_ERROR, `${target}: ${message}`)
}

/** The target does not know such lists, and has nothing to add. */
export function hasNoSuchList({ code }: MergeError): boolean {
  return code === METHOD_NOT_FOUND
}

/** Merged lists come whole, so no cursor was ever given out for one. */
export const BAD_CURSOR = new MergeError('', INVALID_PARAMS, 'Invalid params: the cursor is not one of this list')

const MOST_PAGES = 64
export const MOST_ITEMS = 10_000
