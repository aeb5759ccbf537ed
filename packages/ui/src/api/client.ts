import { goToLogin, sessionProof } from './session.ts'

/** An error response of the admin API. Pages show its text as plain text. */
export class RefusedCall extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

interface CallOptions {
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Sent as JSON. */
  body?: unknown
  signal?: AbortSignal
}

/** `call` sends one request to the admin API of the gateway that serves this page. */
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

/** `getJson` trusts the type of the response: UI and gateway are built from the same sources. */
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
