import { goToLogin, sessionProof } from './session.ts'

/** What the gateway said instead of an answer. Its text is shown as text. */
export class RefusedCall extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export interface CallOptions {
  method?: 'GET' | 'POST' | 'DELETE'
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal
}

/** One call of the admin API of the gateway that serves this page. */
export async function call(path: string, { method = 'GET', body, signal }: CallOptions = {}): Promise<Response> {
  const proof = sessionProof()
  const response = await fetch(path, {
    method,
    headers: {
      ...(method !== 'GET' && { 'x-portico-same-origin': '1' }),
      ...(proof !== null && { 'x-portico-session': proof }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  })
  if (response.status === 401) goToLogin()
  if (!response.ok) throw new RefusedCall(response.status, (await response.text()).trim().slice(0, 500))
  return response
}

/** The types of answers are the gateway's own, which is built from the same sources. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await call(path, signal === undefined ? {} : { signal })
  return (await response.json()) as T
}

export async function logOut(): Promise<void> {
  try {
    await call('/ui/session', { method: 'DELETE' })
  } finally {
    goToLogin()
  }
}
