import { HeaderBlock } from '@portico/http'
import { applyEdit, type InvalidHeader } from '../policy/header-edit.ts'
import type { CalloutFault } from '../callouts/callouts.ts'
import type { HeaderEdit, JsonObject } from '../context/request-context.ts'

/** What an authorizer said of one request, however it was asked. Without an answer, the failure mode decides. */
export type Decision = Allowed | Denied | InvalidHeader | CalloutFault

export interface Allowed {
  kind: 'allowed'
  /** Taken off before `headers` are set: names that only the authorizer may use. */
  cleared: readonly string[]
  headers: readonly HeaderEdit[]
  /** Taken off after `headers` are set, so that a name in both lists is gone. */
  removed: readonly string[]
  /** Parameters that it wants otherwise. */
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

export interface Denied {
  kind: 'denied'
  status: number
  headers: HeaderBlock
  body: Buffer
}

/** For a request that nobody has judged: headers that only the authorizer may set are not the client's to set. */
export function undecided(cleared: readonly string[]): Allowed {
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
export function editHeaders({ cleared, headers: edits, removed }: Allowed, headers: HeaderBlock): void {
  for (const name of cleared) headers.removeAlike(name)
  for (const edit of edits) applyEdit(edit, headers)
  for (const name of removed) headers.removeAlike(name)
}

/** A body that says nothing of itself is not for browsers to guess at. */
export function sayPlain(headers: HeaderBlock, body: Buffer): void {
  if (body.length > 0 && !headers.has('content-type')) headers.add('content-type', 'text/plain')
}

/** A refusal without words of its own. */
export const DENIED: Denied = {
  kind: 'denied',
  status: 403,
  headers: HeaderBlock.of([['content-type', 'text/plain']]),
  body: Buffer.from('external authorization failed'),
}
