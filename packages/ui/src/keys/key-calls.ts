import type { ChangedKeyView } from '@portico/gateway/admin-api'
import { call, RefusedCall } from '../api/client.ts'

/** A change of keys or teams. */
export interface ChangeCall {
  readonly method: 'POST' | 'PATCH' | 'DELETE'
  /** `keys/support-bot/rotate` */
  readonly path: string
  readonly body?: object
}

/** The outcome of a change: the new key if there is one, or the reason why nothing changed. */
export type ChangeOutcome =
  | { readonly kind: 'done'; readonly secret: string | null }
  | { readonly kind: 'refused'; readonly status: number; readonly text: string }

/** A new key must not stay in a cache of the page, so changes are no mutations of the query client. */
export async function changeKeys({ method, path, body }: ChangeCall): Promise<ChangeOutcome> {
  try {
    const response = await call(`/api/${path}`, { method, ...(body !== undefined && { body }) })
    const { secret = null } = (await response.json()) as Partial<ChangedKeyView>
    return { kind: 'done', secret }
  } catch (error) {
    if (error instanceof RefusedCall) return { kind: 'refused', status: error.status, text: error.message }
    const text = error instanceof Error ? error.message : String(error)
    return { kind: 'refused', status: 0, text: `The gateway does not respond: ${text}` }
  }
}
