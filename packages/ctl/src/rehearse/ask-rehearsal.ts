import type { RehearsalView } from '@portico/gateway/admin-api'
import { type AdminRequest, openAdmin, readAll, refusal } from '../requests/ask-admin.ts'

export interface RehearsalCall {
  readonly admin: AdminRequest['admin']
  readonly token: string | null
}

/** The response of a gateway about a rehearsal: its state, the reason of its end, or a problem. */
type RehearsalAnswer<View> =
  | { readonly kind: 'view'; readonly view: View }
  | { readonly kind: 'over'; readonly why: string }
  | { readonly kind: 'problem'; readonly problem: string }

/** Sends a request about rehearsals to the admin API. */
export async function askRehearsal<View = RehearsalView>(
  { admin, token }: RehearsalCall,
  action: 'start' | 'renew' | 'end',
  body: object,
): Promise<RehearsalAnswer<View>> {
  const asked: AdminRequest = { admin, token, path: `/api/rehearsal/${action}`, method: 'POST', body }
  const opened = await openAdmin(asked, action === 'renew' ? RENEWED_WITHIN_MS : ANSWER_WITHIN_MS)
  if (opened.kind === 'problem') return opened
  try {
    const text = await readAll(opened.response)
    const { statusCode = 0 } = opened.response
    if (statusCode === 200) return { kind: 'view', view: JSON.parse(text) as View }
    if (statusCode === 410) return { kind: 'over', why: text.trim() }
    const isOwn = SAID_BY_REHEARSALS.has(statusCode) && !text.startsWith('not found')
    return { kind: 'problem', problem: isOwn ? text.trim() : refusal(asked, opened.response, text) }
  } catch {
    return { kind: 'problem', problem: `${admin.label} is not an admin server of Portico` }
  }
}

const SAID_BY_REHEARSALS = new Set([404, 409, 503])
const RENEWED_WITHIN_MS = 2_000
const ANSWER_WITHIN_MS = 30_000
