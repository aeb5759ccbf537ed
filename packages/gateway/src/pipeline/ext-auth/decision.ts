import { HeaderBlock } from '@portico/http'
import { applyEdit, type InvalidHeader } from '../policy/header-edit.ts'
import type { CalloutFault } from '../callouts/callouts.ts'
import type { HeaderEdit, JsonObject } from '../context/request-context.ts'

/** The result of a check by HTTP or gRPC; after a `CalloutFault` the failure mode decides. */
export type Decision = AllowDecision | DenyDecision | InvalidHeader | CalloutFault

export interface AllowDecision {
  kind: 'allowed'
  /** Headers to remove before `headers` are set: names that only the authorizer may use. */
  cleared: readonly string[]
  headers: readonly HeaderEdit[]
  /** Headers to remove after `headers` are set, so a name in both lists is removed. */
  removed: readonly string[]
  /** Changes to query parameters. */
  query: QueryEdit
  responseHeaders: readonly HeaderEdit[]
  metadata: JsonObject
  /** The call of the external authorizer failed, and the request continues (FailOpen). */
  isUndecided?: true
}

export interface QueryEdit {
  set: readonly { key: string; value: string }[]
  removed: readonly string[]
}

export interface DenyDecision {
  kind: 'denied'
  status: number
  headers: HeaderBlock
  body: Buffer
}

/** Returns the verdict on a request whose check failed: headers that only the authorizer may set are removed. */
export function undecided(cleared: readonly string[]): AllowDecision {
  const query = { set: [], removed: [] }
  return {
    kind: 'allowed',
    cleared,
    headers: [],
    removed: [],
    query,
    responseHeaders: [],
    metadata: {},
    isUndecided: true,
  }
}

/** Changes the headers of a request that is allowed. */
export function editHeaders({ cleared, headers: edits, removed }: AllowDecision, headers: HeaderBlock): void {
  for (const name of cleared) headers.removeAlike(name)
  for (const edit of edits) applyEdit(edit, headers)
  for (const name of removed) headers.removeAlike(name)
}

/** Adds a plain content type to a body without one, so that browsers do not guess the type. */
export function sayPlain(headers: HeaderBlock, body: Buffer): void {
  if (body.length > 0 && !headers.has('content-type')) headers.add('content-type', 'text/plain')
}

/** A denial without headers or a body from the authorizer. */
export const DENIED: DenyDecision = {
  kind: 'denied',
  status: 403,
  headers: HeaderBlock.of([['content-type', 'text/plain']]),
  body: Buffer.from('external authorization failed'),
}
