import { type AdminRequest, openAdmin, readAll, refusal } from '../requests/ask-admin.ts'
import type { AdminAddress } from '../trace/admin-address.ts'

/** A request to the admin API. */
export interface AdminCall {
  readonly method: string
  readonly path: string
  readonly body: object | null
}

/** Sends a request about the store of keys to the admin API; returns the problem as a string. */
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

/** Statuses whose response body explains the problem to people, so the body alone is printed. */
const OWN_WORDS: ReadonlySet<number> = new Set([404, 409, 503])
const ANSWER_WITHIN_MS = 30_000
