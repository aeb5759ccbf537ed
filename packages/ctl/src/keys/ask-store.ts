import { type AdminRequest, openAdmin, readAll, refusal } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'

/** A call of the admin API. */
export interface AdminCall {
  readonly method: string
  readonly path: string
  readonly body: object | null
}

/** Calls the admin API about the store of keys; returns the problem as a text. */
export async function askStore<Answer>(
  { admin, token }: { readonly admin: AdminAddress; readonly token: string | null },
  call: AdminCall,
): Promise<Answer | string> {
  const asked: AdminRequest = { admin, token, ...call }
  const opened = await openAdmin(asked, ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return opened.problem
  const { response } = opened
  try {
    const text = await readAll(response)
    const { statusCode = 0 } = response
    if (statusCode === 200 || statusCode === 201) return JSON.parse(text) as Answer
    return OWN_WORDS.has(statusCode) ? `${admin.label}: ${text.trim()}` : refusal(asked, response, text)
  } catch {
    return `${admin.label} is not an admin server of Portico`
  }
}

/** Statuses whose text says everything. */
const OWN_WORDS: ReadonlySet<number> = new Set([404, 409, 503])
const ANSWER_WITHIN_MS = 30_000
